package billing

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
)

// invoiceLife is how long a link may be paid: prices change.
const invoiceLife = 24 * time.Hour

const invoiceInsertSQL = `
INSERT INTO invoices (payload, person_id, provider, plan, amount, currency, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp() + $7::interval)`

// Checkout returns the link of an invoice for a plan. It moves no money: what
// was paid is known from the payment alone.
func (s *Service) Checkout(ctx context.Context, personID int64, planID, language, about string) (string, error) {
	if !s.Enabled() {
		return "", ErrOff
	}
	plan, ok := s.cfg.Plans.find(planID)
	if !ok || plan.ID == FreePlan {
		return "", ErrNoPlan
	}
	provider := s.cfg.Providers[0]
	payload, err := newPayload(plan.ID)
	if err != nil {
		return "", err
	}
	_, err = s.cfg.Pool.Exec(ctx, invoiceInsertSQL, payload, personID, provider.Name(), plan.ID, plan.Price, provider.Currency(), invoiceLife)
	if err != nil {
		return "", fmt.Errorf("record the invoice: %w", err)
	}
	return provider.Link(ctx, Invoice{
		Payload: payload, Title: plan.Name(language), About: about,
		Amount: plan.Price, Currency: provider.Currency(), Days: plan.Days,
	})
}

// newPayload is unique per subscription, as Telegram asks, and says nothing.
func newPayload(plan string) (string, error) {
	b := make([]byte, 18)
	if _, err := rand.Read(b); err != nil {
		return "", err
	}
	return plan + ":" + base64.RawURLEncoding.EncodeToString(b), nil
}

// Reasons of a refused checkout: codes for the catalogues.
const (
	RefusedUnknown = "billing.checkout.unknown" // no such invoice
	RefusedPerson  = "billing.checkout.person"  // another person's
	RefusedPrice   = "billing.checkout.price"   // the price changed
	RefusedOld     = "billing.checkout.old"     // too old, or the plan is not on sale any more
)

const invoiceCheckSQL = `
SELECT person_id,
       plan,
       amount,
       currency,
       expires_at > clock_timestamp()
  FROM invoices
 WHERE payload = $1`

// PreCheckout says whether a payment may go on: "" for yes, else a reason. It
// only reads, and is asked ahead of every queue.
func (s *Service) PreCheckout(ctx context.Context, personID int64, payload, currency string, amount int64) (string, error) {
	var owner, price int64
	var planID, cur string
	var fresh bool
	err := s.cfg.Pool.QueryRow(ctx, invoiceCheckSQL, payload).Scan(&owner, &planID, &price, &cur, &fresh)
	if errors.Is(err, pgx.ErrNoRows) {
		return RefusedUnknown, nil
	}
	if err != nil {
		return "", fmt.Errorf("look up the invoice: %w", err)
	}
	plan, onSale := s.cfg.Plans.find(planID)
	switch {
	case owner != personID:
		return RefusedPerson, nil
	case !fresh || !onSale:
		return RefusedOld, nil
	case price != amount || cur != currency || plan.Price != amount:
		return RefusedPrice, nil
	}
	return "", nil
}

// Payment is what a provider reports of one charge.
type Payment struct {
	ChargeID  string
	PersonID  int64
	Payload   string
	Currency  string
	Amount    int64
	Recurring bool
	Until     time.Time // until when it pays, if the provider says; zero: the plan's days from PaidAt
	PaidAt    time.Time
	Source    string // update, reconciled
}

const paymentInsertSQL = `
INSERT INTO payments (charge_id, provider, person_id, plan, amount, currency, payload, recurring, paid_until, source, paid_at)
SELECT $1,
       i.provider,
       $2,
       i.plan,
       $3,
       $4,
       i.payload,
       $5,
       $6,
       $7,
       $8
  FROM invoices i
 WHERE i.payload = $9
    ON CONFLICT (charge_id) DO NOTHING
RETURNING plan`

const paymentKnownSQL = `SELECT EXISTS (SELECT FROM payments WHERE charge_id = $1)`

const movementInsertSQL = `
INSERT INTO movements (charge_id, kind, person_id, amount, currency)
VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (charge_id, kind) DO NOTHING
RETURNING id`

// accountCreditSQL never shortens what was paid: payments may be told of out of order.
const accountCreditSQL = `
INSERT INTO accounts (person_id, plan, paid_until, renews, charge_id)
VALUES ($1, $2, $3, true, $4)
    ON CONFLICT (person_id) DO UPDATE
   SET plan = CASE WHEN accounts.paid_until IS NULL OR excluded.paid_until >= accounts.paid_until THEN excluded.plan ELSE accounts.plan END,
       charge_id = CASE WHEN accounts.paid_until IS NULL OR excluded.paid_until >= accounts.paid_until THEN excluded.charge_id ELSE accounts.charge_id END,
       paid_until = greatest(accounts.paid_until, excluded.paid_until),
       renews = true,
       updated_at = clock_timestamp()
RETURNING plan, paid_until`

