// Package billing sells plans and counts what they allow. A payment is credited
// once, by the unique id of its charge, however often and in whatever order
// Telegram tells of it; a refund goes through the queue's effect ledger; quotas
// are counted in the transaction that uses them.
//
// Its tables: accounts, invoices, payments, movements, quotas,
// payment_findings. Nobody else writes them. Money is integers with a currency,
// and movements are appended, never changed.
//
// It must never credit from anything but a payment that the provider reports,
// never delete what exceeds a plan, and never check a quota apart from using it.
package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/queue"
)

// Errors that somebody branches on.
var (
	// ErrOff means that nothing is sold here (BILLING=off).
	ErrOff = errors.New("billing: nothing is sold here")
	// ErrNoPlan means that there is no plan of this id on sale.
	ErrNoPlan = errors.New("billing: no such plan")
	// ErrNoPayment means that there is no payment with this charge id.
	ErrNoPayment = errors.New("billing: no such payment")
	// ErrNoList means that a provider has no list of its charges to read.
	ErrNoList = errors.New("billing: this provider lists no charges")
	// ErrRefunded means that the charge was given back before.
	ErrRefunded = errors.New("billing: this payment was given back before")
	// ErrNotByHand means that the provider gives the charge back when asked.
	ErrNotByHand = errors.New("billing: this provider gives payments back when asked")
	// ErrNotSubscribed means that there is no renewal to end.
	ErrNotSubscribed = errors.New("billing: no renewing subscription")
)

// LimitError means that the person's plan does not reach that far.
type LimitError struct {
	Meter string
	Used  int64
	Limit int64
}

func (e *LimitError) Error() string { return "billing: the plan's limit of " + e.Meter + " is reached" }

// Config is what a Service needs. The functions belong to other features and
// run in the transaction that changes an account; nil does nothing.
type Config struct {
	Pool   *pgxpool.Pool
	Plans  Catalogue // the zero Catalogue sells nothing and limits nothing
	Now    func() time.Time
	Logger zerolog.Logger
	// Providers take payments: Checkout uses the first, the others give back and
	// list what was sold through them before.
	Providers []Provider
	// OnChanged hears that a person's plan is another one now: what exceeds it
	// rests, what fits again wakes.
	OnChanged func(ctx context.Context, tx pgx.Tx, personID int64, plan Plan) error
	// Notify tells a person what happened; it is called once for each Event.Key.
	Notify func(ctx context.Context, tx pgx.Tx, e Event) error
	// OnFinding hears once of each thing that does not match, for the operators.
	OnFinding func(ctx context.Context, tx pgx.Tx, f Finding) error
}

// Event is what a person hears of his plan.
type Event struct {
	Key      string // names the occasion for ever, such as "paid:<charge>"
	PersonID int64
	Code     string // trial, paid, renewed, renews, ends, renewal_failed, ended, refunded
	Plan     Plan
	Until    time.Time
}

// Service is the one writer of this package's tables; safe for concurrent use.
type Service struct {
	cfg       Config
	refund    queue.Kind[refundArgs]
	reconcile queue.Kind[reconcileArgs]
	lapse     queue.Kind[lapseArgs]
	end       queue.Kind[endArgs]
}

// New returns a Service. Register adds its kinds to a registry.
func New(cfg Config) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{cfg: cfg}
	s.kinds()
	return s
}

// Enabled reports whether plans are sold here.
func (s *Service) Enabled() bool { return len(s.cfg.Plans.Plans) > 0 && len(s.cfg.Providers) > 0 }

// lockPersonSQL makes everything that changes a person's plan, or counts what he
// owns against it, wait in line. It is taken before any row of accounts.
const lockPersonSQL = `SELECT pg_advisory_xact_lock(hashtextextended('billing:' || $1::bigint::text, 0))`

func lockPerson(ctx context.Context, tx pgx.Tx, personID int64) error {
	if _, err := tx.Exec(ctx, lockPersonSQL, personID); err != nil {
		return fmt.Errorf("lock the account of %d: %w", personID, err)
	}
	return nil
}

// Lock makes whatever changes what a person pays for wait in line, until the
// caller's transaction ends. It has to be taken before any row of it is changed.
func (s *Service) Lock(ctx context.Context, tx pgx.Tx, personID int64) error {
	if !s.Enabled() {
		return nil
	}
	return lockPerson(ctx, tx, personID)
}

// Refit lets rest and wakes what a person owns by the plan that he has now, in
// the caller's transaction: for whoever changed what he owns.
func (s *Service) Refit(ctx context.Context, tx pgx.Tx, personID int64) error {
	if !s.Enabled() || s.cfg.OnChanged == nil {
		return nil
	}
	if err := lockPerson(ctx, tx, personID); err != nil {
		return err
	}
	st, err := s.StandingOf(ctx, tx, personID)
	if err != nil {
		return err
	}
	return s.cfg.OnChanged(ctx, tx, personID, st.Plan)
}

func (s *Service) notify(ctx context.Context, tx pgx.Tx, e Event) error {
	if s.cfg.Notify == nil {
		return nil
	}
	return s.cfg.Notify(ctx, tx, e)
}
