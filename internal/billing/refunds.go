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

const paymentSQL = `
SELECT provider,
       person_id,
       plan,
       amount,
       currency,
       refunded_at IS NOT NULL
  FROM payments
 WHERE charge_id = $1`

// paid is a payment as it was recorded.
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
