package queue

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/postgres/dbtest"
)

// stillClock holds what is to happen later until the test lets time pass: a second each time, so all of it.
type stillClock struct {
	mu    sync.Mutex
	later []func()
	time  time.Time
}

// holdsStill gives a gate the clock.
func (c *stillClock) holdsStill(g *gate) {
	c.time = time.Unix(1e9, 0)
	g.after, g.clock = c.after, c.now
}

func (c *stillClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *stillClock) after(_ time.Duration, f func()) {
	c.mu.Lock()
	c.later = append(c.later, f)
	c.mu.Unlock()
}

func (c *stillClock) pass() {
	c.mu.Lock()
	due := c.later
	c.later = nil
	c.time = c.time.Add(time.Second)
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}

func next[T any](t *testing.T, what string, ch <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-ch:
	case <-time.After(20 * time.Second):
		t.Fatalf("never: %s", what)
	}
	return v
}

// TestTheLowerTiersNarrowWhileACriticalJobIsYoung: one job of theirs after the other meanwhile, so that they do not
// starve; all at once when it has grown old, though it still runs.
func TestTheLowerTiersNarrowWhileACriticalJobIsYoung(t *testing.T) {
	t.Parallel()
	const jobs, narrow = 12, 5
	var running, most atomic.Int64
	tapped, tapEnds := make(chan struct{}), make(chan struct{})
	began, end := make(chan struct{}, jobs), make(chan struct{})
	kind := Kind[num]{Name: "poll", Key: func(n num) string { return n.N }, Work: func(context.Context, *Job[num]) error {
		if now := running.Add(1); now > most.Load() {
			most.Store(now)
		}
		began <- struct{}{}
		<-end
		running.Add(-1)
		return nil
	}}
	tap := Kind[num]{Name: "tap", Tier: Critical, Key: kind.Key, Work: func(context.Context, *Job[num]) error {
		close(tapped)
		<-tapEnds
		return nil
	}}
	q := &quiet{t: t, pool: dbtest.New(t), kind: kind}
	registry := NewRegistry()
	Register(registry, kind)
	Register(registry, tap)
	q.engine = New(Config{Pool: q.pool, Registry: registry, Logger: zerolog.Nop(), PollEvery: 20 * time.Millisecond})
	clock := &stillClock{}
	clock.holdsStill(q.engine.gate)
	q.ok(q.engine.Start(t.Context()))
	t.Cleanup(func() { _ = q.engine.Stop(context.Background()) })

	q.ok(pgx.BeginFunc(t.Context(), q.pool, func(tx pgx.Tx) error {
		_, err := tap.EnqueueTx(t.Context(), tx, num{N: "tap"})
		return err
	}))
	next(t, "the critical job starts", tapped)
	for i := range jobs {
		q.enqueue(fmt.Sprint(i))
	}
	for range narrow {
		next(t, "the lower tier goes on with one", began)
		end <- struct{}{}
	}
	next(t, "the lower tier goes on with one", began)
	if n := most.Load(); n != 1 {
		t.Errorf("%d handlers of the lower tier ran at once while the critical job was young, want 1", n)
	}
	clock.pass()
	for range jobs - narrow - 1 {
		next(t, "the others start beside the old critical job", began)
	}
	close(end)
	close(tapEnds)
}

