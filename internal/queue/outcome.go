package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue/failpoint"
)

// effectSettleManyIfIntentSQL is the group commit of outcomes that need nothing else, with the completion of
// those jobs that end with them. Jobs are taken before effects, as everywhere. It answers with one row, the tokens of
// the settled effects and of the completed jobs: a join of the two is guessed to be one row by one, and looped.
const effectSettleManyIfIntentSQL = `
WITH ` + jobsDoneCTE + `, kept AS (
INSERT INTO ` + historyFromDone + `
), settled AS (
  UPDATE effects
     SET state = u.state,
         outcome_at = clock_timestamp(),
         external_id = u.external_id,
         detail = u.detail,
         error = u.error
    FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::json[], $7::text[])
         AS u (token, key, state, external_id, detail, error)
   WHERE effects.effect_key = u.key
     AND effects.lease_token = u.token
     AND effects.state = 'intent'
     AND (SELECT count(*) FROM done) >= 0
  RETURNING u.token
)
SELECT (SELECT coalesce(array_agg(token), '{}') FROM settled),
       (SELECT coalesce(array_agg(lease_token), '{}') FROM done)`

// effectSettleIfOwnSQL settles one effect of this execution. It also settles what the reaper took for unknown:
// the answer to this very request is certain knowledge, however late.
const effectSettleIfOwnSQL = `
WITH old AS MATERIALIZED (
  SELECT effect_key,
         state
    FROM effects
   WHERE effect_key = $1
     AND lease_token = $2
     AND (state = 'intent' OR state = 'unknown' AND reconciled_by IS NULL)
     FOR UPDATE
)
UPDATE effects
   SET state = $3,
       outcome_at = clock_timestamp(),
       external_id = $4,
       detail = $5,
       error = $6
  FROM old
 WHERE effects.effect_key = old.effect_key
RETURNING old.state`

// jobArchiveSettleSQL takes the doubt from an archive row when no effect of its job is in doubt any more.
const jobArchiveSettleSQL = `
UPDATE job_archive
   SET needs_reconcile = false,
       status = CASE WHEN $2 THEN 'reconciled' ELSE status END,
       resolved_at = CASE WHEN $2 THEN clock_timestamp() END,
       resolved_by = CASE WHEN $2 THEN $3 END,
       resolution = $4
 WHERE job_id = $1
   AND status = 'open'
   AND NOT EXISTS (
         SELECT
           FROM effects
          WHERE effects.job_id = job_archive.job_id
            AND effects.state IN ('intent', 'unknown')
       )`

// told is an outcome on its way to the ledger.
type told struct {
	run       *run
	effect    Effect
	out       Outcome
	state     effectState
	extID     *string
	detail    []byte
	text      *string
	completes bool
	reply     chan toldReply
}

type toldReply struct {
	settled   bool
	completed bool
	err       error
}

func (r *run) tell(e Effect, out Outcome) *told {
	t := &told{run: r, effect: e, out: out, completes: e.Completes}
	var err error
	switch o := out.(type) {
	case Confirmed:
		t.state, t.extID = stateDone, nullText(o.ExternalID)
		if json.Valid(o.Detail) {
			t.detail = o.Detail
		}
	case Refused:
		t.state, err = stateNotDone, o.Err
	case Unknown:
		t.state, err = stateUnknown, o
	}
	t.completes = t.completes && t.state == stateDone
	if err != nil {
		t.text = nullText(r.engine.redact(err.Error()))
	}
	return t
}

