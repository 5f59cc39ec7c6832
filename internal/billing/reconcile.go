package billing

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
)

const chargesPage = 100

// workReconcile reads each provider's own list and records what was missed.
func (s *Service) workReconcile(ctx context.Context, job *queue.Job[reconcileArgs]) error {
	for _, p := range s.cfg.Providers {
		if _, err := s.Reconcile(ctx, p); err != nil {
			return fmt.Errorf("reconcile %s: %w", p.Name(), err)
		}
	}
	return nil
}

// Reconciled counts what one reading of a provider's list brought.
type Reconciled struct{ Seen, Credited, Refunded, Findings int }

// Reconcile reads a provider's list from its beginning, inserts the charges
// and refunds that no update told of, and notes what does not match. Reading
// all of it again is harmless: each charge is a key.
func (s *Service) Reconcile(ctx context.Context, p Provider) (Reconciled, error) {
	var sum Reconciled
	for offset := 0; ; offset += chargesPage {
		page, more, err := p.Charges(ctx, offset, chargesPage)
		if err != nil {
			return sum, err
		}
		err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
			for _, c := range page {
				if err := s.reconcileCharge(ctx, tx, p, c, &sum); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || !more {
			return sum, err
		}
	}
}

func (s *Service) reconcileCharge(ctx context.Context, tx pgx.Tx, p Provider, c Charge, sum *Reconciled) error {
	sum.Seen++
	known, err := readPayment(ctx, tx, c.ID)
	switch {
	case err == nil && known.amount != c.Amount:
		sum.Findings++
		_, err = tx.Exec(ctx, findingInsertSQL, c.ID, "amount_differs", fmt.Sprintf("ours %d, theirs %d", known.amount, c.Amount))
		return err
	case err == nil && c.Refund:
		changed, err := s.refunded(ctx, tx, c.ID, 0)
		if changed {
			sum.Refunded++
		}
		return err
	case err == nil:
		return nil
	case !errors.Is(err, ErrNoPayment):
		return err
	case c.Refund:
		sum.Findings++
		_, err := tx.Exec(ctx, findingInsertSQL, c.ID, "refund_unknown", fmt.Sprintf("%d to person %d", c.Amount, c.PersonID))
		return err
	}
	credited, err := s.Credit(ctx, tx, Payment{
		ChargeID: c.ID, PersonID: c.PersonID, Payload: c.Payload, Currency: p.Currency(), Amount: c.Amount,
		PaidAt: c.At, Source: "reconciled",
	})
	if credited {
		sum.Credited++
	} else {
		sum.Findings++
	}
	return err
}
