package queue

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue/failpoint"
)

// Advisory locks save work only; the constraints make it right. Elsewhere they may be left out.
const (
	lockReaper    = 7261001
	lockSchedules = 7261002
	lockJanitor   = 7261003
)

const tryLockSQL = `SELECT pg_try_advisory_xact_lock($1)`

// jobExpiredLockSQL is the reaper's first statement (R3).
const jobExpiredLockSQL = `
SELECT id
  FROM jobs
 WHERE state = 'leased'
   AND lease_until < clock_timestamp()
 ORDER BY lease_token
 LIMIT 200
   FOR UPDATE SKIP LOCKED`

// jobReapIfExpiredSQL is the reaper's second statement: its snapshot is newer than the locks, so it sees every
// intent that was committed before them, and none can be committed after (R2 needs the row's lock).
const jobReapIfExpiredSQL = `
WITH doubt AS (
  UPDATE effects
     SET state = 'unknown',
         outcome_at = clock_timestamp(),
         error = 'the worker was lost before it recorded the outcome'
   WHERE job_id = ANY ($1::bigint[])
     AND state = 'intent'
  RETURNING job_id
), unsettled AS (
  SELECT job_id
    FROM doubt
   UNION
  SELECT job_id
    FROM effects
   WHERE job_id = ANY ($1::bigint[])
     AND state = 'unknown'
), judged AS MATERIALIZED (
  SELECT j.id AS of_job,
         coalesce(k.class, 'strict') AS class,
         CASE
           WHEN u.job_id IS NOT NULL OR coalesce(k.policy, 'opaque') = 'opaque' THEN 'unconfirmed'
           WHEN j.expiries >= 1 THEN 'lease_lost_twice'
         END AS reason
    FROM jobs AS j
    LEFT JOIN job_kinds AS k ON k.name = j.kind
    LEFT JOIN unsettled AS u ON u.job_id = j.id
   WHERE j.id = ANY ($1::bigint[])
     AND j.state = 'leased'
     AND j.lease_until < clock_timestamp()
), noted AS (
  INSERT INTO job_attempts (job_id, lease_token, claimed_at, leased_by, kind, outcome)
  SELECT j.id,
         j.lease_token,
         j.claimed_at,
         j.leased_by,
         j.kind,
         'lease_expired'
    FROM jobs AS j
    JOIN judged ON judged.of_job = j.id
), gone AS (
  DELETE FROM jobs
   USING judged
   WHERE judged.of_job = jobs.id
     AND judged.reason IS NOT NULL
  RETURNING ` + archivedJob + `,
            last_error,
            judged.reason,
            judged.reason = 'unconfirmed' AND judged.class = 'courtesy' AS shrugged
), kept AS (
  INSERT INTO ` + archiveOf + archiveResolved + `)
  SELECT ` + archivedJob + `,
         reason,
         reason = 'unconfirmed' AND NOT shrugged,
         last_error,
         CASE WHEN shrugged THEN 'closed' ELSE 'open' END,
         CASE WHEN shrugged THEN clock_timestamp() END,
         CASE WHEN shrugged THEN 'the reaper' END,
         CASE WHEN shrugged THEN 'a courtesy in doubt closes by itself' END
    FROM gone
), returned AS (
  UPDATE jobs AS j
     SET state = 'ready',
         expiries = j.expiries + 1,
         lease_token = NULL,
         lease_until = NULL,
         leased_by = NULL,
         claim_nonce = NULL,
         claimed_at = NULL,
         run_at = clock_timestamp() + make_interval(secs => $2 * (1 + random()))
    FROM judged
   WHERE judged.of_job = j.id
     AND judged.reason IS NULL
  RETURNING j.id
)
SELECT (SELECT count(*) FROM returned),
       (SELECT count(*) FROM gone)`

// returnDelay is how long an expired job rests, in seconds, times 1 to 2.
const returnDelay = 1.0

func (e *Engine) reapLoop(ctx context.Context) {
	for e.pauseCtx(ctx, e.cfg.ReapEvery) {
		for {
			n, err := e.reap(ctx)
			if err != nil && ctx.Err() == nil {
				e.log.Warn().Err(err).Msg("reaping failed")
			}
			if err != nil || n < 200 {
				break
			}
		}
	}
}

// reap ends up to 200 expired leases and returns how many.
func (e *Engine) reap(ctx context.Context) (n int, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	err = pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		var mine bool
		if err := tx.QueryRow(ctx, tryLockSQL, lockReaper).Scan(&mine); err != nil || !mine {
			return err
		}
		n, err = e.reapTx(ctx, tx)
		return err
	})
	return n, err
}

func (e *Engine) reapTx(ctx context.Context, tx pgx.Tx) (int, error) {
	rows, err := tx.Query(ctx, jobExpiredLockSQL)
	if err != nil {
		return 0, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	failpoint.Hit("reaper-locked")
	if failpoint.Control {
		return len(ids), controlReap(ctx, tx, ids)
	}
	var returned, archived int
	if err := tx.QueryRow(ctx, jobReapIfExpiredSQL, ids, e.cfg.returnDelay()).Scan(&returned, &archived); err != nil {
		return 0, fmt.Errorf("judge %d expired jobs: %w", len(ids), err)
	}
	failpoint.Hit("reaper-commit")
	e.metrics.expired.Add(float64(returned + archived))
	e.log.Warn().Int("returned", returned).Int("archived", archived).Msg("leases expired")
	return len(ids), nil
}

func (c *Config) returnDelay() float64 {
	return min(returnDelay, c.ReapEvery.Seconds())
}
