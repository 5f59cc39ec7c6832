package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
)

const paymentListSQL = `
SELECT charge_id,
       plan,
       amount,
       currency,
       paid_at,
       refunded_at IS NOT NULL
  FROM payments
 WHERE person_id = $1
 ORDER BY paid_at DESC
 LIMIT $2`

// Receipt is one payment as a person sees it.
type Receipt struct {
	ChargeID string    `json:"charge_id"`
	Plan     string    `json:"plan"`
	Amount   int64     `json:"amount"`
	Currency string    `json:"currency"`
	At       time.Time `json:"at"`
	Refunded bool      `json:"refunded"`
}

// Receipts lists a person's payments, the newest first.
func Receipts(ctx context.Context, q postgres.Querier, personID int64, limit int) ([]Receipt, error) {
	rows, err := q.Query(ctx, paymentListSQL, personID, limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Receipt])
}

// Meter is how much of something is used; Limit 0 is none.
type Meter struct {
	Code        string
	Used, Limit int64
}

const meterSQL = `
SELECT (SELECT count(*) FROM channels c WHERE c.created_by = $1 AND c.state <> 'unlinked'),
       (SELECT count(*)
          FROM subscriptions s
          JOIN channels c ON c.id = s.channel_id
         WHERE c.created_by = $1
           AND s.rests_at IS NULL),
       coalesce((SELECT used FROM quotas WHERE person_id = $1 AND meter = 'drafts'
           AND period = date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')::date), 0),
       coalesce((SELECT used FROM quotas WHERE person_id = $1 AND meter = 'model_drafts'
           AND period = date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC')::date), 0)`

// Meters says what a person uses of his plan: "7 of 10 drafts".
func (s *Service) Meters(ctx context.Context, q postgres.Querier, personID int64, plan Plan) ([]Meter, error) {
	var channels, sources, drafts, model int64
	if err := q.QueryRow(ctx, meterSQL, personID).Scan(&channels, &sources, &drafts, &model); err != nil {
		return nil, fmt.Errorf("meters of %d: %w", personID, err)
	}
	return []Meter{
		{MeterChannels, channels, plan.Channels},
		{MeterSources, sources, plan.Sources},
		{MeterDrafts, drafts, plan.Drafts},
		{MeterModelDrafts, model, plan.ModelDrafts},
	}, nil
}

// Price writes what a plan on sale costs, in words.
func (s *Service) Price(p Plan) string { return Money(p.Price, s.cfg.Providers[0].Currency()) }

// Renewing says whether what is on sale now renews by itself.
func (s *Service) Renewing() bool { return s.Enabled() && s.cfg.Providers[0].Renews() }

// Title is a plan's title in a language; its id where it is not on sale any more.
func (s *Service) Title(planID, language string) string {
	p, ok := s.cfg.Plans.find(planID)
	if !ok {
		return planID
	}
	return p.Name(language)
}

// OnSale lists the plans.
func (s *Service) OnSale() []Plan { return s.cfg.Plans.Plans }

const balanceSQL = `
SELECT m.currency,
       count(*) FILTER (WHERE m.kind = 'payment'),
       coalesce(sum(m.amount) FILTER (WHERE m.kind = 'payment'), 0)::bigint,
       count(*) FILTER (WHERE m.kind = 'refund'),
       coalesce(sum(m.amount) FILTER (WHERE m.kind = 'refund'), 0)::bigint,
       coalesce(sum(m.amount), 0)::bigint,
       (SELECT coalesce(sum(p.amount), 0)::bigint FROM payments p WHERE p.currency = m.currency AND p.refunded_at IS NULL)
  FROM movements m
 GROUP BY m.currency
 ORDER BY m.currency`

// Balance sums the movements of one currency. Sum must be Kept: what came in
// less what went out is what was paid and not given back.
type Balance struct {
	Currency    string `json:"currency"`
	Payments    int64  `json:"payments"`
	In          int64  `json:"in"`
	RefundCount int64  `json:"refunds"`
	Out         int64  `json:"out"` // negative
	Sum         int64  `json:"sum"`
	Kept        int64  `json:"kept"`
}

// Balanced reports whether the two ways of counting agree.
func (b Balance) Balanced() bool { return b.Sum == b.Kept && b.In+b.Out == b.Sum }

// Report balances all movements and lists what does not match.
func Report(ctx context.Context, q postgres.Querier) ([]Balance, []Finding, error) {
	rows, err := q.Query(ctx, balanceSQL)
	if err != nil {
		return nil, nil, err
	}
	balances, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Balance])
	if err != nil {
		return nil, nil, err
	}
	findings, err := Findings(ctx, q)
	return balances, findings, err
}
