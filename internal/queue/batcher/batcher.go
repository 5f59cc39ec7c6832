// Package batcher collects what many goroutines hand in and passes it on in groups, so that one transaction
// (one flush to disk) serves many jobs. It has no tables and knows nothing of what it carries.
package batcher

import (
	"sync"
	"time"
)

// Config bounds a group: it is passed on when Max items wait, or Wait after its first item came, whichever
// is first. When more have gathered because all lanes were busy, it holds up to Most (0: Max). Lanes is how many
// groups may be under way at the same time.
type Config struct {
	Max   int
	Most  int
	Wait  time.Duration
	Lanes int
}

// Batcher groups items for one flush function. All methods may be called concurrently.
type Batcher[T any] struct {
	cfg   Config
	flush func([]T)

	mu      sync.Mutex
	waiting []T        // guarded by mu
	busy    int        // lanes in use; guarded by mu
	armed   bool       // a timer is running for the first of waiting; guarded by mu
	overdue bool       // the timer found every lane busy; guarded by mu
	urgent  bool       // flush what waits as soon as a lane is free; guarded by mu
	idle    *sync.Cond // signalled when nothing waits and no lane is busy
}

// New returns a Batcher that calls flush with each group, never with an empty one. flush owns the slice.
func New[T any](cfg Config, flush func([]T)) *Batcher[T] {
	cfg.Max, cfg.Lanes = max(cfg.Max, 1), max(cfg.Lanes, 1)
	cfg.Most = max(cfg.Most, cfg.Max)
	b := &Batcher[T]{cfg: cfg, flush: flush}
	b.idle = sync.NewCond(&b.mu)
	return b
}

// Add hands one item in and returns at once.
func (b *Batcher[T]) Add(item T) {
	b.mu.Lock()
	b.waiting = append(b.waiting, item)
	switch {
	case len(b.waiting) >= b.cfg.Max && b.busy < b.cfg.Lanes:
		b.startLane()
	case !b.armed && !b.overdue:
		b.armed = true
		time.AfterFunc(b.cfg.Wait, b.expire)
	}
	b.mu.Unlock()
}

// Flush passes on what waits without waiting for more and returns when nothing is left under way.
func (b *Batcher[T]) Flush() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.urgent = true
	for len(b.waiting) > 0 || b.busy > 0 {
		if len(b.waiting) > 0 && b.busy < b.cfg.Lanes {
			b.startLane()
			continue
		}
		b.idle.Wait()
	}
	b.urgent = false
}

func (b *Batcher[T]) expire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.armed = false
	switch {
	case len(b.waiting) == 0:
	case b.busy < b.cfg.Lanes:
		b.startLane()
	default:
		b.overdue = true // the first lane that comes free takes it
	}
}

// startLane must be called with mu held.
func (b *Batcher[T]) startLane() {
	b.busy++
	go b.lane(b.take())
}

// take must be called with mu held.
func (b *Batcher[T]) take() []T {
	b.overdue = false
	n := min(len(b.waiting), b.cfg.Most)
	group := b.waiting[:n:n]
	b.waiting = append(make([]T, 0, b.cfg.Max), b.waiting[n:]...)
	return group
}

// lane flushes group after group while full or overdue ones wait; a rest is left to the timer, so that groups stay
// large.
func (b *Batcher[T]) lane(group []T) {
	for group != nil {
		b.flush(group)
		group = b.next()
	}
}

// next returns a lane's next group, or nil when the lane has to end.
func (b *Batcher[T]) next() []T {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.waiting)
	if n >= b.cfg.Max || n > 0 && (b.urgent || b.overdue) {
		return b.take()
	}
	b.busy--
	if n > 0 && !b.armed {
		b.armed = true
		time.AfterFunc(b.cfg.Wait, b.expire)
	}
	b.idle.Broadcast()
	return nil
}
