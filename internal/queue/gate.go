package queue

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	youngFor   = 250 * time.Millisecond // for so long a critical job has the right of way: one that hangs outside holds nobody up
	expectFor  = 50 * time.Millisecond  // for so long after a hint a critical job is waited for
	narrowRuns = 1                      // how many jobs each lower tier goes on with meanwhile
	narrowPace = 50 * time.Millisecond  // and so often it goes on with one more all the same: those under way may be waiting for others
)

// gate lets people pass first. While a critical job of this process is under way and young, or announced, each of the
// lower tiers narrows to narrowRuns jobs: it starts no handler and claims nothing beyond that, but for one every
// narrowPace. What runs already goes on, and a tier always has its one, so nothing starves, neither behind handlers that
// wait for a slow site nor under a steady stream of critical jobs. A handler's start costs one atomic load here.
type gate struct {
	passing atomic.Int64                // critical jobs that are young, and one if one is announced; far below 0: at an end
	after   func(time.Duration, func()) // time.AfterFunc, or a test's clock
	open    func()                      // called when more may start: the last of passing is gone, or narrowPace is over
	clock   func() time.Time            // time.Now, or a test's

	mu       sync.Mutex
	announce int  // which announcement is the newest; guarded by mu
	awaited  bool // one is counted in passing; guarded by mu
	ticking  bool // the next narrowPace is waited for; guarded by mu
}

func newGate(open func()) *gate {
	return &gate{open: open, clock: time.Now, after: func(d time.Duration, f func()) { time.AfterFunc(d, f) }}
}

// narrow tells whether the lower tiers hold back.
func (g *gate) narrow() bool { return g.passing.Load() > 0 }

// more counts jobs that begin to pass.
func (g *gate) more(n int64) {
	if g.passing.Add(n) != n {
		return // others pass already, or it is at an end
	}
	g.mu.Lock()
	tick := !g.ticking
	g.ticking = true
	g.mu.Unlock()
	if tick {
		g.after(narrowPace, g.tick)
	}
}

// tick lets each lower tier go on with one more, for as long as somebody passes.
func (g *gate) tick() {
	g.mu.Lock()
	g.ticking = g.narrow()
	again := g.ticking
	g.mu.Unlock()
	if again {
		g.open()
		g.after(narrowPace, g.tick)
	}
}

// pass says that critical jobs were claimed. They have the right of way until they leave, or are young no more.
func (g *gate) pass(runs []*run) {
	if len(runs) == 0 {
		return
	}
	for _, r := range runs {
		r.passing.Store(true)
	}
	g.more(int64(len(runs)))
	g.after(youngFor, func() {
		for _, r := range runs {
			g.leave(r)
		}
	})
}

// leave ends a job's right of way, once. After the last one another is waited for: a tap is several jobs, and taps come
// in rows.
func (g *gate) leave(r *run) {
	if r.passing.Load() && r.passing.Swap(false) {
		if g.passing.Load() == 1 {
			g.expect()
		}
		g.less()
	}
}

// expect says that a critical job is on its way: somebody enqueued one, or a hint came.
func (g *gate) expect() {
	g.mu.Lock()
	g.announce++
	this, counted := g.announce, g.awaited
	g.awaited = true
	g.mu.Unlock()
	if !counted {
		g.more(1)
	}
	g.after(expectFor, func() { g.came(this) })
}

// came ends what was announced, if nothing newer was; 0: whatever was.
func (g *gate) came(announcement int) {
	g.mu.Lock()
	ends := g.awaited && (announcement == 0 || announcement == g.announce)
	if ends {
		g.awaited = false
	}
	g.mu.Unlock()
	if ends {
		g.less()
	}
}

func (g *gate) less() {
	if g.passing.Add(-1) == 0 {
		g.open()
	}
}

// end opens the gate for ever.
func (g *gate) end() {
	g.passing.Store(-1 << 40)
	g.open()
}

// pace is how one step of a lower tier, its claims or its starts, goes through the gate.
type pace struct {
	gate *gate        // nil: of the critical tier, which is never held
	last atomic.Int64 // when the newest job went through while people passed, in Unix ns
}

func (p *pace) narrow() bool { return p.gate != nil && p.gate.narrow() }

// holds tells whether the next job is held back, with so many under way.
func (p *pace) holds(running int64) bool {
	return p.narrow() && running >= narrowRuns && p.gate.clock().Sub(time.Unix(0, p.last.Load())) < narrowPace
}

// began notes that a job went through.
func (p *pace) began() {
	if p.narrow() {
		p.last.Store(p.gate.clock().UnixNano())
	}
}
