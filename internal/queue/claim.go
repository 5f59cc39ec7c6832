package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/postonce/postonce/internal/queue/failpoint"
)

// jobClaimSQL leases due jobs. now() and not clock_timestamp() in the condition: a volatile function is no
// index condition (27 ms against 0.04 ms with 100 k delayed rows). The lower bound steps over rows that were
// claimed before but cannot be vacuumed yet. A later job of an ordering value waits for every earlier one; that
// no two of a value are leased at once is a unique index, so two claimers cannot disagree. The kinds that are held
// back (paused, or unknown to this binary) are put together once a claim, and compared through array_position
// because the planner guesses next to no rows for <> ALL and then gives up LIMIT.
const jobClaimSQL = `
WITH shut AS MATERIALIZED (
  SELECT array_agg(x.name) AS kinds
    FROM (SELECT unnest($4::text[])
           UNION ALL
          SELECT name
            FROM job_kinds
           WHERE paused) AS x (name)
), due AS MATERIALIZED (
  SELECT j.ctid
    FROM jobs AS j
   WHERE j.state = 'ready'
     AND j.tier = $1
     AND j.run_at <= now()
     AND (j.run_at, j.id) >= ($2::timestamptz, $3::bigint)
     AND coalesce(array_position((SELECT kinds FROM shut), j.kind), 0) < 1
     AND (j.ordering IS NULL OR NOT job_waits(j.ordering, j.id))
   ORDER BY j.run_at,
            j.id
   LIMIT $5
     FOR UPDATE SKIP LOCKED
)
UPDATE jobs
   SET state = 'leased',
       lease_token = nextval('job_lease_seq'),
       claimed_at = clock_timestamp(),
       lease_until = clock_timestamp() + coalesce(($8::interval[])[array_position($7::text[], kind)], $10::interval),
       leased_by = $9,
       claim_nonce = $6
 WHERE ctid = ANY (ARRAY(SELECT ctid FROM due))
RETURNING ` + claimedColumns

// jobClaimFindSQL finds the claim whose reply was lost.
const jobClaimFindSQL = `
SELECT ` + claimedColumns + `
  FROM jobs
 WHERE state = 'leased'
   AND leased_by = $1
   AND claim_nonce = $2`

// bound is where a claimer's next scan may start.
type bound struct {
	runAt time.Time
	id    int64
}

// claim leases and takes in up to n due jobs of the lane's tier. A lost reply is looked up by the claim's nonce, and what
// even that misses is found by the keeper; neither is left to the reaper.
func (l *lane) claim(ctx context.Context, from bound, n int) ([]*run, error) {
	nonce := l.engine.nonces.Add(1)
	l.engine.keeper.expect(nonce)
	defer l.engine.keeper.forget(nonce) // only after the runs are known to the keeper
	of := l.leases()
	var runs []*run
	err := l.claims.use(ctx, func(db writer) error {
		rows, err := db.Query(ctx, jobClaimSQL, l.tier, from.runAt, from.id, l.engine.strange.kinds(), n, nonce,
			of.names, of.lengths, l.engine.worker, of.usual)
		if err != nil {
			return err
		}
		failpoint.Hit("claim-committed")
		runs, err = l.collect(rows)
		return err
	})
	if err == nil {
		return runs, nil
	}
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
		return nil, fmt.Errorf("claim %s: %w", l.tier, err)
	}
	runs, ferr := l.findClaim(ctx, nonce)
	if ferr != nil {
		return nil, fmt.Errorf("claim %s: %w (then: %w)", l.tier, err, ferr)
	}
	return runs, nil
}

func (l *lane) findClaim(ctx context.Context, nonce int64) ([]*run, error) {
	rows, err := l.engine.pool.Query(ctx, jobClaimFindSQL, l.engine.worker, nonce)
	if err != nil {
		return nil, err
	}
	return l.collect(rows)
}
