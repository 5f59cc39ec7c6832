package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Timetable says when a schedule fires. Every makes one.
type Timetable struct{ every time.Duration }

// String returns the timetable as it is stored, e.g. "every 5m0s".
func (t Timetable) String() string { return "every " + t.every.String() }

// Every fires at the multiples of d since 1970 UTC, so that all processes agree. d is a second or more.
func Every(d time.Duration) Timetable {
	if d < time.Second {
		panic("queue: a schedule fires once a second at most")
	}
	return Timetable{every: d}
}

// latest returns the newest fire time that is not after now.
func (t Timetable) latest(now time.Time) time.Time {
	return time.Unix(0, now.UnixNano()/int64(t.every)*int64(t.every)).UTC()
}

// CatchUp says what happens to fire times that nobody was there for.
type CatchUp string

const (
	// CatchUpLast runs the latest missed time.
	CatchUpLast CatchUp = "last"
	// CatchUpNone runs only what is due within a minute.
	CatchUpNone CatchUp = "none"
)

const catchUpGrace = time.Minute

// schedule is recurring work; (name, fire time) makes each run once.
type schedule struct {
	name    string
	kind    string
	when    Timetable
	catchUp CatchUp
	enqueue func(ctx context.Context, tx pgx.Tx, fireAt time.Time) (Submission, error)
}

// Schedule makes k run by a timetable; args builds the payload of one fire time, and k.Key should tell fire
// times apart. It panics on a duplicate name.
func Schedule[A any](r *Registry, name string, when Timetable, catchUp CatchUp, k Kind[A], args func(fireAt time.Time) A) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.schedules[name] != nil {
		panic(fmt.Sprintf("queue: schedule %s registered twice", name))
	}
	r.schedules[name] = &schedule{
		name: name, kind: k.Name, when: when, catchUp: catchUp,
		enqueue: func(ctx context.Context, tx pgx.Tx, fireAt time.Time) (Submission, error) {
			return k.EnqueueTx(ctx, tx, args(fireAt))
		},
	}
}

const schedulePublishSQL = `
INSERT INTO schedules AS s (name, spec, kind, catch_up)
VALUES ($1, $2, $3, $4)
    ON CONFLICT (name) DO UPDATE
   SET spec = excluded.spec,
       kind = excluded.kind,
       catch_up = excluded.catch_up
 WHERE (s.spec, s.kind, s.catch_up) IS DISTINCT FROM (excluded.spec, excluded.kind, excluded.catch_up)`

func (e *Engine) publishSchedules(ctx context.Context) error {
	for _, s := range e.registry.schedules {
		if _, err := e.pool.Exec(ctx, schedulePublishSQL, s.name, s.when.String(), s.kind, s.catchUp); err != nil {
			return fmt.Errorf("publish schedule %s: %w", s.name, err)
		}
	}
	return nil
}

// scheduleLastSQL gives the database's clock and since when a schedule's fire times are not yet run. Where the clock
// was ahead and is put right, times to come have run, or the schedule is from such a time: they do not run again, and do
// not silence what comes before them.
const scheduleLastSQL = `
SELECT s.name,
       clock_timestamp(),
       coalesce(greatest(CASE WHEN s.since <= now() THEN s.since END,
                         (SELECT max(fire_at) FROM schedule_runs AS r WHERE r.name = s.name AND r.fire_at <= now())),
                now() - interval '1 minute')
  FROM schedules AS s
 WHERE s.enabled
   AND s.name = ANY ($1::text[])`

const scheduleRunInsertSQL = `
INSERT INTO schedule_runs (name, fire_at)
VALUES ($1, $2)
    ON CONFLICT (name, fire_at) DO NOTHING`

const scheduleRunJobSQL = `
UPDATE schedule_runs
   SET job_id = $3
 WHERE name = $1
   AND fire_at = $2`

// scheduleMost bounds how long the scheduler sleeps: a clock that jumps is noticed.
const scheduleMost = 30 * time.Second

func (e *Engine) scheduleLoop(ctx context.Context) {
	if len(e.registry.schedules) == 0 {
		return
	}
	for wait := time.Duration(0); e.pauseCtx(ctx, wait); {
		next, err := e.fire(ctx)
		if err != nil && ctx.Err() == nil {
			e.log.Warn().Err(err).Msg("schedules not run")
		}
		wait = min(max(next, 50*time.Millisecond), scheduleMost)
	}
}

// fire enqueues what is due and returns how long nothing will be.
func (e *Engine) fire(ctx context.Context) (next time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	next = scheduleMost
	err = pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		var mine bool
		if err := tx.QueryRow(ctx, tryLockSQL, lockSchedules).Scan(&mine); err != nil {
			return err
		}
		if !mine {
			next = time.Second
			return nil
		}
		due, err := e.dueSchedules(ctx, tx)
		if err != nil {
			return err
		}
		for _, d := range due {
			if err := d.run(ctx, tx); err != nil {
				return fmt.Errorf("schedule %s: %w", d.name, err)
			}
			next = min(next, d.when.latest(d.now).Add(d.when.every).Sub(d.now))
		}
		return nil
	})
	return next, err
}

// dueSchedule is a schedule with the database's clock and the last time that was run.
type dueSchedule struct {
	*schedule
	now, last time.Time
}

func (e *Engine) dueSchedules(ctx context.Context, tx pgx.Tx) ([]dueSchedule, error) {
	var names []string
	for name := range e.registry.schedules {
		names = append(names, name)
	}
	rows, err := tx.Query(ctx, scheduleLastSQL, names)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var due []dueSchedule
	for rows.Next() {
		var (
			name string
			d    dueSchedule
		)
		if err := rows.Scan(&name, &d.now, &d.last); err != nil {
			return nil, err
		}
		d.schedule = e.registry.schedules[name]
		due = append(due, d)
	}
	return due, rows.Err()
}

// run enqueues the job of the fire time that is due, once in all processes.
func (d dueSchedule) run(ctx context.Context, tx pgx.Tx) error {
	at, due := d.due()
	if !due {
		return nil
	}
	tag, err := tx.Exec(ctx, scheduleRunInsertSQL, d.name, at)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	sub, err := d.enqueue(ctx, tx, at)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, scheduleRunJobSQL, d.name, at, sub.JobID)
	return err
}

// due returns the fire time to run now: the latest one, if it was not run yet and is not missed for good.
func (d dueSchedule) due() (at time.Time, due bool) {
	at = d.when.latest(d.now)
	if !at.After(d.last) || d.catchUp == CatchUpNone && d.now.Sub(at) > catchUpGrace {
		return time.Time{}, false
	}
	return at, true
}
