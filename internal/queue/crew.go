package queue

import "sync"

// crew are the goroutines that run a lane's handlers. There is never more than one on its way: a goroutine that
// takes a run calls the next one if more is waiting. So handlers that wait bring up as many goroutines as there
// are runs, and handlers that do not are worked off by a few, without a switch for each.
type crew struct {
	work func(*run)
	pace pace // of the handlers' starts

	mu     sync.Mutex
	come   sync.Cond // a run waits, or the crew is closed
	todo   []*run    // guarded by mu
	busy   int64     // goroutines that run a handler; guarded by mu
	idle   int       // goroutines that wait for come; guarded by mu
	called bool      // one was called and did not come yet; guarded by mu
	closed bool      // guarded by mu
}

func newCrew(g *gate, work func(*run)) *crew {
	c := &crew{work: work, pace: pace{gate: g}}
	c.come.L = &c.mu
	return c
}

// hand gives runs to the crew and returns at once.
func (c *crew) hand(runs []*run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.todo = append(c.todo, runs...)
	c.call()
}

// call must be called with mu held.
func (c *crew) call() {
	if c.called || len(c.todo) == 0 || c.pace.holds(c.busy) {
		return
	}
	c.called = true
	if c.idle > 0 {
		c.idle--
		c.come.Signal()
		return
	}
	go c.member()
}

// opened goes on with what was held.
func (c *crew) opened() {
	c.mu.Lock()
	c.call()
	c.mu.Unlock()
}

// member takes runs until the crew is closed.
func (c *crew) member() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.called = false
	for {
		for (len(c.todo) == 0 || c.pace.holds(c.busy)) && !c.closed {
			c.idle++
			c.come.Wait()
			c.called = false
		}
		if c.closed {
			return
		}
		r := c.todo[0]
		c.todo[0] = nil
		c.todo = c.todo[1:]
		c.busy++
		c.pace.began()
		c.call()
		c.mu.Unlock()
		c.work(r)
		c.mu.Lock()
		c.busy--
	}
}

// close sends the idle home, and each of the others when its handler returns.
func (c *crew) close() {
	c.mu.Lock()
	c.closed = true
	c.come.Broadcast()
	c.mu.Unlock()
}
