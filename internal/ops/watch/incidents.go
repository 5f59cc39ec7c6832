package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

// quiet is how long a condition has to stay false before its incident ends, so
// that one that flickers is told once.
const quiet = 5 * time.Minute

// Incident is a condition that lasted.
type Incident struct {
	ID        int64
	Condition // For is not kept; Args are there at its start only
	OpenedAt  time.Time
	ClosedAt  time.Time // zero while it lasts
}

const incidentSeenSQL = `
INSERT INTO incidents (name, subject, severity, detail, first_true_at, last_true_at)
VALUES ($1, $2, $3, $4, clock_timestamp(), clock_timestamp())
    ON CONFLICT (name, subject) WHERE closed_at IS NULL
    DO UPDATE SET detail = EXCLUDED.detail,
                  severity = EXCLUDED.severity,
                  last_true_at = EXCLUDED.last_true_at`

const incidentOpenIfLastedSQL = `
UPDATE incidents
   SET opened_at = clock_timestamp()
 WHERE name = $1
   AND subject = $2
   AND closed_at IS NULL
   AND opened_at IS NULL
   AND clock_timestamp() - first_true_at >= $3::interval
RETURNING id, name, subject, severity, detail, opened_at, closed_at`

const incidentCloseIfQuietSQL = `
UPDATE incidents
   SET closed_at = clock_timestamp()
 WHERE closed_at IS NULL
   AND opened_at IS NOT NULL
   AND clock_timestamp() - last_true_at >= $1::interval
RETURNING id, name, subject, severity, detail, opened_at, closed_at`

// What was true for a moment only was never an incident.
const incidentForgetSQL = `
DELETE FROM incidents
 WHERE closed_at IS NULL
   AND opened_at IS NULL
   AND NOT (name || '/' || subject = ANY($1::text[]))`

const incidentOpenListSQL = `
SELECT id,
       name,
       subject,
       severity,
       detail,
       opened_at,
       closed_at
  FROM incidents
 WHERE closed_at IS NULL
   AND opened_at IS NOT NULL
 ORDER BY opened_at, id`

const sampleAddSQL = `
INSERT INTO watch_samples (tier, depth)
SELECT t.tier,
       t.depth
  FROM unnest($1::text[], $2::integer[]) AS t(tier, depth)`

const sampleForgetSQL = `
DELETE FROM watch_samples
 WHERE at < clock_timestamp() - interval '1 hour'`

// The sample nearest to each instant, none when it is more than 2 minutes off.
const sampleHistorySQL = `
SELECT t.tier,
       b.minutes,
       coalesce((SELECT s.depth
                   FROM watch_samples s
                  WHERE s.tier = t.tier
                    AND s.at <= clock_timestamp() - make_interval(mins => b.minutes)
                    AND s.at >= clock_timestamp() - make_interval(mins => b.minutes + 2)
                  ORDER BY s.at DESC
                  LIMIT 1), -1)::integer AS depth
  FROM unnest($1::text[]) AS t(tier)
 CROSS JOIN (VALUES (5), (10), (15)) AS b(minutes)`

// apply records what is true now and returns what began and what ended. Two
// processes at once are kept apart by the unique index and the conditions: each
// change is returned to one of them.
func apply(ctx context.Context, tx pgx.Tx, now []Condition) (began, ended []Incident, err error) {
	names := []string{}
	for _, c := range now {
		names = append(names, c.Name+"/"+c.Subject)
		if _, err := tx.Exec(ctx, incidentSeenSQL, c.Name, c.Subject, string(c.Severity), c.Detail); err != nil {
			return nil, nil, fmt.Errorf("record incident %s: %w", c.Name, err)
		}
		opened, err := incidents(ctx, tx, incidentOpenIfLastedSQL, c.Name, c.Subject, c.For)
		if err != nil {
			return nil, nil, err
		}
		for i := range opened {
			opened[i].Args = c.Args
		}
		began = append(began, opened...)
	}
	if _, err := tx.Exec(ctx, incidentForgetSQL, names); err != nil {
		return nil, nil, fmt.Errorf("forget passing conditions: %w", err)
	}
	ended, err = incidents(ctx, tx, incidentCloseIfQuietSQL, quiet)
	return began, ended, err
}

func incidents(ctx context.Context, db Reader, query string, args ...any) ([]Incident, error) {
	rows, err := db.Query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("incidents: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (Incident, error) {
		var i Incident
		var closed *time.Time
		err := r.Scan(&i.ID, &i.Name, &i.Subject, &i.Severity, &i.Detail, &i.OpenedAt, &closed)
		if closed != nil {
			i.ClosedAt = *closed
		}
		return i, err
	})
	if err != nil {
		return nil, fmt.Errorf("incidents: %w", err)
	}
	return list, nil
}

func history(ctx context.Context, db Reader) (History, error) {
	tiers := []string{}
	for _, t := range queue.Tiers() {
		tiers = append(tiers, string(t))
	}
	rows, err := db.Query(ctx, sampleHistorySQL, tiers)
	if err != nil {
		return nil, fmt.Errorf("depths of before: %w", err)
	}
	h := History{}
	var tier queue.Tier
	var minutes, depth int
	_, err = pgx.ForEachRow(rows, []any{&tier, &minutes, &depth}, func() error {
		past := h[tier]
		past[minutes/5-1] = depth
		h[tier] = past
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("depths of before: %w", err)
	}
	return h, nil
}

func sample(ctx context.Context, tx pgx.Tx, lanes []Lane) error {
	tiers, depths := make([]string, len(lanes)), make([]int, len(lanes))
	for i, l := range lanes {
		tiers[i], depths[i] = string(l.Tier), l.Depth
	}
	if _, err := tx.Exec(ctx, sampleAddSQL, tiers, depths); err != nil {
		return fmt.Errorf("sample depths: %w", err)
	}
	if _, err := tx.Exec(ctx, sampleForgetSQL); err != nil {
		return fmt.Errorf("forget samples: %w", err)
	}
	return nil
}
