package queue

import (
	"context"
	"sync"
	"time"
)

// handlerContext is the context of one execution. The context that can be cancelled is made when somebody first
// asks for what it alone knows: registering one with its parent for every job costs more than claiming the job.
type handlerContext struct {
	parent context.Context
	origin Origin

	mu     sync.Mutex
	real   context.Context         // nil: nobody asked yet; guarded by mu
	cancel context.CancelCauseFunc // of real; guarded by mu
	ended  bool                    // stop was called before anybody asked; guarded by mu
	cause  error                   // of that; guarded by mu
}

func (c *handlerContext) get() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real == nil {
		c.real, c.cancel = context.WithCancelCause(c.parent)
		if c.ended {
			c.cancel(c.cause)
		}
	}
	return c.real
}

// stop cancels the context. It may be called before the handler starts, and again.
func (c *handlerContext) stop(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.real != nil:
		c.cancel(cause)
	case !c.ended:
		c.ended, c.cause = true, cause
	}
}

// Deadline implements context.Context.
func (c *handlerContext) Deadline() (time.Time, bool) { return c.parent.Deadline() }

// Done implements context.Context.
func (c *handlerContext) Done() <-chan struct{} { return c.get().Done() }

// Err implements context.Context.
func (c *handlerContext) Err() error { return c.get().Err() }

// Value implements context.Context.
func (c *handlerContext) Value(key any) any {
	if _, ok := key.(originKey); ok {
		return c.origin
	}
	return c.get().Value(key)
}
