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
	// Providers by name; the first is the one that Checkout uses.
	Providers []Provider
	// OnChanged hears that a person's plan is another one now: what exceeds it
	// rests, what fits again wakes.
	OnChanged func(ctx context.Context, tx pgx.Tx, personID int64, plan Plan) error
	// Notify tells the person what happened: paid, renewed, ends, ended, refunded.
	Notify func(ctx context.Context, tx pgx.Tx, personID int64, event string, plan Plan, until time.Time) error
}

// Service is the one writer of this package's tables; safe for concurrent use.
type Service struct {
	cfg       Config
	refund    queue.Kind[refundArgs]
	reconcile queue.Kind[reconcileArgs]
	lapse     queue.Kind[lapseArgs]
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

func (s *Service) changed(ctx context.Context, tx pgx.Tx, personID int64, plan Plan) error {
	if s.cfg.OnChanged == nil {
		return nil
	}
	return s.cfg.OnChanged(ctx, tx, personID, plan)
}

func (s *Service) notify(ctx context.Context, tx pgx.Tx, personID int64, event string, plan Plan, until time.Time) error {
	if s.cfg.Notify == nil {
		return nil
	}
	return s.cfg.Notify(ctx, tx, personID, event, plan, until)
}
