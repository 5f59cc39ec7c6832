package watch

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

// countLimit bounds every count: beyond it a figure means "at least so many".
const countLimit = 10_000

// Lane is how one tier stands.
type Lane struct {
	Tier      queue.Tier
	Depth     int           // jobs that could run now, at most countLimit
	OldestAge time.Duration // how long the first of them waits; 0 when none does
}

// Figures is one look at the database. Counts stop at countLimit.
type Figures struct {
	At                  time.Time     // the database's clock
	ClockAhead          time.Duration // how far that is ahead of this machine's
	Lanes               []Lane
	DeadRows            int64         // in jobs, as the statistics estimate
	OldestSnapshot      time.Duration // of any transaction that keeps dead rows from being removed
	DatabaseBytes       int64
	Completed, Archived int // jobs of the last 15 minutes
	LeasesLost          int // expired leases of the last 15 minutes
	StrictInDoubt       int // effects whose job lies open in the archive
	CourtesyInDoubt     int // of the last day
	Sources             map[string]int
	Drafts              map[string]int
	ModelTokensToday    int64 // used and reserved since midnight UTC
	ChannelsHeld        int
	UpdatesStopped      string // what keeps Telegram's updates from coming; "" if nothing does
}

const laneFiguresSQL = `
SELECT t.tier,
       (SELECT count(*)
          FROM (SELECT FROM jobs j
                 WHERE j.state = 'ready'
                   AND j.tier = t.tier
                   AND j.run_at <= now()
                   AND j.kind NOT IN (SELECT k.name FROM job_kinds k WHERE k.paused)
                 LIMIT $2) ready)::integer AS depth,
       coalesce(extract(epoch FROM now() -
         (SELECT j.run_at
            FROM jobs j
           WHERE j.state = 'ready'
             AND j.tier = t.tier
             AND j.run_at <= now()
             AND j.kind NOT IN (SELECT k.name FROM job_kinds k WHERE k.paused)
           ORDER BY j.run_at
           LIMIT 1)), 0)::double precision AS oldest
  FROM unnest($1::text[]) AS t(tier)`

// A snapshot is held by an open transaction, a prepared one, or a replication
// slot; only the first has an age that is known in seconds.
const databaseFiguresSQL = `
SELECT clock_timestamp() AS at,
       coalesce((SELECT n_dead_tup
                   FROM pg_stat_user_tables
                  WHERE relname = 'jobs'
                    AND schemaname = current_schema()), 0) AS dead_rows,
       greatest(
         coalesce((SELECT max(extract(epoch FROM clock_timestamp() - xact_start))
                     FROM pg_stat_activity
                    WHERE backend_xmin IS NOT NULL
                      AND backend_type IN ('client backend', 'walsender')), 0),
         coalesce((SELECT max(extract(epoch FROM clock_timestamp() - prepared))
                     FROM pg_prepared_xacts), 0))::double precision AS oldest_snapshot,
       pg_database_size(current_database()) AS bytes`

const workFiguresSQL = `
SELECT (SELECT count(*) FROM job_history h WHERE h.finished_at > now() - interval '15 min')::integer AS completed,
       (SELECT count(*) FROM job_archive a WHERE a.archived_at > now() - interval '15 min' AND a.reason <> 'cancelled')::integer AS archived,
       (SELECT count(*) FROM job_attempts t WHERE t.at > now() - interval '15 min' AND t.outcome = 'lease_expired')::integer AS leases_lost,
       (SELECT count(*)
          FROM job_archive a
          JOIN effects e ON e.job_id = a.job_id
         WHERE a.status = 'open'
           AND e.class = 'strict'
           AND e.state IN ('intent', 'unknown'))::integer AS strict_in_doubt,
       (SELECT count(*)
          FROM effects e
         WHERE e.state = 'unknown'
           AND e.class = 'courtesy'
           AND e.intent_at > now() - interval '1 day')::integer AS courtesy_in_doubt,
       (SELECT count(*) FROM restore_holds WHERE released_at IS NULL)::integer AS held,
       coalesce((SELECT t.what FROM update_troubles t ORDER BY t.since LIMIT 1), '') AS updates_stopped,
       (SELECT coalesce(sum(CASE WHEN m.state IN ('reserved', 'unknown') THEN m.reserved
                                 ELSE m.tokens_in + m.tokens_out END), 0)
          FROM model_calls m
         WHERE m.made_at >= date_trunc('day', now(), 'UTC')) AS model_tokens`

