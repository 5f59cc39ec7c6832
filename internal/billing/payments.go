package billing

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/postonce/postonce/internal/postgres"
)

// invoiceLife is how long a link may be paid: prices change.
const invoiceLife = 24 * time.Hour

const invoiceInsertSQL = `
INSERT INTO invoices (payload, person_id, provider, plan, amount, currency, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, clock_timestamp() + $7::interval)`

// Checkout returns the link of an invoice for a plan; about says in the person's
// language what is sold. It moves no money: what was paid is known from the
// payment alone. ErrOff: nothing is sold here; ErrNoPlan: no such plan is on sale.
func (s *Service) Checkout(ctx context.Context, personID int64, planID, language string, about func(days int) string) (string, error) {
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
		Payload: payload, Title: plan.Name(language), About: about(plan.Days),
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
	case price != amount || cur != currency || plan.Price != amount || cur != s.cfg.Providers[0].Currency():
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
RETURNING plan,
       provider`

const paymentKnownSQL = `SELECT EXISTS (SELECT FROM payments WHERE charge_id = $1)`

const movementInsertSQL = `
INSERT INTO movements (charge_id, kind, person_id, amount, currency)
VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (charge_id, kind) DO NOTHING
RETURNING id`

// accountCreditSQL never shortens what was paid: payments may be told of out of
// order, and an older one says nothing about the renewal.
const accountCreditSQL = `
INSERT INTO accounts AS a (person_id, plan, paid_until, renews, charge_id)
VALUES ($1, $2, $3, $5, $4)
    ON CONFLICT (person_id) DO UPDATE
   SET plan = CASE WHEN a.paid_until IS NULL OR excluded.paid_until >= a.paid_until THEN excluded.plan ELSE a.plan END,
       charge_id = CASE WHEN a.paid_until IS NULL OR excluded.paid_until >= a.paid_until THEN excluded.charge_id ELSE a.charge_id END,
       renews = CASE WHEN a.paid_until IS NULL OR excluded.paid_until >= a.paid_until THEN excluded.renews ELSE a.renews END,
       paid_until = greatest(a.paid_until, excluded.paid_until),
       updated_at = clock_timestamp()
RETURNING plan, paid_until`

// Credit records a payment and what it buys, in the caller's transaction. The
// charge id is the key: false says that it was credited before and nothing
// changed. A charge whose payload we never issued is kept as a finding.
func (s *Service) Credit(ctx context.Context, tx pgx.Tx, p Payment) (bool, error) {
	credited, _, err := s.credit(ctx, tx, p)
	return credited, err
}

// credit is Credit; noted says that the charge is a finding that is new.
func (s *Service) credit(ctx context.Context, tx pgx.Tx, p Payment) (credited, noted bool, err error) {
	if err := lockPerson(ctx, tx, p.PersonID); err != nil {
		return false, false, err
	}
	until, err := s.lasts(ctx, tx, p)
	if err != nil {
		return false, false, err
	}
	var planID, provider string
	err = tx.QueryRow(ctx, paymentInsertSQL, p.ChargeID, p.PersonID, p.Amount, p.Currency, p.Recurring, until, p.Source, p.PaidAt, p.Payload).Scan(&planID, &provider)
	if errors.Is(err, pgx.ErrNoRows) {
		noted, err = s.notCredited(ctx, tx, p)
		return false, noted, err
	}
	if err != nil {
		return false, false, fmt.Errorf("record payment: %w", err)
	}
	return true, false, s.bought(ctx, tx, p, planID, provider, until)
}

// bought books a payment that is new and gives what it buys.
func (s *Service) bought(ctx context.Context, tx pgx.Tx, p Payment, planID, provider string, until time.Time) error {
	if _, err := tx.Exec(ctx, movementInsertSQL, p.ChargeID, "payment", p.PersonID, p.Amount, p.Currency); err != nil {
		return fmt.Errorf("record movement: %w", err)
	}
	before, err := renewing(ctx, tx, p.PersonID)
	if err != nil {
		return err
	}
	if before.charge != "" && before.payload != p.Payload {
		// Another plan was taken: the former one must not be charged again.
		_, err := s.end.EnqueueTx(ctx, tx, endArgs{PersonID: p.PersonID, ChargeID: before.charge, Provider: before.provider})
		if err != nil {
			return err
		}
	}
	if err := tx.QueryRow(ctx, accountCreditSQL, p.PersonID, planID, until, p.ChargeID, s.renews(provider)).Scan(&planID, &until); err != nil {
		return fmt.Errorf("credit account %d: %w", p.PersonID, err)
	}
	if err := s.Refit(ctx, tx, p.PersonID); err != nil {
		return err
	}
	plan, _ := s.cfg.Plans.find(planID)
	code := "paid"
	if p.Recurring {
		code = "renewed"
	}
	return s.notify(ctx, tx, Event{Key: code + ":" + p.ChargeID, PersonID: p.PersonID, Code: code, Plan: plan, Until: until})
}

const paidAheadSQL = `
SELECT coalesce(max(p.paid_until), '-infinity')
  FROM payments p
  JOIN invoices i ON i.payload = $2
 WHERE p.person_id = $1
   AND p.plan = i.plan
   AND p.provider = i.provider
   AND p.refunded_at IS NULL`

const invoiceProviderSQL = `SELECT provider FROM invoices WHERE payload = $1`

// lasts is until when a payment pays: as the provider says, else the plan's days
// from the payment on. What does not renew by itself is added to what was paid
// for before: nobody loses days by paying early.
func (s *Service) lasts(ctx context.Context, tx pgx.Tx, p Payment) (time.Time, error) {
	if !p.Until.IsZero() {
		return p.Until, nil
	}
	from := p.PaidAt
	var provider string
	err := tx.QueryRow(ctx, invoiceProviderSQL, p.Payload).Scan(&provider)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return from, fmt.Errorf("invoice of a payment: %w", err)
	}
	if err == nil && !s.renews(provider) {
		var ahead pgtype.Timestamptz
		if err := tx.QueryRow(ctx, paidAheadSQL, p.PersonID, p.Payload).Scan(&ahead); err != nil {
			return from, fmt.Errorf("what %d paid before: %w", p.PersonID, err)
		}
		if ahead.InfinityModifier == pgtype.Finite && ahead.Time.After(from) {
			from = ahead.Time
		}
	}
	return from.Add(s.daysOf(p.Payload)), nil
}

// daysOf is how long a payment lasts that does not say so: as long as the plan
// that its payload begins with, and as a renewal where that is off sale by now.
func (s *Service) daysOf(payload string) time.Duration {
	id, _, _ := strings.Cut(payload, ":")
	days := subscriptionDays
	if plan, ok := s.cfg.Plans.find(id); ok && plan.Days > 0 {
		days = plan.Days
	}
	return time.Duration(days) * 24 * time.Hour
}

// notCredited tells a known charge from one that nobody can place.
func (s *Service) notCredited(ctx context.Context, tx pgx.Tx, p Payment) (noted bool, err error) {
	var known bool
	if err := tx.QueryRow(ctx, paymentKnownSQL, p.ChargeID).Scan(&known); err != nil || known {
		return false, err
	}
	return s.note(ctx, tx, p.ChargeID, "unknown_payload", Money(p.Amount, p.Currency)+fmt.Sprintf(" from person %d", p.PersonID))
}

const renewalSQL = `
UPDATE accounts
   SET renews = $2,
       updated_at = clock_timestamp()
 WHERE person_id = $1
   AND renews <> $2
   AND plan <> 'free'
RETURNING plan,
       coalesce(paid_until, clock_timestamp()),
       updated_at`

// renewal records that a subscription renews or does not any more; false when
// that was known. The person hears code.
func (s *Service) renewal(ctx context.Context, tx pgx.Tx, personID int64, renews bool, code string) (bool, error) {
	var planID string
	var until, at time.Time
	err := tx.QueryRow(ctx, renewalSQL, personID, renews).Scan(&planID, &until, &at)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("renewal of %d: %w", personID, err)
	}
	plan, _ := s.cfg.Plans.find(planID)
	return true, s.notify(ctx, tx, Event{
		Key: fmt.Sprintf("%s:%d", code, at.UnixMicro()), PersonID: personID, Code: code, Plan: plan, Until: until,
	})
}

const subscriptionCurrentSQL = `
SELECT EXISTS (
       SELECT FROM accounts a
         JOIN payments p ON p.charge_id = a.charge_id
        WHERE a.person_id = $1
          AND p.payload = $2)`

// SubscriptionState is what a provider tells of a subscription.
type SubscriptionState string

// The states, in Telegram's words (BotSubscriptionUpdated).
const (
	SubscriptionActive   SubscriptionState = "active"   // it renews again
	SubscriptionCanceled SubscriptionState = "canceled" // the person ended the renewal
	SubscriptionFailed   SubscriptionState = "failed"   // the renewal could not be paid
)

// Subscription records what Telegram tells of a subscription, named by its
// invoice: it renews, or was ended, or its renewal failed. Only the one that the
// account stands on counts: an older one may end without a word. The plan lasts
// until it was paid for in any case.
func (s *Service) Subscription(ctx context.Context, tx pgx.Tx, personID int64, payload string, state SubscriptionState) (bool, error) {
	if err := lockPerson(ctx, tx, personID); err != nil {
		return false, err
	}
	var current bool
	if err := tx.QueryRow(ctx, subscriptionCurrentSQL, personID, payload).Scan(&current); err != nil {
		return false, fmt.Errorf("subscription of %d: %w", personID, err)
	}
	if !current {
		return false, nil
	}
	switch state {
	case SubscriptionActive:
		return s.renewal(ctx, tx, personID, true, "renews")
	case SubscriptionFailed:
		return s.renewal(ctx, tx, personID, false, "renewal_failed")
	case SubscriptionCanceled:
		return s.renewal(ctx, tx, personID, false, "ends")
	}
	return false, nil // a state that is not known yet changes nothing
}

// accountChargeSQL names the subscription that an account stands on by its first
// charge, as Telegram does.
const accountChargeSQL = `
SELECT f.charge_id,
       f.provider,
       f.payload
  FROM accounts a
  JOIN payments p ON p.charge_id = a.charge_id
  JOIN LATERAL (
       SELECT charge_id,
              provider,
              payload
         FROM payments
        WHERE person_id = a.person_id
          AND payload = p.payload
        ORDER BY recurring,
              paid_at
        LIMIT 1) f ON true
 WHERE a.person_id = $1
   AND a.renews`

// subscription is one that renews by itself.
type subscription struct{ charge, provider, payload string }

// renewing returns the subscription that a person's account stands on; none has no charge.
func renewing(ctx context.Context, q postgres.Querier, personID int64) (subscription, error) {
	var sub subscription
	err := q.QueryRow(ctx, accountChargeSQL, personID).Scan(&sub.charge, &sub.provider, &sub.payload)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return sub, fmt.Errorf("subscription of %d: %w", personID, err)
	}
	return sub, nil
}

// endRenewal asks the provider. Asking twice ends in the same state: no ledger is needed.
func (s *Service) endRenewal(ctx context.Context, personID int64, sub subscription) error {
	provider, err := s.provider(sub.provider)
	if err != nil {
		return err
	}
	return provider.EndRenewal(ctx, personID, sub.charge)
}

// Cancel ends the renewal at the provider; the plan lasts until it was paid
// for. False when it had been ended before.
func (s *Service) Cancel(ctx context.Context, personID int64) (bool, error) {
	sub, err := renewing(ctx, s.cfg.Pool, personID)
	if err != nil || sub.charge == "" {
		return false, err
	}
	if err := s.endRenewal(ctx, personID, sub); err != nil {
		return false, err
	}
	var changed bool
	err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) (err error) {
		if err := lockPerson(ctx, tx, personID); err != nil {
			return err
		}
		changed, err = s.renewal(ctx, tx, personID, false, "ends")
		return err
	})
	return changed, err
}

// renews reports whether payments to a provider renew by themselves.
func (s *Service) renews(name string) bool {
	p, err := s.provider(name)
	return err == nil && p.Renews()
}

func (s *Service) provider(name string) (Provider, error) {
	for _, p := range s.cfg.Providers {
		if p.Name() == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("billing: provider %q is not configured any more", name)
}
