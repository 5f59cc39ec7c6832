package billing

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

type refundArgs struct {
	ChargeID string `json:"charge_id"`
	By       string `json:"author,omitempty"`
}

type reconcileArgs struct {
	At int64 `json:"at"` // fire time
}

type lapseArgs struct {
	At int64 `json:"at"` // fire time
}

// endArgs ends the renewal of a subscription whose place another one took.
type endArgs struct {
	PersonID int64  `json:"person_id"`
	ChargeID string `json:"charge_id"`
	Provider string `json:"provider"`
}

func (s *Service) kinds() {
	s.end = queue.Kind[endArgs]{
		Name: "end_renewal", Tier: queue.Default,
		Key: func(a endArgs) string { return a.ChargeID },
		Work: func(ctx context.Context, job *queue.Job[endArgs]) error {
			return s.endRenewal(ctx, job.Args.PersonID, subscription{charge: job.Args.ChargeID, provider: job.Args.Provider})
		},
	}
	s.refund = queue.Kind[refundArgs]{
		Name: "refund", Tier: queue.Critical, Policy: queue.Ledger, Class: queue.Strict,
		Key:     func(a refundArgs) string { return a.ChargeID },
		Work:    s.workRefund,
		Settled: s.refundSettled,
	}
	s.reconcile = queue.Kind[reconcileArgs]{
		Name: "reconcile_payments", Tier: queue.Bulk, KeepKeys: 72 * time.Hour,
		Key:  func(a reconcileArgs) string { return strconv.FormatInt(a.At, 10) },
		Work: s.workReconcile,
	}
	s.lapse = queue.Kind[lapseArgs]{
		Name: "lapse_plans", Tier: queue.Bulk, KeepKeys: 72 * time.Hour,
		Key:  func(a lapseArgs) string { return strconv.FormatInt(a.At, 10) },
		Work: s.workLapse,
	}
}

// Register adds the jobs and schedules of this package; nothing where nothing is sold.
func (s *Service) Register(r *queue.Registry) {
	if !s.Enabled() {
		return
	}
	queue.Register(r, s.refund)
	queue.Register(r, s.reconcile)
	queue.Register(r, s.lapse)
	queue.Register(r, s.end)
	queue.Schedule(r, "reconcile_payments", queue.Every(time.Hour), queue.CatchUpLast, s.reconcile,
		func(at time.Time) reconcileArgs { return reconcileArgs{At: at.Unix()} })
	queue.Schedule(r, "lapse_plans", queue.Every(10*time.Minute), queue.CatchUpLast, s.lapse,
		func(at time.Time) lapseArgs { return lapseArgs{At: at.Unix()} })
}

// LookNowTx asks for the hourly reconciliation, and the end of what nobody paid
// on, at once. At most one such look is begun a second.
func (s *Service) LookNowTx(ctx context.Context, tx pgx.Tx) error {
	at := s.cfg.Now().Unix()
	if _, err := s.reconcile.EnqueueTx(ctx, tx, reconcileArgs{At: at}); err != nil {
		return err
	}
	_, err := s.lapse.EnqueueTx(ctx, tx, lapseArgs{At: at})
	return err
}
