package billing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
)

// Finding is something that does not match between a provider's list and ours.
// It moves no money: an operator looks into it and settles it.
type Finding struct {
	ID       int64     `json:"id"`
	ChargeID string    `json:"charge_id"`
	Finding  string    `json:"finding"` // unknown_payload, amount_differs, person_differs, refund_unknown, missing_there
	Detail   string    `json:"detail"`
	At       time.Time `json:"at"`
}

// Settled is what was decided about a finding.
type Settled struct {
	Finding Finding   `json:"finding"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
	Note    string    `json:"note"`
	Fresh   bool      `json:"fresh"` // false: it had been settled before
}

// ErrNoFinding means that there is no finding of this number.
var ErrNoFinding = errors.New("billing: no such finding")

const findingInsertSQL = `
INSERT INTO payment_findings (charge_id, finding, detail)
VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING
RETURNING id,
       found_at`

// note keeps what does not match, once for ever, and tells the operators; false
// when it was known.
func (s *Service) note(ctx context.Context, tx pgx.Tx, chargeID, finding, detail string) (bool, error) {
	f := Finding{ChargeID: chargeID, Finding: finding, Detail: detail}
	err := tx.QueryRow(ctx, findingInsertSQL, chargeID, finding, detail).Scan(&f.ID, &f.At)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("note %s: %w", finding, err)
	}
	if s.cfg.OnFinding != nil {
		err = s.cfg.OnFinding(ctx, tx, f)
	}
	return true, err
}

const findingsSQL = `
SELECT id,
       charge_id,
       finding,
       detail,
       found_at
  FROM payment_findings
 WHERE settled_at IS NULL
 ORDER BY found_at,
       id`

// Findings lists what waits for an operator, the oldest first.
func Findings(ctx context.Context, q postgres.Querier) ([]Finding, error) {
	rows, err := q.Query(ctx, findingsSQL)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Finding])
}

const findingSettleSQL = `
UPDATE payment_findings
   SET settled_at = clock_timestamp(),
       settled_by = $2,
       note = $3
 WHERE id = $1
   AND settled_at IS NULL
RETURNING id`

const findingGetSQL = `
SELECT id,
       charge_id,
       finding,
       detail,
       found_at,
       coalesce(settled_by, ''),
       coalesce(settled_at, 'epoch'),
       note
  FROM payment_findings
 WHERE id = $1`

// Settle closes a finding that somebody looked into, in the caller's
// transaction. It may be repeated: the first decision stands and is answered.
// ErrNoFinding: there is none of this number.
func Settle(ctx context.Context, tx pgx.Tx, id int64, by, note string) (Settled, error) {
	if by == "" {
		return Settled{}, errors.New("billing: a decision needs an author")
	}
	fresh, err := postgres.Affected(ctx, tx, findingSettleSQL, id, by, note)
	if err != nil {
		return Settled{}, fmt.Errorf("settle finding %d: %w", id, err)
	}
	out := Settled{Fresh: fresh}
	f := &out.Finding
	err = tx.QueryRow(ctx, findingGetSQL, id).Scan(&f.ID, &f.ChargeID, &f.Finding, &f.Detail, &f.At, &out.By, &out.At, &out.Note)
	if errors.Is(err, pgx.ErrNoRows) {
		return out, ErrNoFinding
	}
	return out, err
}
