package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue/failpoint"
)

// jobRetryIfLeasedSQL puts a job back. Without a delay given it waits 1, 4, 16 … s (at most a quarter of an
// hour), each ± 25 %.
const jobRetryIfLeasedSQL = `
WITH old AS MATERIALIZED (
  SELECT ctid,
         lease_token,
         claimed_at,
         leased_by
    FROM jobs
   WHERE lease_token = $1
     AND state = 'leased'
     FOR UPDATE
), back AS (
  UPDATE jobs
     SET state = 'ready',
         lease_token = NULL,
         lease_until = NULL,
         leased_by = NULL,
         claim_nonce = NULL,
         claimed_at = NULL,
         failures = failures + $4,
         last_error = coalesce($3, last_error),
         run_at = clock_timestamp() + coalesce($5::interval,
                  make_interval(secs => least(power(4, least(failures, 10)), 900) * (0.75 + random() / 2)))
   WHERE ctid = (SELECT ctid FROM old)
  RETURNING id,
            kind
), noted AS (
  INSERT INTO job_attempts (job_id, lease_token, claimed_at, leased_by, kind, outcome, error)
  SELECT back.id,
         old.lease_token,
         old.claimed_at,
         old.leased_by,
         back.kind,
         $2,
         $3
    FROM back,
         old
)
SELECT id
  FROM back`

// jobArchiveIfLeasedSQL moves a job to the archive and marks its intents without outcome unknown. The job's row
// is taken before the ledger's, as everywhere.
const jobArchiveIfLeasedSQL = `
WITH gone AS (
  DELETE FROM jobs
   WHERE lease_token = $1
     AND state = 'leased'
  RETURNING ` + archivedJob + `,
            claimed_at
), doubt AS (
  UPDATE effects
     SET state = 'unknown',
         outcome_at = clock_timestamp(),
         error = $5
    FROM gone
   WHERE effects.job_id = gone.id
     AND effects.state = 'intent'
), noted AS (
  INSERT INTO job_attempts (job_id, lease_token, claimed_at, leased_by, kind, outcome, error)
  SELECT id,
         lease_token,
         claimed_at,
         leased_by,
         kind,
         $2,
         $5
    FROM gone
)
INSERT INTO ` + archiveOf + `)
SELECT ` + archivedJob + `,
       $3,
       $4,
       $5
  FROM gone
RETURNING job_id`

// verdict is what becomes of a job whose handler did not complete it.
type verdict struct {
	attempt  string         // job_attempts.outcome
	reason   Reason         // archive under this reason; empty: run again
	doubt    bool           // needs_reconcile
	complete bool           // courtesy: over, in spite of the doubt
	counts   bool           // a failure
	delay    *time.Duration // nil: backoff
	metric   string
}

// judge maps a handler's error to what becomes of the job. Whatever nobody classified is unknown if an effect
// was begun and has no outcome, and transient if not.
func (r *run) judge(err error) verdict {
	class, after := classOf(err)
	if r.effectOpen.Load() || r.inDoubt.Load() {
		class = classUnknown
	}
	switch class {
	case classLater:
		return verdict{attempt: "snoozed", delay: &after, metric: outcomeRetried}
	case classRateLimited:
		return verdict{attempt: "rate_limited", delay: &after, metric: outcomeRetried}
	case classPermanent:
		return verdict{attempt: "permanent", reason: ReasonPermanent, metric: outcomePermanent}
	case classUnknown:
		if r.spec.class == Courtesy {
			return verdict{attempt: "unknown", complete: true, metric: outcomeCompleted}
		}
		return verdict{attempt: "unknown", reason: ReasonUnconfirmed, doubt: true, metric: outcomeUnconfirmed}
	case classNone, classTransient:
	}
	if r.failures >= r.spec.maxFailures {
		return verdict{attempt: "transient", reason: ReasonExhausted, metric: outcomeExhausted}
	}
	return verdict{attempt: "transient", counts: true, metric: outcomeRetried}
}