// storeOutcome writes the outcome down and tries until the database answers or the engine gives up: what has
// happened must be recorded. ErrLeaseLost: the outcome is recorded, but the job is somebody else's by now.
func (r *run) storeOutcome(ctx context.Context, e Effect, out Outcome) error {
	ctx = context.WithoutCancel(ctx)
	t := r.tell(e, out)
	if e.After == nil && t.state != stateUnknown {
		if done, err := r.settleGrouped(t); done {
			return err
		}
	}
	var err error
	for try, wait := 0, 20*time.Millisecond; ; try, wait = try+1, min(2*wait, 2*time.Second) {
		if err = r.settleAlone(ctx, t); err == nil || errors.Is(err, ErrLeaseLost) {
			return err
		}
		if try >= 3 && t.effect.After != nil && isDomainError(err) {
			return r.settleWithoutDomain(ctx, t, err)
		}
		r.engine.log.Warn().Err(err).Int64("job", r.id).Str("effect", e.Key).Msg("outcome not written yet")
		if !r.engine.pause(wait) {
			return fmt.Errorf("outcome of %s: %w", e.Key, err)
		}
	}
}

// domainError is an error of Effect.After, as against one of the database's connection.
type domainError struct{ err error }

func (d *domainError) Error() string { return d.err.Error() }
func (d *domainError) Unwrap() error { return d.err }

func isDomainError(err error) bool {
	var d *domainError
	return errors.As(err, &d)
}

// settleWithoutDomain records what happened although the domain's change fails again and again. The job comes
// back, finds the effect done, and tries the domain's change anew.
func (r *run) settleWithoutDomain(ctx context.Context, t *told, cause error) error {
	bare := *t
	bare.effect.After, bare.completes = nil, false
	if err := r.settleAlone(ctx, &bare); err != nil {
		return err
	}
	return fmt.Errorf("after %s: %w", t.effect.Key, cause)
}

// settleGrouped is the fast way. done is false when the slow way has to find out what was the matter.
func (r *run) settleGrouped(t *told) (done bool, err error) {
	t.reply = make(chan toldReply, 1)
	r.lane.outcomes.Add(t)
	reply := <-t.reply
	if reply.err != nil || !reply.settled {
		return false, nil //nolint:nilerr // the slow way meets the error again, if it lasts
	}
	r.effectOpen.Store(false)
	if !t.completes {
		return true, nil
	}
	if !reply.completed {
		r.ended(outcomeLeaseLost)
		r.lost()
		return true, ErrLeaseLost
	}
	r.ended(outcomeCompleted)
	return true, nil
}

// flushOutcomes is the group commit of outcomes.
func (l *lane) flushOutcomes(ts []*told) {
	ctx, cancel := l.engine.writeContext()
	defer cancel()
	n := len(ts)
	owners, keys, states := make([]int64, n), make([]string, n), make([]string, n)
	extIDs, details, texts := make([]*string, n), make([][]byte, n), make([]*string, n)
	var completing []int64
	for i, t := range ts {
		owners[i], keys[i], states[i] = t.run.token, t.effect.Key, string(t.state)
		extIDs[i], details[i], texts[i] = t.extID, t.detail, t.text
		if t.completes {
			completing = append(completing, t.run.token)
		}
	}
	failpoint.Hit("outcome-commit")
	var settled, completed tokens
	err := l.use(ctx, func(db writer) (err error) {
		settled, completed, err = settleMany(ctx, grouped{db}, completing, owners, keys, states, extIDs, details, texts)
		return err
	})
	failpoint.Hit("outcome-committed")
	for _, t := range ts {
		t.reply <- toldReply{settled: settled.has(t.run.token), completed: completed.has(t.run.token), err: err}
	}
}

// settleMany returns the tokens whose effects were settled, and those whose jobs were completed.
func settleMany(ctx context.Context, db rowQuerier, args ...any) (settled, completed tokens, err error) {
	var effects, jobs []int64
	err = db.QueryRow(ctx, effectSettleManyIfIntentSQL, args...).Scan(&effects, &jobs)
	return tokensOf(effects), tokensOf(jobs), err
}

