package queue_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/postonce/postonce/internal/queue"
)

// TestSomeKindsRunBesideTheSlots has one slot: jobs that run beside it leave it to others, a third takes it, and
// jobs that need it are never two at once, however many a claim brought.
func TestSomeKindsRunBesideTheSlots(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	asked, goOn := make(chan string, 20), make(chan struct{})
	var inSlot, most atomic.Int64
	waits := kindOf("waits", func(_ context.Context, j *queue.Job[note]) error {
		asked <- j.Args.Name
		<-goOn
		return nil
	})
	waits.Beside = 2
	works := kindOf("works", func(_ context.Context, j *queue.Job[note]) error {
		if n := inSlot.Add(1); n > most.Load() {
			most.Store(n)
		}
		asked <- j.Args.Name
		inSlot.Add(-1)
		return nil
	})
	queue.Register(b.registry, waits)
	queue.Register(b.registry, works)
	for _, name := range []string{"w1", "w2"} {
		enqueue(b, waits, note{Name: name})
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		enqueue(b, works, note{Name: name})
	}
	b.start(func(c *queue.Config) { c.Workers = map[queue.Tier]int{queue.Default: 1} })
	seen := map[string]bool{}
	for range 6 { // the waiting two hold no slot, so the four get through it
		seen[receive(t, asked)] = true
	}
	if len(seen) != 6 || most.Load() != 1 {
		t.Errorf("seen %v, at most %d in one slot", seen, most.Load())
	}
	for _, name := range []string{"w3", "w4"} { // one in the slot, and none beside it
		enqueue(b, waits, note{Name: name})
	}
	receive(t, asked)
	select {
	case name := <-asked:
		t.Errorf("%s runs without a slot", name)
	default:
	}
	close(goOn)
	receive(t, asked)
	b.eventually("all done", "SELECT count(*) = 8 FROM job_history")
}

// TestWhatFindsNoSlotIsHandedBack: while only jobs beside the slot came, a claim takes more than there are slots;
// the others among them wait their turn and fail nothing.
func TestWhatFindsNoSlotIsHandedBack(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var inSlot, most atomic.Int64
	started, goOn := make(chan string, 40), make(chan struct{}, 40)
	waits := kindOf("waits", func(_ context.Context, j *queue.Job[note]) error { started <- j.Args.Name; return nil })
	waits.Beside = 10
	works := kindOf("works", func(_ context.Context, j *queue.Job[note]) error {
		if n := inSlot.Add(1); n > most.Load() {
			most.Store(n)
		}
		started <- j.Args.Name
		<-goOn
		inSlot.Add(-1)
		return nil
	})
	queue.Register(b.registry, waits)
	queue.Register(b.registry, works)
	enqueue(b, waits, note{Name: "first"})
	b.start(func(c *queue.Config) { c.Workers = map[queue.Tier]int{queue.Default: 1} })
	receive(t, started)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		enqueue(b, works, note{Name: name})
	}
	for range 5 {
		receive(t, started)
		goOn <- struct{}{}
	}
	b.eventually("all done at the first attempt", "SELECT count(*) = 6 FROM job_history")
	if most.Load() != 1 {
		t.Errorf("%d at once in one slot", most.Load())
	}
}
