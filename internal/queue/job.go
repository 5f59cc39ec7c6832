package queue

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"
)

// Job is one execution of a job of a Kind[A].
type Job[A any] struct {
	Args       A
	ID         int64
	Key        string
	Kind       string
	Failures   int // transient failures so far
	Generation int // how often an operator replayed it

	run *run
}

// Complete opens a transaction, deletes the job under its token, runs fn for the domain's writes and children,
// and commits. fn's error rolls everything back and is returned. ErrLeaseLost: fn's writes were not committed.
func (j *Job[A]) Complete(ctx context.Context, fn func(ctx context.Context, tx pgx.Tx) error) error {
	return j.run.complete(ctx, fn)
}

// Perform makes one outside effect through the ledger.
//
// Confirmed comes with a nil error (Prior: the ledger knew already, Call was not made). Refused comes with an
// error of its class, Unknown with ErrInDoubt; a handler that has nothing to add returns the error. After an
// Unknown the job is over: archived as unconfirmed, or completed if its class is Courtesy.
func (j *Job[A]) Perform(ctx context.Context, e Effect) (Outcome, error) {
	return j.run.perform(ctx, e)
}

// Origin returns who asked for this job: its parent, the update, the person.
func (j *Job[A]) Origin() Origin { return j.run.origin }

// RunAt returns when the job was due.
func (j *Job[A]) RunAt() time.Time { return j.run.runAt }

// run is one execution of one job, whatever its payload. Its fields are set by the claim and read only, except
// for the state at the end.
type run struct {
	engine *Engine
	lane   *lane
	spec   *spec

	id         int64
	token      int64
	kind       string
	key        string
	payload    json.RawMessage
	ordering   string
	failures   int
	expiries   int
	generation int
	runAt      time.Time
	claimedAt  time.Time // the database's clock
	startedAt  time.Time // this process's clock, for durations only
	lease      time.Duration
	origin     Origin

	ctx        handlerContext
	passing    atomic.Bool  // the lower tiers hold back for it
	finished   atomic.Bool  // the job's row is no longer this execution's: completed, failed, archived or lost
	performing atomic.Bool  // inside Perform
	effectOpen atomic.Bool  // an intent was committed and its outcome is not
	inDoubt    atomic.Bool  // an effect of this job is in doubt
	renewedAt  atomic.Int64 // the engine's age at the last renewal; owned by the keeper after the start
	counted    atomic.Bool  // its end is in the metrics
	overran    atomic.Bool  // the first lease was not enough
}

// lost stops the execution: its lease belongs to somebody else or to nobody.
func (r *run) lost() {
	r.finished.Store(true)
	r.ctx.stop(ErrLeaseLost)
}

// ended counts the end of an execution, once, and forgets its lease.
func (r *run) ended(outcome string) {
	r.lane.drop(r)
	r.count(outcome, time.Now())
}

func (r *run) count(outcome string, now time.Time) {
	r.finished.Store(true)
	if !r.counted.CompareAndSwap(false, true) {
		return
	}
	r.engine.metrics.ended(r, outcome, now)
	if outcome == outcomeCompleted {
		r.logDone(now)
	}
}

// logDone writes the numbers of a request and of its job in one line. What a person or a program asked for is always
// logged; what follows from that can be found from there (`jobs show`), and is logged for debugging only.
func (r *run) logDone(now time.Time) {
	ev := r.engine.log.Debug() //nolint:zerologlint // sent below
	if o := r.origin; o.JobID == 0 && (o.UpdateID != 0 || o.RequestID != "") {
		ev = r.engine.log.Info() //nolint:zerologlint // sent below
	}
	r.numbers(ev).Dur("took", now.Sub(r.startedAt)).Msg("job done")
}

// numbers adds what a job is found by: its own number, and the numbers of what asked for it.
func (r *run) numbers(ev *zerolog.Event) *zerolog.Event {
	if ev == nil {
		return nil
	}
	ev = ev.Int64("job", r.id).Str("kind", r.kind).Str("key", r.key)
	for _, n := range []struct {
		name string
		id   int64
	}{{"parent", r.origin.JobID}, {"update", r.origin.UpdateID}, {"person", r.origin.PersonID}} {
		if n.id != 0 {
			ev = ev.Int64(n.name, n.id)
		}
	}
	if r.origin.RequestID != "" {
		ev = ev.Str("request", r.origin.RequestID)
	}
	return ev
}
