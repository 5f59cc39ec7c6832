package queue

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/rs/zerolog"
)

// turned is a time as it is read after somebody set the machine's clock by d: the wall moves, and what counts on
// from the start of the machine does not.
func turned(t time.Time, d time.Duration) time.Time {
	*(*int64)(unsafe.Pointer(&t)) += int64(d/time.Second) << 30 // time.Time's wall: 33 bits of seconds, 30 of nanoseconds
	return t
}

func TestLeasesAreRenewedWhereTheMachinesClockIsSet(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	q.enqueue("a")
	r := q.claim(1)[0]
	now := time.Now()
	if back := turned(now, -time.Hour); back.Unix() != now.Unix()-3600 || back.Sub(now) != 0 {
		t.Fatalf("the test's clock is not set: %v, %v", back, now)
	}
	for name, set := range map[string]time.Duration{"not": 0, "back": -time.Hour, "ahead": time.Hour} {
		if due := q.engine.keeper.due(turned(now, set)); len(due) != 0 {
			t.Errorf("clock set %s: renewed although nothing of its lease is over", name)
		}
		if due := q.engine.keeper.due(turned(now.Add(r.lease/2), set)); len(due) != 1 {
			t.Errorf("clock set %s: not renewed although half of its lease is over", name)
		}
	}
}

func TestSchedulesGoOnWhereTheDatabasesClockWasAhead(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	Schedule(q.engine.registry, "often", Every(time.Second), CatchUpNone, q.kind, func(at time.Time) num { return num{N: at.String()} })
	q.ok(q.engine.publishSchedules(t.Context()))
	// For a moment it was an hour later: the schedule is from then, and it ran then.
	q.exec(`UPDATE schedules SET since = clock_timestamp() + interval '59 min'`)
	q.exec(`INSERT INTO schedule_runs (name, fire_at) SELECT 'often', date_trunc('second', now()) + make_interval(mins => 60, secs => s) FROM generate_series(0, 3) AS s`)
	q.exec(`INSERT INTO schedule_runs (name, fire_at) VALUES ('often', date_trunc('second', now()) - interval '5 s')`)
	if _, err := q.engine.fire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := q.text(`SELECT count(*)::text FROM schedule_runs WHERE job_id IS NOT NULL AND fire_at <= clock_timestamp()`); got != "1" {
		t.Errorf("%s runs since the clock was put right, want 1", got)
	}
	if got := q.text(`SELECT count(*)::text FROM schedule_runs WHERE job_id IS NOT NULL AND fire_at > clock_timestamp()`); got != "0" {
		t.Errorf("%s runs of times to come", got)
	}
}

func TestAnOutageOfTheDatabaseIsToldNowAndThen(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	l := &lane{tier: Default, engine: &Engine{log: zerolog.New(&said)}}
	now, waited := time.Now(), time.Duration(0)
	for waited < 2*time.Minute {
		waited += l.out.failed(l, errors.New("gone"), now.Add(waited))
	}
	if n := strings.Count(said.String(), "claim failed"); n < 3 || n > 5 {
		t.Errorf("two minutes of outage are %d lines", n)
	}
	if rest := l.out.failed(l, errors.New("gone"), now.Add(waited)); rest > 2*time.Second {
		t.Errorf("a database that is back waits %s for the next claim", rest)
	}
	l.out.over(l)
	l.out.over(l)
	if n := strings.Count(said.String(), "claims work again"); n != 1 {
		t.Errorf("its end is told %d times", n)
	}
}