// fail writes down what became of a job whose handler did not complete it, and tries until the database
// answers, the lease is lost or the engine gives up.
func (r *run) fail(err error) {
	if err == nil {
		err = ErrInDoubt // a handler that swallowed it
	}
	if errors.Is(err, ErrLeaseLost) {
		r.ended(outcomeLeaseLost)
		return
	}
	v := r.judge(err)
	text := r.engine.redact(err.Error())
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		werr := r.apply(v, text)
		if werr == nil || errors.Is(werr, ErrLeaseLost) {
			r.logEnd(v, text, werr)
			return
		}
		r.engine.log.Warn().Err(werr).Int64("job", r.id).Msg("failure not written yet")
		if !r.engine.pause(wait) {
			return
		}
	}
}

func (r *run) logEnd(v verdict, text string, err error) {
	if err != nil {
		r.ended(outcomeLeaseLost)
		return
	}
	r.ended(v.metric)
	ev := r.engine.log.Info() //nolint:zerologlint // sent below
	if v.reason != "" {
		ev = r.engine.log.Warn().Str("reason", string(v.reason)) //nolint:zerologlint // sent below
	}
	r.numbers(ev).Str("attempt", v.attempt).Int("failures", r.failures).Str("error", text).Msg("job did not complete")
}

func (r *run) apply(v verdict, text string) error {
	ctx, cancel := r.engine.writeContext()
	defer cancel()
	failpoint.Hit("failure-commit")
	err := pgx.BeginFunc(ctx, r.engine.pool, func(tx pgx.Tx) error { return r.applyTx(ctx, tx, v, text) })
	failpoint.Hit("failure-committed")
	return err
}

func (r *run) applyTx(ctx context.Context, tx pgx.Tx, v verdict, text string) error {
	var row pgx.Row
	switch {
	case v.complete:
		return r.completeInDoubtTx(ctx, tx, text)
	case v.reason != "":
		row = tx.QueryRow(ctx, jobArchiveIfLeasedSQL, r.token, v.attempt, v.reason, v.doubt, text)
	default:
		row = tx.QueryRow(ctx, jobRetryIfLeasedSQL, r.token, v.attempt, text, boolInt(v.counts), v.delay)
	}
	var id int64
	err := row.Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrLeaseLost
	}
	if err != nil {
		return fmt.Errorf("end job %d: %w", r.id, err)
	}
	return nil
}

// effectDoubtIfIntentSQL closes the books on the effects of a courtesy job that ends in doubt.
const effectDoubtIfIntentSQL = `
WITH doubt AS (
  UPDATE effects
     SET state = 'unknown',
         outcome_at = clock_timestamp(),
         error = $3
   WHERE job_id = $1
     AND lease_token = $2
     AND state = 'intent'
)
INSERT INTO job_attempts (job_id, lease_token, kind, outcome, error)
VALUES ($1, $2, $4, 'unknown', $3)`

func (r *run) completeInDoubtTx(ctx context.Context, tx pgx.Tx, text string) error {
	if err := r.deleteTx(ctx, tx); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, effectDoubtIfIntentSQL, r.id, r.token, text, r.kind)
	return err
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// jobReleaseIfLeasedSQL hands untouched jobs back: nothing is counted.
const jobReleaseIfLeasedSQL = `
UPDATE jobs
   SET state = 'ready',
       lease_token = NULL,
       lease_until = NULL,
       leased_by = NULL,
       claim_nonce = NULL,
       claimed_at = NULL,
       run_at = greatest(run_at, clock_timestamp() + $2::interval)
 WHERE lease_token = ANY ($1::bigint[])
   AND state = 'leased'`

// handBack returns jobs whose handlers did not begin anything, and says how many still were theirs.
func (e *Engine) handBack(runs []*run, delay time.Duration) (n int64) {
	if len(runs) == 0 {
		return 0
	}
	tokens := make([]int64, len(runs))
	for i, r := range runs {
		tokens[i] = r.token
		r.finished.Store(true)
	}
	ctx, cancel := e.writeContext()
	defer cancel()
	done, err := e.pool.Exec(ctx, jobReleaseIfLeasedSQL, tokens, delay)
	if err != nil {
		e.log.Warn().Err(err).Int("jobs", len(runs)).Msg("leases not handed back; they will expire")
	}
	return done.RowsAffected()
}
