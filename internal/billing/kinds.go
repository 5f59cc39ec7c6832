package billing

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
)

type refundArgs struct {
	ChargeID string `json:"charge_id"`
	By       int64  `json:"by"`
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
		Key:  func(a refundArgs) string { return a.ChargeID },
		Work: s.workRefund,
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

const paymentSQL = `
SELECT provider,
       person_id,
       plan,
       amount,
       currency,
       refunded_at IS NOT NULL
  FROM payments
 WHERE charge_id = $1`

type paid struct {
	provider, plan, currency string
	personID, amount         int64
	refunded                 bool
}

func readPayment(ctx context.Context, q postgres.Querier, chargeID string) (paid, error) {
	var p paid
	err := q.QueryRow(ctx, paymentSQL, chargeID).Scan(&p.provider, &p.personID, &p.plan, &p.amount, &p.currency, &p.refunded)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, ErrNoPayment
	}
	return p, err
}

// RefundTx asks for a refund in the caller's transaction and returns the job.
func (s *Service) RefundTx(ctx context.Context, tx pgx.Tx, chargeID string, by int64) (queue.Submission, error) {
	if _, err := readPayment(ctx, tx, chargeID); err != nil {
		return queue.Submission{}, err
	}
	return s.refund.EnqueueTx(ctx, tx, refundArgs{ChargeID: chargeID, By: by})
}

// workRefund gives a charge back, once: the effect's key is the charge.
func (s *Service) workRefund(ctx context.Context, job *queue.Job[refundArgs]) error {
	p, err := readPayment(ctx, s.cfg.Pool, job.Args.ChargeID)
	if err != nil {
		return queue.Permanent(err)
	}
	provider, err := s.provider(p.provider)
	if err != nil {
		return queue.Permanent(err)
	}
	_, err = job.Perform(ctx, queue.Effect{
		Key:     "refund:" + job.Args.ChargeID,
		Request: []byte(job.Args.ChargeID + " " + strconv.FormatInt(p.amount, 10)),
		Call: func(ctx context.Context) queue.Outcome {
			return provider.Refund(ctx, p.personID, job.Args.ChargeID)
		},
		After: func(ctx context.Context, tx pgx.Tx, o queue.Outcome) error {
			if _, ok := o.(queue.Confirmed); !ok {
				return nil
			}
			_, err := s.refunded(ctx, tx, job.Args.ChargeID, job.Args.By)
			return err
		},
		Completes: true,
	})
	return err
}

const paymentRefundSQL = `
UPDATE payments
   SET refunded_at = clock_timestamp(),
       refunded_by = nullif($2::bigint, 0)
 WHERE charge_id = $1
   AND refunded_at IS NULL
RETURNING person_id, plan, amount, currency`

// accountRefundSQL ends what the charge had bought: the newest charge that was
// not given back counts.
const accountRefundSQL = `
UPDATE accounts a
   SET plan = coalesce(p.plan, CASE WHEN a.trial_until > clock_timestamp() THEN $2 END, 'free'),
       paid_until = p.paid_until,
       charge_id = coalesce(p.charge_id, ''),
       renews = a.renews AND p.charge_id IS NOT NULL,
       updated_at = clock_timestamp()
  FROM (SELECT 1) one
  LEFT JOIN LATERAL (
       SELECT plan, paid_until, charge_id
         FROM payments
        WHERE person_id = $1
          AND refunded_at IS NULL
        ORDER BY paid_until DESC
        LIMIT 1) p ON true
 WHERE a.person_id = $1
RETURNING coalesce(a.paid_until, clock_timestamp())`

// refunded records a refund, whoever made it; false when it was known.
func (s *Service) refunded(ctx context.Context, tx pgx.Tx, chargeID string, by int64) (bool, error) {
	var personID, amount int64
	var refundedID, currency string
	err := tx.QueryRow(ctx, paymentRefundSQL, chargeID, by).Scan(&personID, &refundedID, &amount, &currency)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("record refund: %w", err)
	}
	if _, err := tx.Exec(ctx, movementInsertSQL, chargeID, "refund", personID, -amount, currency); err != nil {
		return false, fmt.Errorf("record movement: %w", err)
	}
	if err := lockPerson(ctx, tx, personID); err != nil {
		return false, err
	}
	var until time.Time
	if err := tx.QueryRow(ctx, accountRefundSQL, personID, s.cfg.Plans.TrialPlan).Scan(&until); err != nil {
		return false, fmt.Errorf("account %d: %w", personID, err)
	}
	if err := s.Refit(ctx, tx, personID); err != nil {
		return false, err
	}
	was, _ := s.cfg.Plans.find(refundedID) // the person hears what was given back, not what is left
	return true, s.notify(ctx, tx, Event{Key: "refunded:" + chargeID, PersonID: personID, Code: "refunded", Plan: was, Until: until})
}

const lapsingSQL = `
SELECT person_id
  FROM accounts
 WHERE plan <> 'free'
   AND coalesce(greatest(paid_until, trial_until), '-infinity') < clock_timestamp() - $1::interval
 ORDER BY person_id
 LIMIT 100`

const accountLapseSQL = `
UPDATE accounts a
   SET plan = 'free',
       renews = false,
       updated_at = clock_timestamp()
  FROM (SELECT person_id, plan FROM accounts WHERE person_id = $1) was
 WHERE a.person_id = was.person_id
   AND a.plan <> 'free'
   AND coalesce(greatest(a.paid_until, a.trial_until), '-infinity') < clock_timestamp() - $2::interval
RETURNING was.plan,
       coalesce(greatest(a.paid_until, a.trial_until), clock_timestamp())`

// lapseGrace leaves a renewal that is told of late its time: until then the
// plan stands.
const lapseGrace = 6 * time.Hour

// workLapse ends plans that nobody paid on: what exceeds the free plan rests,
// nothing is deleted.
func (s *Service) workLapse(ctx context.Context, job *queue.Job[lapseArgs]) error {
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, lapsingSQL, lapseGrace)
		if err != nil {
			return err
		}
		people, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		for _, id := range people {
			if err := s.lapsed(ctx, tx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Service) lapsed(ctx context.Context, tx pgx.Tx, personID int64) error {
	if err := lockPerson(ctx, tx, personID); err != nil {
		return err
	}
	var planID string
	var until time.Time
	err := tx.QueryRow(ctx, accountLapseSQL, personID, lapseGrace).Scan(&planID, &until)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // paid for meanwhile
	}
	if err != nil {
		return fmt.Errorf("end the plan of %d: %w", personID, err)
	}
	if err := s.Refit(ctx, tx, personID); err != nil {
		return err
	}
	plan, _ := s.cfg.Plans.find(planID)
	return s.notify(ctx, tx, Event{
		Key: fmt.Sprintf("ended:%d", until.UnixMicro()), PersonID: personID, Code: "ended", Plan: plan, Until: until,
	})
}