// settleAlone is one transaction for: job, effect, domain, archive.
func (r *run) settleAlone(ctx context.Context, t *told) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	lost, ends := false, ""
	err := pgx.BeginFunc(ctx, r.engine.pool, func(tx pgx.Tx) (err error) {
		lost, ends, err = r.settleTx(ctx, tx, t)
		failpoint.Hit("outcome-commit")
		return err
	})
	if err != nil {
		return err
	}
	failpoint.Hit("outcome-committed")
	r.effectOpen.Store(false)
	if t.state == stateUnknown {
		r.inDoubt.Store(true)
	}
	if lost {
		r.ended(outcomeLeaseLost)
		r.lost()
		return fmt.Errorf("effect %s: %w", t.effect.Key, ErrLeaseLost)
	}
	if ends != "" {
		r.ended(ends)
	}
	return nil
}

// settleTx takes the job's row first when the job ends with this outcome. lost: the job is not ours any more.
func (r *run) settleTx(ctx context.Context, tx pgx.Tx, t *told) (lost bool, ends string, err error) {
	// The effect is settled before the archive is told, but the job's row is locked first: the reaper's order.
	ends = r.endsWith(t)
	if ends != "" {
		if lost, err = r.lock(ctx, tx); err != nil {
			return false, "", err
		}
	}
	var old effectState
	err = tx.QueryRow(ctx, effectSettleIfOwnSQL, t.effect.Key, r.token, t.state, t.extID, t.detail, t.text).Scan(&old)
	if errors.Is(err, pgx.ErrNoRows) {
		return r.settledBefore(ctx, tx, t, ends)
	}
	if err != nil {
		return false, "", err
	}
	if t.effect.After != nil {
		if err = t.effect.After(ctx, tx, t.out); err != nil {
			return false, "", &domainError{err}
		}
	}
	if old == stateUnknown {
		_, err = tx.Exec(ctx, jobArchiveSettleSQL, r.id, t.completes, "the late answer", string(t.state))
		return true, "", err
	}
	if ends == "" || lost {
		return lost, "", nil
	}
	return false, ends, r.endTx(ctx, tx, t)
}

// settledBefore: an earlier try committed and its reply was lost, or a person settled it meanwhile.
func (r *run) settledBefore(ctx context.Context, tx pgx.Tx, t *told, ends string) (bool, string, error) {
	row, err := readLedger(ctx, tx, t.effect.Key)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, "", nil
	}
	if err != nil {
		return false, "", err
	}
	if row.token == r.token && row.state == t.state {
		return false, ends, nil
	}
	r.engine.log.Error().Str("effect", t.effect.Key).Int64("job", r.id).Str("outcome", string(t.state)).
		Str("ledger", string(row.state)).Msg("an outcome contradicts what was decided meanwhile")
	return true, "", nil
}

// endsWith returns the job's outcome if it ends in the transaction of this effect's outcome.
func (r *run) endsWith(t *told) string {
	switch {
	case t.completes:
		return outcomeCompleted
	case t.state != stateUnknown:
		return ""
	case r.spec.class == Courtesy:
		return outcomeCompleted
	default:
		return outcomeUnconfirmed
	}
}

func (r *run) endTx(ctx context.Context, tx pgx.Tx, t *told) error {
	if t.completes {
		return r.deleteTx(ctx, tx)
	}
	if r.spec.class == Courtesy {
		return r.completeInDoubtTx(ctx, tx, deref(t.text))
	}
	v := verdict{attempt: "unknown", reason: ReasonUnconfirmed, doubt: true}
	return r.applyTx(ctx, tx, v, deref(t.text))
}

const jobLockIfLeasedSQL = `
SELECT id
  FROM jobs
 WHERE lease_token = $1
   AND state = 'leased'
   FOR UPDATE`

// lock tells whether the lease is lost, and else holds the job's row.
func (r *run) lock(ctx context.Context, tx pgx.Tx) (lost bool, err error) {
	var id int64
	err = tx.QueryRow(ctx, jobLockIfLeasedSQL, r.token).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return true, nil
	}
	return false, err
}
