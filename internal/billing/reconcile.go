package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
)

const chargesPage = 100

// workReconcile reads each provider's own list and records what was missed.
func (s *Service) workReconcile(ctx context.Context, job *queue.Job[reconcileArgs]) error {
	for _, p := range s.cfg.Providers {
		sum, err := s.Reconcile(ctx, p)
		if err != nil {
			return fmt.Errorf("reconcile %s: %w", p.Name(), err)
		}
		if sum.Credited+sum.Refunded+sum.Findings > 0 {
			s.cfg.Logger.Warn().Int64("job_id", job.ID).Str("provider", p.Name()).Int("seen", sum.Seen).
				Int("credited", sum.Credited).Int("refunded", sum.Refunded).Int("findings", sum.Findings).
				Msg("the provider's list knew more than the updates told")
		}
	}
	return nil
}

// Reconciled counts what one reading of a provider's list brought.
type Reconciled struct{ Seen, Credited, Refunded, Findings int }

const listStartSQL = `SELECT clock_timestamp()`

// Reconcile reads a provider's list from its beginning, inserts the charges
// and refunds that no update told of, and notes what does not match, once each.
// Reading all of it again is harmless: each charge is a key.
func (s *Service) Reconcile(ctx context.Context, p Provider) (Reconciled, error) {
	var sum Reconciled
	var began time.Time
	if err := s.cfg.Pool.QueryRow(ctx, listStartSQL).Scan(&began); err != nil {
		return sum, err
	}
	seen := []string{}
	for offset := 0; ; offset += chargesPage {
		page, more, err := p.Charges(ctx, offset, chargesPage)
		if errors.Is(err, ErrNoList) {
			return sum, nil
		}
		if err != nil {
			return sum, err
		}
		for _, c := range page {
			seen = append(seen, c.ID)
			// One transaction a charge: a person's account is locked no longer than that.
			err := postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error { return s.reconcileCharge(ctx, tx, p, c, &sum) })
			if err != nil {
				return sum, fmt.Errorf("charge %s: %w", c.ID, err)
			}
		}
		if !more {
			break
		}
	}
	err := s.missingThere(ctx, p, seen, began, &sum)
	return sum, err
}

// subscriptionKnownSQL tells a renewal from a first payment, where no update did. What an update told of is dated
// by our clock when it came, the list by Telegram's to the second; an hour between them is no period.
const subscriptionKnownSQL = `
SELECT EXISTS (
       SELECT FROM payments
        WHERE payload = $1
          AND paid_at < $2::timestamptz + interval '1 hour')`

func (s *Service) reconcileCharge(ctx context.Context, tx pgx.Tx, p Provider, c Charge, sum *Reconciled) error {
	sum.Seen++
	known, err := readPayment(ctx, tx, c.ID)
	switch {
	case err == nil:
		return s.compare(ctx, tx, known, c, sum)
	case !errors.Is(err, ErrNoPayment):
		return err
	case c.Refund:
		return s.found(ctx, tx, sum, c.ID, "refund_unknown", fmt.Sprintf("%d to person %d", c.Amount, c.PersonID))
	}
	renewal := false
	if err := tx.QueryRow(ctx, subscriptionKnownSQL, c.Payload, c.At).Scan(&renewal); err != nil {
		return err
	}
	credited, noted, err := s.credit(ctx, tx, Payment{
		ChargeID: c.ID, PersonID: c.PersonID, Payload: c.Payload, Currency: p.Currency(), Amount: c.Amount,
		Recurring: renewal, PaidAt: c.At, Source: "reconciled",
	})
	if credited {
		sum.Credited++
	}
	if noted {
		sum.Findings++
	}
	return err
}

// compare holds a charge that we know against the provider's line.
func (s *Service) compare(ctx context.Context, tx pgx.Tx, known paid, c Charge, sum *Reconciled) error {
	switch {
	case known.amount != c.Amount:
		return s.found(ctx, tx, sum, c.ID, "amount_differs", fmt.Sprintf("ours %d, theirs %d", known.amount, c.Amount))
	case known.personID != c.PersonID:
		return s.found(ctx, tx, sum, c.ID, "person_differs", fmt.Sprintf("ours %d, theirs %d", known.personID, c.PersonID))
	case c.Refund:
		changed, err := s.Refunded(ctx, tx, c.ID)
		if changed {
			sum.Refunded++
		}
		return err
	}
	return nil
}

// found notes what does not match, once for ever.
func (s *Service) found(ctx context.Context, tx pgx.Tx, sum *Reconciled, charge, finding, detail string) error {
	fresh, err := s.note(ctx, tx, charge, finding, detail)
	if fresh {
		sum.Findings++
	}
	return err
}

// missingSQL leaves out what was recorded while the list was read, and what is
// so young that the list may not show it yet.
const missingSQL = `
SELECT charge_id,
       amount,
       currency,
       person_id
  FROM payments
 WHERE provider = $1
   AND recorded_at < $2::timestamptz - interval '10 minutes'
   AND charge_id <> ALL ($3)
 ORDER BY recorded_at`

const missingSettleSQL = `
UPDATE payment_findings
   SET settled_at = clock_timestamp(),
       settled_by = 'reconciliation',
       note = 'the provider lists it now'
 WHERE finding = 'missing_there'
   AND settled_at IS NULL
   AND charge_id = ANY ($1)`

// missingThere notes what we credited and the provider does not list, and closes
// such a note when the charge appears after all.
func (s *Service) missingThere(ctx context.Context, p Provider, seen []string, began time.Time, sum *Reconciled) error {
	return postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		type missing struct {
			ChargeID string
			Amount   int64
			Currency string
			PersonID int64
		}
		rows, err := tx.Query(ctx, missingSQL, p.Name(), began, seen)
		if err != nil {
			return fmt.Errorf("look for charges that %s does not list: %w", p.Name(), err)
		}
		list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[missing])
		if err != nil {
			return fmt.Errorf("look for charges that %s does not list: %w", p.Name(), err)
		}
		for _, m := range list {
			if err := s.found(ctx, tx, sum, m.ChargeID, "missing_there", Money(m.Amount, m.Currency)+fmt.Sprintf(" of person %d", m.PersonID)); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, missingSettleSQL, seen)
		return err
	})
}
