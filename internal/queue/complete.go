package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/postonce/postonce/internal/queue/failpoint"
)

// jobsDoneCTE is common to the statements that complete jobs: those leased under the tokens $1 leave the hot
// table for the history, and are `done` for the rest of the statement.
const jobsDoneCTE = `done AS (
  DELETE FROM jobs
   WHERE lease_token = ANY ($1::bigint[])
     AND state = 'leased'
  RETURNING id,
            lease_token,
            enqueued_at,
            claimed_at,
            failures,
            expiries,
            kind,
            key
)`

// historyFromDone is where they go.
const historyFromDone = `job_history (id, lease_token, enqueued_at, claimed_at, failures, expiries, kind, key)
SELECT id,
       lease_token,
       enqueued_at,
       claimed_at,
       failures,
       expiries,
       kind,
       key
  FROM done`

// jobCompleteIfLeasedSQL completes jobs by their tokens. Only the number of rows comes back: how many of the tokens
// still held a lease. Which ones is looked up (jobHistoryFindSQL) in the rare case that some did not.
const jobCompleteIfLeasedSQL = `
WITH ` + jobsDoneCTE + `
INSERT INTO ` + historyFromDone

// jobCompleteAndTellSQL is the same for callers that must know at once which tokens still held a lease.
const jobCompleteAndTellSQL = `
WITH ` + jobsDoneCTE + `, kept AS (
INSERT INTO ` + historyFromDone + `
)
SELECT lease_token
  FROM done`

// jobHistoryFindSQL answers "did it commit?" when the reply to a completion was lost.
const jobHistoryFindSQL = `
SELECT lease_token
  FROM job_history
 WHERE id = ANY ($1::bigint[])
   AND lease_token = ANY ($2::bigint[])
   AND finished_at > now() - interval '1 hour'`

// complete is the completion together with the domain's writes. The commit is the point at which all of it
// becomes true.
func (r *run) complete(ctx context.Context, fn func(context.Context, pgx.Tx) error) error {
	if r.inDoubt.Load() && r.spec.class == Strict {
		return ErrInDoubt
	}
	asked := false // the commit was sent
	err := pgx.BeginFunc(ctx, r.engine.pool, func(tx pgx.Tx) error {
		if err := r.deleteTx(ctx, tx); err != nil {
			return err
		}
		if fn != nil {
			if err := fn(ctx, tx); err != nil {
				return err
			}
		}
		failpoint.Hit("completion-commit")
		asked = true
		return nil
	})
	if err != nil {
		return r.notCompleted(ctx, err, asked)
	}
	failpoint.Hit("completion-committed")
	r.ended(outcomeCompleted)
	return nil
}

// notCompleted settles what an error from the completing transaction means: a lost lease, a lost reply to a
// commit that took place, or nothing done.
func (r *run) notCompleted(ctx context.Context, err error, asked bool) error {
	lost := errors.Is(err, ErrLeaseLost)
	if !lost && (!asked || isServerError(err)) {
		return fmt.Errorf("complete job %d: %w", r.id, err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	found, ferr := r.engine.inHistory(ctx, []int64{r.id}, []int64{r.token})
	switch {
	case ferr != nil:
		return fmt.Errorf("complete job %d: %w", r.id, errors.Join(err, ferr))
	case found[r.token]:
		r.ended(outcomeCompleted)
		return nil
	case lost:
		r.ended(outcomeLeaseLost)
		r.lost()
	}
	return fmt.Errorf("complete job %d: %w", r.id, err)
}

// deleteTx completes the job in tx. ErrLeaseLost: it is no longer this execution's.
func (r *run) deleteTx(ctx context.Context, tx pgx.Tx) error {
	tag, err := tx.Exec(ctx, jobCompleteIfLeasedSQL, []int64{r.token})
	if err == nil && tag.RowsAffected() == 0 {
		return ErrLeaseLost
	}
	return err
}

// inHistory returns which of the tokens completed their jobs.
func (e *Engine) inHistory(ctx context.Context, ids, tokens []int64) (map[int64]bool, error) {
	rows, err := e.pool.Query(ctx, jobHistoryFindSQL, ids, tokens)
	if err != nil {
		return nil, err
	}
	return tokenSet(rows, len(tokens))
}

// tokens is a set of lease tokens, sorted.
type tokens []int64

// tokensOf takes list over and sorts it.
func tokensOf(list []int64) tokens {
	slices.Sort(list)
	return list
}

func (t tokens) has(token int64) bool {
	_, found := slices.BinarySearch(t, token)
	return found
}

func tokenSet(rows pgx.Rows, n int) (map[int64]bool, error) {
	defer rows.Close()
	set := make(map[int64]bool, n)
	for rows.Next() {
		var token int64
		if err := rows.Scan(&token); err != nil {
			return nil, err
		}
		set[token] = true
	}
	return set, rows.Err()
}

// acknowledge completes a batch of jobs whose handlers returned nil. It tries again until the database answers
// or the engine gives up; the slots are held meanwhile.
func (l *lane) acknowledge(runs []*run) {
	tokens := make([]int64, len(runs))
	for i, r := range runs {
		tokens[i] = r.token
	}
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		done, err := l.completeBatch(runs, tokens)
		if err == nil {
			l.settle(runs, done)
			return
		}
		l.engine.log.Warn().Err(err).Int("jobs", len(runs)).Msg("completion not written yet")
		if !l.engine.pause(wait) {
			l.release(len(runs)) // the leases expire; the reaper decides
			return
		}
	}
}

// completeBatch returns the tokens that are complete; nil: all of them.
func (l *lane) completeBatch(runs []*run, tokens []int64) (map[int64]bool, error) {
	ctx, cancel := l.engine.writeContext()
	defer cancel()
	failpoint.Hit("ack-commit")
	var done pgconn.CommandTag
	err := l.use(ctx, func(db writer) (err error) {
		done, err = db.Exec(ctx, jobCompleteIfLeasedSQL, tokens)
		return err
	})
	if err != nil {
		return nil, err
	}
	failpoint.Hit("ack-committed")
	if done.RowsAffected() == int64(len(tokens)) {
		return nil, nil
	}
	// Some were fenced, or an earlier try committed and its reply was lost, or the handler completed the job in a
	// transaction of its own: the history knows.
	ids := make([]int64, len(runs))
	for i, r := range runs {
		ids[i] = r.id
	}
	return l.engine.inHistory(ctx, ids, tokens)
}

// settle frees the slots of a written batch; done is nil when all of it is.
func (l *lane) settle(runs []*run, done map[int64]bool) {
	ordered, now := false, time.Now()
	l.drop(runs...)
	for _, r := range runs {
		ordered = ordered || r.ordering != ""
		if done == nil || done[r.token] {
			r.count(outcomeCompleted, now)
		} else {
			r.count(outcomeLeaseLost, now)
			l.engine.log.Warn().Int64("job", r.id).Str("kind", r.kind).Msg("completion refused: lease lost")
		}
	}
	if ordered {
		l.rescan()
	}
	l.release(len(runs))
}
