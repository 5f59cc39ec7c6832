package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// clockEvery is how often the database is asked for its time.
	clockEvery = 10 * time.Second
	// clockNoise is what the network and the two clocks may differ by before the
	// database's is followed.
	clockNoise = time.Second
	clockWait  = 5 * time.Second
)

const clockSQL = `
SELECT clock_timestamp()`

// Clock tells the database's time without asking for it each time. Slots and
// the calendar are read from it, because jobs become due by the database's
// clock: a machine whose own is an hour off would plan posts into the past, or
// hold every slot for missed. All processes on one database agree by it. A nil
// Clock, and one that was never set, is the machine's. It is safe for concurrent use.
type Clock struct {
	db   Querier
	here func() time.Time

	mu   sync.Mutex // held while the database is asked
	last atomic.Pointer[comparison]
}

// comparison is one look at both clocks.
type comparison struct {
	at    time.Time     // the machine's, with its count of seconds, which nobody can set
	ahead time.Duration // the database's was so much ahead
}

// NewClock returns the clock of db; here is the machine's, nil for time.Now.
func NewClock(db Querier, here func() time.Time) *Clock {
	if here == nil {
		here = time.Now
	}
	return &Clock{db: db, here: here}
}

// Now is the time by the database's clock. Where the machine's was set since the
// last comparison, or slept, the database is asked at once: what is planned or
// missed by a wrong clock cannot be taken back.
func (c *Clock) Now() time.Time {
	if c == nil {
		return time.Now()
	}
	now := c.here()
	if last := c.last.Load(); last != nil && last.broken(now) {
		_ = c.Set(context.Background()) // without an answer the difference stays what it was
		now = c.here()
	}
	return now.Round(0).Add(c.Ahead())
}

// broken reports whether the machine's clock and its count of seconds went
// different ways since the comparison.
func (c *comparison) broken(now time.Time) bool {
	wall, counted := now.Round(0).Sub(c.at.Round(0)), now.Sub(c.at)
	return (wall - counted).Abs() > clockNoise
}

// Ahead is how far the database's clock is ahead of the machine's; less than a
// second counts as none.
func (c *Clock) Ahead() time.Duration {
	if c == nil {
		return 0
	}
	if last := c.last.Load(); last != nil {
		return last.ahead
	}
	return 0
}

// Ahead asks db once how far its clock is ahead of here's. The answer is taken
// for that of the middle of the call, which took so long.
func Ahead(ctx context.Context, db Querier, here func() time.Time) (ahead, took time.Duration, err error) {
	var there time.Time
	before := here()
	if err := db.QueryRow(ctx, clockSQL).Scan(&there); err != nil {
		return 0, 0, fmt.Errorf("the database's clock: %w", err)
	}
	took = here().Sub(before)
	return there.Sub(before.Round(0).Add(took / 2)), took, nil
}

// Set compares the two clocks.
func (c *Clock) Set(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, clockWait)
	defer cancel()
	before := c.here()
	ahead, took, err := Ahead(ctx, c.db, c.here)
	if err != nil {
		return err
	}
	after := c.here()
	if took > clockNoise || (&comparison{at: before}).broken(after) {
		return nil // too slow to tell, or set meanwhile: the next time does
	}
	if ahead.Abs() < clockNoise {
		ahead = 0
	}
	c.last.Store(&comparison{at: after, ahead: ahead})
	return nil
}

// Follow sets the clock again and again until ctx ends, and tells each change of
// more than a few seconds, the first included. A database that does not answer
// leaves the clock as it is.
func (c *Clock) Follow(ctx context.Context, told func(ahead time.Duration)) {
	const felt = 5 * time.Second
	var last time.Duration
	for tick := time.NewTicker(clockEvery); ; {
		if err := c.Set(ctx); err == nil && (c.Ahead()-last).Abs() >= felt {
			last = c.Ahead()
			told(last)
		}
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
	}
}
