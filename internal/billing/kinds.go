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

const paymentSQL = `
SELECT provider,
       person_id,
       plan,
       amount,
       currency,
       refunded_at IS NOT NULL
  FROM payments
 WHERE charge_id = $1`

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
// ErrNoPayment: there is no such charge; ErrRefunded: it was given back before;
// ErrByHand: only its provider can, and Booked records it then.
func (s *Service) RefundTx(ctx context.Context, tx pgx.Tx, chargeID, by string) (queue.Submission, error) {
	p, err := readPayment(ctx, tx, chargeID)
	if err != nil {
		return queue.Submission{}, err
	}
	if p.refunded {
		return queue.Submission{}, ErrRefunded
	}
	provider, err := s.provider(p.provider)
	if err != nil {
		return queue.Submission{}, err
	}
	if !provider.Refunds() {
		return queue.Submission{}, ErrByHand
	}
	return s.refund.EnqueueTx(ctx, tx, refundArgs{ChargeID: chargeID, By: by})
}

// refundEffect is the ledger's name of giving a charge back.
func refundEffect(chargeID string) string { return "refund:" + chargeID }

// refundSettled books what an operator said at the desk about a refund in doubt.
func (s *Service) refundSettled(ctx context.Context, tx pgx.Tx, args refundArgs, end queue.Settlement) error {
	if !end.Done {
		return nil
	}
	_, err := s.refunded(ctx, tx, args.ChargeID, args.By)
	return err
}

// Refunded records that a charge was given back, as its provider tells, in the
// caller's transaction: whoever asked for it, and however often it is told. A
// refund of our own that was in doubt is settled by it. False: it was known.
func (s *Service) Refunded(ctx context.Context, tx pgx.Tx, chargeID string) (bool, error) {
	changed, err := s.refunded(ctx, tx, chargeID, "")
	if err != nil {
		return false, err
	}
	err = queue.SettleTx(ctx, tx, refundEffect(chargeID), true, chargeID, "reconciliation")
	// No effect: somebody else gave it back. Under way: the job learns it itself.
	if errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrDecided) {
		err = nil
	}
	return changed, err
}

// Booked records a refund that an operator made at a provider that takes none
// from us; false when it was recorded before.
func (s *Service) Booked(ctx context.Context, tx pgx.Tx, chargeID, by string) (bool, error) {
	p, err := readPayment(ctx, tx, chargeID)
	if err != nil {
		return false, err
	}
	provider, err := s.provider(p.provider)
	if err != nil {
		return false, err
	}
	if provider.Refunds() {
		return false, ErrNotByHand
	}
	return s.refunded(ctx, tx, chargeID, by)
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
		Key:     refundEffect(job.Args.ChargeID),
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
       refund_author = $2
 WHERE charge_id = $1
   AND refunded_at IS NULL
RETURNING person_id, plan, amount, currency, payload`

// accountRefundSQL ends what the charge had bought: the newest charge that was
// not given back counts.
const accountRefundSQL = `
UPDATE accounts a
   SET plan = coalesce(p.plan, CASE WHEN a.trial_until > clock_timestamp() THEN $2 END, 'free'),
       paid_until = p.paid_until,
       charge_id = coalesce(p.charge_id, ''),
       renews = a.renews AND p.charge_id IS NOT NULL AND NOT $3::boolean,
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
func (s *Service) refunded(ctx context.Context, tx pgx.Tx, chargeID, by string) (bool, error) {
	var personID, amount int64
	var refundedID, currency, payload string
	err := tx.QueryRow(ctx, paymentRefundSQL, chargeID, by).Scan(&personID, &refundedID, &amount, &currency, &payload)
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
	ended, err := s.endedBy(ctx, tx, personID, payload)
	if err != nil {
		return false, err
	}
	var until time.Time
	if err := tx.QueryRow(ctx, accountRefundSQL, personID, s.cfg.Plans.TrialPlan, ended).Scan(&until); err != nil {
		return false, fmt.Errorf("account %d: %w", personID, err)
	}
	if err := s.Refit(ctx, tx, personID); err != nil {
		return false, err
	}
	was, _ := s.cfg.Plans.find(refundedID) // the person hears what was given back, not what is left
	return true, s.notify(ctx, tx, Event{Key: "refunded:" + chargeID, PersonID: personID, Code: "refunded", Plan: was, Until: until})
}

// endedBy ends the renewal of the subscription that a refunded payment belongs
// to: who got the money back must not be charged again.
func (s *Service) endedBy(ctx context.Context, tx pgx.Tx, personID int64, payload string) (bool, error) {
	sub, err := renewing(ctx, tx, personID)
	if err != nil || sub.charge == "" || sub.payload != payload {
		return false, err
	}
	_, err = s.end.EnqueueTx(ctx, tx, endArgs{PersonID: personID, ChargeID: sub.charge, Provider: sub.provider})
	return true, err
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