const findingInsertSQL = `
INSERT INTO payment_findings (charge_id, finding, detail)
VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING`

// Credit records a payment and what it buys, in the caller's transaction. The
// charge id is the key: false says that it was credited before and nothing
// changed. A charge whose payload we never issued is kept as a finding.
func (s *Service) Credit(ctx context.Context, tx pgx.Tx, p Payment) (bool, error) {
	until := p.Until
	if until.IsZero() {
		until = p.PaidAt.Add(subscriptionDays * 24 * time.Hour)
	}
	var planID string
	err := tx.QueryRow(ctx, paymentInsertSQL, p.ChargeID, p.PersonID, p.Amount, p.Currency, p.Recurring, until, p.Source, p.PaidAt, p.Payload).Scan(&planID)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, s.notCredited(ctx, tx, p)
	}
	if err != nil {
		return false, fmt.Errorf("record payment: %w", err)
	}
	if _, err := tx.Exec(ctx, movementInsertSQL, p.ChargeID, "payment", p.PersonID, p.Amount, p.Currency); err != nil {
		return false, fmt.Errorf("record movement: %w", err)
	}
	if err := tx.QueryRow(ctx, accountCreditSQL, p.PersonID, planID, until, p.ChargeID).Scan(&planID, &until); err != nil {
		return false, fmt.Errorf("credit account %d: %w", p.PersonID, err)
	}
	plan, _ := s.cfg.Plans.find(planID)
	if err := s.changed(ctx, tx, p.PersonID, plan); err != nil {
		return false, err
	}
	event := "paid"
	if p.Recurring {
		event = "renewed"
	}
	return true, s.notify(ctx, tx, p.PersonID, event, plan, until)
}

// notCredited tells a known charge from one that nobody can place.
func (s *Service) notCredited(ctx context.Context, tx pgx.Tx, p Payment) error {
	var known bool
	if err := tx.QueryRow(ctx, paymentKnownSQL, p.ChargeID).Scan(&known); err != nil || known {
		return err
	}
	_, err := tx.Exec(ctx, findingInsertSQL, p.ChargeID, "unknown_payload", fmt.Sprintf("%d %s from person %d", p.Amount, p.Currency, p.PersonID))
	return err
}

const renewalSQL = `
UPDATE accounts
   SET renews = $2,
       updated_at = clock_timestamp()
 WHERE person_id = $1
   AND renews <> $2
   AND plan <> 'free'
RETURNING plan, coalesce(paid_until, clock_timestamp())`

// Renewal records that a subscription renews or does not any more, as Telegram
// tells; false when that was known.
func (s *Service) Renewal(ctx context.Context, tx pgx.Tx, personID int64, renews bool) (bool, error) {
	var planID string
	var until time.Time
	err := tx.QueryRow(ctx, renewalSQL, personID, renews).Scan(&planID, &until)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("renewal of %d: %w", personID, err)
	}
	plan, _ := s.cfg.Plans.find(planID)
	event := "ends"
	if renews {
		event = "renews"
	}
	return true, s.notify(ctx, tx, personID, event, plan, until)
}

const subscriptionCurrentSQL = `
SELECT EXISTS (
       SELECT FROM accounts a
         JOIN payments p ON p.charge_id = a.charge_id
        WHERE a.person_id = $1
          AND p.payload = $2)`

// Subscription records what Telegram tells of a subscription, named by its
// invoice: it renews, or was ended, or its renewal failed. Only the one that the
// account stands on counts: an older one may end without a word.
func (s *Service) Subscription(ctx context.Context, tx pgx.Tx, personID int64, payload string, renews bool) (bool, error) {
	var current bool
	if err := tx.QueryRow(ctx, subscriptionCurrentSQL, personID, payload).Scan(&current); err != nil {
		return false, fmt.Errorf("subscription of %d: %w", personID, err)
	}
	if !current {
		return false, nil
	}
	return s.Renewal(ctx, tx, personID, renews)
}

const accountChargeSQL = `
SELECT a.charge_id,
       p.provider
  FROM accounts a
  JOIN payments p ON p.charge_id = a.charge_id
 WHERE a.person_id = $1
   AND a.renews`

// Cancel ends the renewal at the provider; the plan lasts until it was paid
// for. False when it had been ended before.
func (s *Service) Cancel(ctx context.Context, personID int64) (bool, error) {
	var charge, name string
	err := s.cfg.Pool.QueryRow(ctx, accountChargeSQL, personID).Scan(&charge, &name)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	provider, err := s.provider(name)
	if err != nil {
		return false, err
	}
	// Asking twice ends in the same state: no ledger is needed.
	if err := provider.SetRenewal(ctx, personID, charge, false); err != nil {
		return false, err
	}
	var changed bool
	err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) (err error) {
		changed, err = s.Renewal(ctx, tx, personID, false)
		return err
	})
	return changed, err
}

func (s *Service) provider(name string) (Provider, error) {
	for _, p := range s.cfg.Providers {
		if p.Name() == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("billing: provider %q is not configured any more", name)
}