// TestWhilePeoplePassNobodyClaimsMoreThanIsStarted: what would be claimed and held at the gate would spend its lease.
func TestWhilePeoplePassNobodyClaimsMoreThanIsStarted(t *testing.T) {
	t.Parallel()
	e := New(Config{Registry: NewRegistry(), Workers: map[Tier]int{Critical: 4, Default: 16, Bulk: 1}})
	room := func(want string) {
		t.Helper()
		if got := fmt.Sprint(e.lanes[Critical].room(), e.lanes[Default].room(), e.lanes[Bulk].room()); got != want {
			t.Errorf("room for %s, want %s", got, want)
		}
	}
	room("4 16 1")
	clock := &stillClock{}
	clock.holdsStill(e.gate)
	tap := &run{}
	e.gate.pass([]*run{tap})
	room("4 1 1")
	e.lanes[Default].pace.began()
	e.lanes[Default].free.Add(-1)
	room("4 0 1")
	e.lanes[Default].free.Add(-5)
	room("4 0 1")
	clock.time = clock.time.Add(narrowPace)
	room("4 1 1") // one more all the same: the others may wait for slow sites
	e.lanes[Default].pace.began()
	room("4 0 1")
	e.gate.leave(tap)
	room("4 0 1") // another may follow
	clock.pass()
	room("4 10 1")
	select {
	case <-e.lanes[Default].freed:
	default:
		t.Error("the claimer that waits for slots was not told to count again")
	}
}

// gatedCrew is a crew behind a gate whose clock stands still. Its handlers say that they began, and run until each
// takes one from end.
func gatedCrew(t *testing.T) (clock *stillClock, g *gate, c *crew, began, end chan struct{}) {
	t.Helper()
	clock = &stillClock{}
	g = newGate(func() { c.opened() })
	clock.holdsStill(g)
	began, end = make(chan struct{}, 8), make(chan struct{})
	c = newCrew(g, func(*run) {
		began <- struct{}{}
		<-end
	})
	t.Cleanup(c.close)
	return clock, g, c, began, end
}

// TestWhatWaitsGoesOnWhenTheLastOneHasPassed: handlers that were claimed before are held as well, one apart, and go on
// when every critical job is done or what was announced has come or failed to come. A job leaves once.
func TestWhatWaitsGoesOnWhenTheLastOneHasPassed(t *testing.T) {
	t.Parallel()
	clock, g, c, began, end := gatedCrew(t)
	hand := func() {
		t.Helper()
		if !g.narrow() {
			t.Fatal("the gate is open")
		}
		c.hand([]*run{{}, {}, {}})
		next(t, "one goes on", began)
		c.mu.Lock()
		waiting, called := len(c.todo), c.called
		c.mu.Unlock()
		if waiting != 2 || called {
			t.Errorf("%d wait and the next is called: %t; want 2, and nobody called", waiting, called)
		}
	}
	finish := func() {
		t.Helper()
		if g.narrow() {
			t.Fatal("the gate is not open")
		}
		next(t, "the second goes on", began)
		next(t, "the third goes on", began)
		for range 3 {
			end <- struct{}{}
		}
	}
	one, two := &run{}, &run{}
	g.pass([]*run{one, two})
	hand()
	g.leave(one)
	g.leave(one)
	if !g.narrow() {
		t.Error("one left twice, and the gate opened for the other as well")
	}
	g.leave(two)
	if !g.narrow() {
		t.Error("nobody waited for what may follow the last one")
	}
	clock.pass()
	finish()
	clock.pass() // they are gone: nothing left to take away
	if n := g.passing.Load(); n != 0 {
		t.Errorf("%d pass, want 0", n)
	}

	g.expect()
	g.expect()
	hand()
	g.came(0) // a claim that found nothing
	finish()
	g.expect()
	hand()
	clock.pass()
	finish()

	g.pass([]*run{{}})
	hand()
	g.end() // the process stops: what was claimed is given back by its handlers
	finish()
	if g.pass([]*run{{}}); g.narrow() {
		t.Error("the gate closed after its end")
	}
}

// TestASteadyStreamStopsNobody: while people never stop passing, and what was started hangs outside, a lower tier still
// goes on with one more every narrowPace.
func TestASteadyStreamStopsNobody(t *testing.T) {
	t.Parallel()
	clock, g, c, began, end := gatedCrew(t)
	defer close(end)
	g.more(1) // one after the other: somebody always passes
	c.hand([]*run{{}, {}, {}})
	for i := range 3 {
		next(t, "one more goes on", began)
		if len(began) > 0 {
			t.Fatalf("two went on in pace %d", i)
		}
		clock.pass()
	}
}
