package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/app/config"
	"github.com/postonce/postonce/internal/billing"
	"github.com/postonce/postonce/internal/postgres"
)

// Books balances every movement of money and lists what does not match.
func Books(ctx context.Context, cfg config.Config) ([]billing.Balance, []billing.Finding, error) {
	db, err := attachCurrent(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	defer db.Close()
	return billing.Report(ctx, db.Pool)
}

// withShop runs what an operator does about money in one transaction.
func withShop(ctx context.Context, cfg config.Config, do func(ctx context.Context, tx pgx.Tx, b *billing.Service) error) error {
	db, err := attachCurrent(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	p, err := operatorParts(cfg, db, Process{Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	if !p.billing.Enabled() {
		return &config.Error{Variable: "BILLING", Problem: "is off: nothing is sold here; set it as the bot has it"}
	}
	return postgres.InTx(ctx, db.Pool, func(tx pgx.Tx) error { return do(ctx, tx, p.billing) })
}

func noPayment(chargeID string) error {
	return fmt.Errorf("there is no payment with the charge id %s", chargeID)
}

// Refund asks for a charge to be given back: the running program does it, once.
// False: that was asked for before.
func Refund(ctx context.Context, cfg config.Config, chargeID, by string) (fresh bool, err error) {
	err = withShop(ctx, cfg, func(ctx context.Context, tx pgx.Tx, b *billing.Service) error {
		asked, err := b.RefundTx(ctx, tx, chargeID, by)
		fresh = asked.Fresh
		return err
	})
	switch {
	case errors.Is(err, billing.ErrNoPayment):
		err = noPayment(chargeID)
	case errors.Is(err, billing.ErrByHand):
		err = fmt.Errorf("a payment by card is given back in the payment provider's own dashboard; then book it with `postonce billing refunded %s`", chargeID)
	case errors.Is(err, billing.ErrRefunded):
		return false, nil // done is done
	}
	return fresh, err
}

// BookRefund records a refund that an operator made at the payment provider;
// false: it was recorded before.
func BookRefund(ctx context.Context, cfg config.Config, chargeID, by string) (fresh bool, err error) {
	err = withShop(ctx, cfg, func(ctx context.Context, tx pgx.Tx, b *billing.Service) error {
		fresh, err = b.Booked(ctx, tx, chargeID, by)
		return err
	})
	switch {
	case errors.Is(err, billing.ErrNoPayment):
		err = noPayment(chargeID)
	case errors.Is(err, billing.ErrNotByHand):
		err = fmt.Errorf("the bot gives Stars back itself: use `postonce refund %s`", chargeID)
	}
	return fresh, err
}

// LookAtPayments asks the running program for the hourly reconciliation now.
func LookAtPayments(ctx context.Context, cfg config.Config) error {
	return withShop(ctx, cfg, func(ctx context.Context, tx pgx.Tx, b *billing.Service) error { return b.LookNowTx(ctx, tx) })
}

// SettleFinding closes a finding in somebody's name; the first decision stands.
func SettleFinding(ctx context.Context, cfg config.Config, id int64, by, note string) (billing.Settled, error) {
	db, err := attachCurrent(ctx, cfg)
	if err != nil {
		return billing.Settled{}, err
	}
	defer db.Close()
	var out billing.Settled
	err = postgres.InTx(ctx, db.Pool, func(tx pgx.Tx) (err error) {
		out, err = billing.Settle(ctx, tx, id, by, note)
		return err
	})
	if errors.Is(err, billing.ErrNoFinding) {
		err = fmt.Errorf("there is no finding %d: `postonce billing findings` lists those that wait", id)
	}
	return out, err
}

// PaymentsOf lists what a person paid, the newest first.
func PaymentsOf(ctx context.Context, cfg config.Config, personID int64) ([]billing.Receipt, error) {
	db, err := attachCurrent(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return billing.Receipts(ctx, db.Pool, personID, 100)
}
