package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"
	"unsafe"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
)

// hands answers with a time, as the database does.
type hands struct {
	now  func() time.Time
	err  error
	slow func()
}

func (h *hands) Query(context.Context, string, ...any) (pgx.Rows, error) { panic("not asked") }

func (h *hands) QueryRow(context.Context, string, ...any) pgx.Row { return h }

func (h *hands) Scan(dest ...any) error {
	if h.slow != nil {
		h.slow()
	}
	*dest[0].(*time.Time) = h.now()
	return h.err
}

// turned is a time as it is read after somebody set the machine's clock by d:
// the wall moves, and what counts on from the start of the machine does not.
func turned(t time.Time, d time.Duration) time.Time {
	*(*int64)(unsafe.Pointer(&t)) += int64(d/time.Second) << 30 // time.Time's wall: 33 bits of seconds, 30 of nanoseconds
	return t
}

func TestTheCalendarsClockIsTheDatabases(t *testing.T) {
	t.Parallel()
	var set time.Duration // how far the machine's clock was set off
	there := &hands{now: time.Now}
	c := postgres.NewClock(there, func() time.Time { return turned(time.Now(), set) })
	wants := func(name string, off time.Duration) {
		t.Helper()
		if got := c.Now().Sub(there.now()); (got - off).Abs() > 900*time.Millisecond {
			t.Errorf("%s: %s off the database's time, want %s", name, got, off)
		}
	}
	compare := func() {
		t.Helper()
		if err := c.Set(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	compare()
	wants("two that agree", 0)
	for name, off := range map[string]time.Duration{"hardly off": 500 * time.Millisecond, "ahead": time.Hour, "behind": -time.Hour} {
		there.now = func() time.Time { return time.Now().Add(off) }
		compare()
		wants("a database's clock "+name, 0)
	}
	there.now = time.Now
	compare()
	for _, d := range []time.Duration{time.Hour, -2 * time.Hour, time.Hour} {
		set += d
		wants("a machine whose clock was just set", 0)
	}
	there.err = errors.New("gone")
	set += time.Hour
	if err := c.Set(t.Context()); err == nil {
		t.Error("a database that does not answer is no error")
	}
	wants("a clock that is set while the database is away", time.Hour)
	there.err = nil
	there.slow = func() { there.slow, set = nil, set-time.Hour } // set while it is read
	wants("a clock that is set while it is compared", 0)
	if d := time.Since((*postgres.Clock)(nil).Now()); d < 0 || d > time.Minute {
		t.Errorf("no clock is %s off the machine's", d)
	}
}
