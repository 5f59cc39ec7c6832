package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
)

const accountPlanSQL = `
SELECT CASE WHEN greatest(a.paid_until, a.trial_until) > clock_timestamp() - $2::interval THEN a.plan ELSE 'free' END,
       a.paid_until,
       a.trial_until,
       a.renews
  FROM accounts a
 WHERE a.person_id = $1`

// Standing is which plan a person has now.
type Standing struct {
	Plan       Plan
	PaidUntil  time.Time
	TrialUntil time.Time
	Renews     bool
}

// Until is when the plan ends unless it is renewed; zero for the free plan.
func (s Standing) Until() time.Time {
	if s.Plan.ID == FreePlan {
		return time.Time{}
	}
	if s.PaidUntil.After(s.TrialUntil) {
		return s.PaidUntil
	}
	return s.TrialUntil
}

// Trial reports whether the plan is one on trial.
func (s Standing) Trial() bool { return s.Plan.ID != FreePlan && s.TrialUntil.After(s.PaidUntil) }

// StandingOf reads a person's plan. Where nothing is sold, every limit is off.
func (s *Service) StandingOf(ctx context.Context, q postgres.Querier, personID int64) (Standing, error) {
	if !s.Enabled() {
		return Standing{Plan: Plan{ID: FreePlan, Title: "Free"}}, nil
	}
	var st Standing
	var planID string
	var paid, trial *time.Time
	err := q.QueryRow(ctx, accountPlanSQL, personID, lapseGrace).Scan(&planID, &paid, &trial, &st.Renews)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return st, fmt.Errorf("account %d: %w", personID, err)
	}
	if paid != nil {
		st.PaidUntil = *paid
	}
	if trial != nil {
		st.TrialUntil = *trial
	}
	st.Plan, _ = s.cfg.Plans.find(planID)
	return st, nil
}

// quotaUseSQL counts in one statement: no row comes back when the limit would be passed.
const quotaUseSQL = `
INSERT INTO quotas (person_id, meter, period, used)
SELECT $1, $2, date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')::date, $3::bigint
 WHERE $4::bigint = 0 OR $3::bigint <= $4::bigint
    ON CONFLICT (person_id, meter, period) DO UPDATE
   SET used = quotas.used + excluded.used
 WHERE $4::bigint = 0 OR quotas.used + excluded.used <= $4::bigint
RETURNING used`

const quotaUsedSQL = `
SELECT used
  FROM quotas
 WHERE person_id = $1
   AND meter = $2
   AND period = date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')::date`

// Use counts n of a monthly meter in the caller's transaction, or fails with a
// *LimitError and counts nothing.
func (s *Service) Use(ctx context.Context, tx pgx.Tx, personID int64, meter string, n int64) error {
	st, err := s.StandingOf(ctx, tx, personID)
	if err != nil {
		return err
	}
	limit := st.Plan.Limit(meter)
	var used int64
	err = tx.QueryRow(ctx, quotaUseSQL, personID, meter, n, limit).Scan(&used)
	if !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if err := tx.QueryRow(ctx, quotaUsedSQL, personID, meter).Scan(&used); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	return &LimitError{Meter: meter, Used: used, Limit: limit}
}

const quotaGiveBackSQL = `
UPDATE quotas
   SET used = greatest(0, used - $3::bigint)
 WHERE person_id = $1
   AND meter = $2
   AND period = date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')::date`

// GiveBack takes n of a monthly meter back in the caller's transaction: what was
// counted certainly did not happen.
func (s *Service) GiveBack(ctx context.Context, tx pgx.Tx, personID int64, meter string, n int64) error {
	_, err := tx.Exec(ctx, quotaGiveBackSQL, personID, meter, n)
	return err
}

// Spent is the *LimitError of a monthly meter that is used up, or nil. It is
// for telling a person early: only Use decides.
func (s *Service) Spent(ctx context.Context, q postgres.Querier, personID int64, meter string) error {
	st, err := s.StandingOf(ctx, q, personID)
	if err != nil {
		return err
	}
	limit := st.Plan.Limit(meter)
	if limit == 0 {
		return nil
	}
	var used int64
	if err := q.QueryRow(ctx, quotaUsedSQL, personID, meter).Scan(&used); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	if used < limit {
		return nil
	}
	return &LimitError{Meter: meter, Used: used, Limit: limit}
}

// Allow checks what exists (channels, sources) against the plan, under a lock
// that the caller's transaction holds until it commits: two additions at once
// are counted one after the other. have is asked after the lock was taken.
func (s *Service) Allow(ctx context.Context, tx pgx.Tx, personID int64, meter string, have func(ctx context.Context, tx pgx.Tx) (int64, error)) error {
	if !s.Enabled() {
		return nil
	}
	if err := lockPerson(ctx, tx, personID); err != nil {
		return err
	}
	st, err := s.StandingOf(ctx, tx, personID)
	if err != nil {
		return err
	}
	limit := st.Plan.Limit(meter)
	if limit == 0 {
		return nil
	}
	n, err := have(ctx, tx)
	if err != nil {
		return err
	}
	if n >= limit {
		return &LimitError{Meter: meter, Used: n, Limit: limit}
	}
	return nil
}

const trialSQL = `
INSERT INTO accounts (person_id, plan, trial_until)
VALUES ($1, $2, clock_timestamp() + $3::interval)
    ON CONFLICT (person_id) DO UPDATE
   SET plan = excluded.plan,
       trial_until = excluded.trial_until,
       updated_at = clock_timestamp()
 WHERE accounts.trial_until IS NULL
   AND accounts.paid_until IS NULL
RETURNING trial_until`

// Trial starts a person's one trial; false when it was taken, or none is offered.
func (s *Service) Trial(ctx context.Context, tx pgx.Tx, personID int64) (bool, error) {
	if !s.Enabled() || s.cfg.Plans.TrialDays == 0 {
		return false, nil
	}
	if err := lockPerson(ctx, tx, personID); err != nil {
		return false, err
	}
	plan, _ := s.cfg.Plans.find(s.cfg.Plans.TrialPlan)
	var until time.Time
	err := tx.QueryRow(ctx, trialSQL, personID, plan.ID, time.Duration(s.cfg.Plans.TrialDays)*24*time.Hour).Scan(&until)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := s.Refit(ctx, tx, personID); err != nil {
		return false, err
	}
	return true, s.notify(ctx, tx, Event{Key: "trial", PersonID: personID, Code: "trial", Plan: plan, Until: until})
}