// Unwell sources are few and have an index. Healthy ones are counted up to the
// limit; beyond it the planner's statistics say how many there are in all, so that
// the share of the failing ones stays right whatever the size.
const stateFiguresSQL = `
WITH unwell AS MATERIALIZED (
  SELECT CASE WHEN state <> 'active' THEN state ELSE 'failing' END AS state,
         count(*)::integer AS n
    FROM sources
   WHERE state <> 'active'
      OR failures >= 3
   GROUP BY 1
), healthy AS (
  SELECT count(*)::integer AS n
    FROM (SELECT FROM sources
           WHERE state = 'active'
             AND failures < 3
           LIMIT $1) h
)
SELECT 'source' AS what,
       state,
       n
  FROM unwell
 WHERE state <> 'merged'
 UNION ALL
SELECT 'source',
       'healthy',
       CASE WHEN n < $1 THEN n
            ELSE greatest(n, (SELECT reltuples FROM pg_class WHERE oid = 'sources'::regclass)
                           - (SELECT coalesce(sum(u.n), 0) FROM unwell u))::integer END
  FROM healthy
 UNION ALL
SELECT 'draft' AS what,
       s.state,
       (SELECT count(*)
          FROM (SELECT FROM drafts d
                 WHERE d.state = s.state
                   AND d.state IN ('proposed', 'scheduled', 'failed', 'unconfirmed')
                 LIMIT $1) waiting)::integer AS n
  FROM (VALUES ('proposed'), ('scheduled'), ('failed'), ('unconfirmed')) AS s(state)`

// Reader is what figures are read from: a pool or a transaction.
type Reader interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Read looks at the database. It costs a few milliseconds on a healthy one,
// whatever its size.
func Read(ctx context.Context, db Reader) (Figures, error) {
	f := Figures{Sources: map[string]int{}, Drafts: map[string]int{}}
	steps := []func(context.Context, Reader) error{f.readLanes, f.readDatabase, f.readWork, f.readStates}
	for _, step := range steps {
		if err := step(ctx, db); err != nil {
			return Figures{}, fmt.Errorf("read figures: %w", err)
		}
	}
	return f, nil
}

func (f *Figures) readLanes(ctx context.Context, db Reader) error {
	tiers := []string{}
	for _, t := range queue.Tiers() {
		tiers = append(tiers, string(t))
	}
	rows, err := db.Query(ctx, laneFiguresSQL, tiers, countLimit)
	if err != nil {
		return err
	}
	f.Lanes, err = pgx.CollectRows(rows, func(r pgx.CollectableRow) (Lane, error) {
		var l Lane
		var oldest float64
		err := r.Scan(&l.Tier, &l.Depth, &oldest)
		l.OldestAge = seconds(oldest)
		return l, err
	})
	return err
}

func (f *Figures) readDatabase(ctx context.Context, db Reader) error {
	var snapshot float64
	before := time.Now()
	err := db.QueryRow(ctx, databaseFiguresSQL).Scan(&f.At, &f.DeadRows, &snapshot, &f.DatabaseBytes)
	f.OldestSnapshot = seconds(snapshot)
	f.ClockAhead = f.At.Sub(before.Add(time.Since(before) / 2))
	return err
}

func (f *Figures) readWork(ctx context.Context, db Reader) error {
	return db.QueryRow(ctx, workFiguresSQL).Scan(&f.Completed, &f.Archived, &f.LeasesLost,
		&f.StrictInDoubt, &f.CourtesyInDoubt, &f.ChannelsHeld, &f.UpdatesStopped, &f.ModelTokensToday)
}

func (f *Figures) readStates(ctx context.Context, db Reader) error {
	rows, err := db.Query(ctx, stateFiguresSQL, countLimit)
	if err != nil {
		return err
	}
	var what, state string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&what, &state, &n}, func() error {
		if what == "source" {
			f.Sources[state] = n
		} else {
			f.Drafts[state] = n
		}
		return nil
	})
	return err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
