package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/postonce/postonce/internal/queue/batcher"
	"github.com/postonce/postonce/internal/queue/failpoint"
)

const (
	claimMax     = 100                    // jobs a claim, or a quarter of the slots where those are many
	claimPause   = 2 * time.Millisecond   // how long a claim waits for more free slots, so that it is worth its cost
	fullScan     = time.Second            // how often a claim ignores the lower bound
	pollEvery    = time.Second            // without hints that would wake it
	pollBlind    = 250 * time.Millisecond // when hints are known not to arrive
	claimRest    = 200 * time.Millisecond // after a claim that failed, and twice as long after each further one
	claimRested  = 2 * time.Second        // at most
	claimTell    = 30 * time.Second       // how often a claim that goes on failing is told of
	strangeDelay = 30 * time.Second       // a job of a kind that this binary does not know is left to others
)

// lane is the engine of one tier: its own claimer, slots and group commits.
type lane struct {
	engine   *Engine
	tier     Tier
	size     int
	claims   *ownConn
	writes   *ownConn // of the critical tier; nil: the pool
	acks     *batcher.Batcher[*run]
	intents  *batcher.Batcher[*intent]
	outcomes *batcher.Batcher[*told]

	wakes chan struct{} // capacity 1: something may be due
	freed chan struct{} // capacity 1: slots came free
	reset atomic.Bool   // start the next scan at the front
	free  atomic.Int64
	pace  pace // of the claims
	out   outage
	crew  *crew
	wg    sync.WaitGroup // handlers

	mu      sync.Mutex
	held    map[int64]*run // leased and not yet acknowledged, by token; guarded by mu
	leaseOf *leases        // guarded by mu, replaced whole
}

func newLane(e *Engine, t Tier, size int) *lane {
	l := &lane{
		engine: e, tier: t, size: size, held: map[int64]*run{}, leaseOf: newLeases(nil),
		claims: &ownConn{pool: e.pool, settings: claimSettingsSQL},
		wakes:  make(chan struct{}, 1), freed: make(chan struct{}, 1),
	}
	if t == Critical {
		l.writes = &ownConn{pool: e.pool}
	} else {
		l.pace.gate = e.gate
	}
	l.crew = newCrew(l.pace.gate, l.execute)
	l.free.Store(int64(size))
	// One lane: while it waits for the disk the next group grows, and a statement for 500 costs a job half of what
	// one for 100 does.
	l.acks = batcher.New(batcher.Config{Max: 200, Most: 500, Wait: e.cfg.AckWait, Lanes: 1}, l.acknowledge)
	l.intents = batcher.New(batcher.Config{Max: 200, Most: 500, Wait: e.cfg.IntentWait, Lanes: 1}, l.flushIntents)
	l.outcomes = batcher.New(batcher.Config{Max: 200, Most: 500, Wait: e.cfg.IntentWait, Lanes: 1}, l.flushOutcomes)
	return l
}

// use calls fn with where the lane's group commits go.
func (l *lane) use(ctx context.Context, fn func(writer) error) error {
	if l.writes != nil {
		return l.writes.use(ctx, fn)
	}
	return fn(l.engine.pool)
}

// close ends the lane's own connections and sends its goroutines home.
func (l *lane) close(ctx context.Context) {
	l.crew.close()
	l.claims.close(ctx)
	if l.writes != nil {
		l.writes.close(ctx)
	}
}

// wake makes the claimer look at once.
func (l *lane) wake() {
	select {
	case l.wakes <- struct{}{}:
	default:
	}
}

// rescan wakes the claimer and makes it start at the front: an ordered job that waited may be free now.
func (l *lane) rescan() {
	l.reset.Store(true)
	l.wake()
}

func (l *lane) release(n int) {
	l.free.Add(int64(n))
	l.look()
}

// look makes a claimer that waits for slots count them again.
func (l *lane) look() {
	select {
	case l.freed <- struct{}{}:
	default:
	}
}

// hold makes claimed runs known to the keeper.
func (l *lane) hold(runs []*run) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range runs {
		r.startedAt = now
		r.lease = l.leaseOf.of(r.kind)
		r.renewedAt.Store(l.engine.age(now))
		l.held[r.token] = r
	}
}

func (l *lane) drop(runs ...*run) {
	l.mu.Lock()
	for _, r := range runs {
		delete(l.held, r.token)
	}
	l.mu.Unlock()
}

// loop claims until ctx ends.
func (l *lane) loop(ctx context.Context) {
	var (
		from  bound
		front = time.Now()
	)
	for ctx.Err() == nil {
		n := l.slots(ctx)
		if n == 0 {
			continue
		}
		if l.reset.Swap(false) || time.Since(front) > fullScan {
			from = bound{}
		}
		atFront := from == bound{}
		if atFront {
			front = time.Now()
		}
		runs, err := l.claim(ctx, from, n)
		if err != nil {
			l.claimFailed(ctx, err)
			from = bound{}
			continue
		}
		l.out.over(l)
		l.start(runs)
		if l.tier == Critical {
			l.engine.gate.came(0)
		}
		switch {
		case len(runs) == n:
			last := runs[n-1]
			from = bound{runAt: last.runAt, id: last.id}
		case !atFront:
			from = bound{}
		default:
			l.sleep(ctx)
		}
	}
}

// slots waits for free slots: for enough of them to make a claim worth its cost, but not for long.
func (l *lane) slots(ctx context.Context) int {
	most := int64(max(claimMax, l.size/4))
	enough := min(most, int64(l.size+1)/2)
	free := l.room()
	if free >= enough {
		return int(min(free, most))
	}
	var limit <-chan time.Time
	if free > 0 {
		timer := time.NewTimer(claimPause)
		defer timer.Stop()
		limit = timer.C
	}
	for {
		select {
		case <-ctx.Done():
			return 0
		case <-limit:
			return int(min(l.room(), most))
		case <-l.freed:
			if free = l.room(); free >= enough {
				return int(min(free, most))
			}
			if limit == nil && free > 0 {
				limit = time.After(claimPause)
			}
		}
	}
}

// room is how many jobs may be claimed: the free slots, or what the gate leaves of them while people pass.
func (l *lane) room() int64 {
	free := l.free.Load()
	if !l.pace.narrow() {
		return free
	}
	busy := int64(l.size) - free
	if l.pace.holds(busy) {
		return 0
	}
	return min(free, max(narrowRuns-busy, 1))
}

// sleep waits for a hint or the next poll.
func (l *lane) sleep(ctx context.Context) {
	wait := l.engine.cfg.PollEvery
	if l.engine.blind.Load() {
		wait = min(wait, pollBlind)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-l.wakes:
	}
}

func (l *lane) claimFailed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	if isUniqueViolation(err) {
		return // another claimer took an earlier job of the same ordering value: look again
	}
	l.engine.pauseCtx(ctx, l.out.failed(l, err, time.Now()))
}

// outage is a row of claims that failed: told of when it begins and ends and now and then in between, so that a
// database which is away fills no disk with lines. Only used by the lane's loop.
type outage struct {
	began, told time.Time // zero: none
	rest        time.Duration
}

// failed returns how long to wait before the next claim.
func (o *outage) failed(l *lane, err error, now time.Time) time.Duration {
	if o.began.IsZero() {
		o.began = now
	}
	if now.Sub(o.told) >= claimTell {
		o.told = now
		l.engine.log.Warn().Err(err).Stringer("for", now.Sub(o.began).Round(time.Second)).Msg("claim failed")
	}
	o.rest = min(max(2*o.rest, claimRest), claimRested)
	return o.rest
}

// over ends it with the first claim that works.
func (o *outage) over(l *lane) {
	if o.began.IsZero() {
		return
	}
	l.engine.log.Info().Str("tier", string(l.tier)).Stringer("after", time.Since(o.began).Round(time.Second)).Msg("claims work again")
	*o = outage{}
}

// start runs what was claimed.
func (l *lane) start(runs []*run) {
	if len(runs) == 0 {
		return
	}
	l.free.Add(-int64(len(runs)))
	var strange []*run
	known := make([]*run, 0, len(runs))
	for _, r := range runs {
		if r.spec == nil {
			strange = append(strange, r)
		} else {
			known = append(known, r)
		}
	}
	l.wg.Add(len(known))
	if l.tier == Critical {
		l.engine.gate.pass(known)
	}
	l.pace.began()
	l.crew.hand(known)
	if len(strange) > 0 {
		l.engine.strange.met(l.engine.log, strange, time.Now())
		l.giveBack(strange, strangeDelay)
	}
}

func (l *lane) giveBack(runs []*run, delay time.Duration) {
	l.engine.handBack(runs, delay)
	l.drop(runs...)
	l.release(len(runs))
}

// execute runs one handler to its end. A job that ends with nil keeps its slot until its acknowledgement is
// durable.
func (l *lane) execute(r *run) {
	defer l.wg.Done()
	if l.engine.stopping.Load() {
		l.giveBack([]*run{r}, 0) // claimed and not started
		return
	}
	failpoint.Hit("handler-start")
	err := l.work(r)
	l.engine.gate.leave(r)
	switch {
	case r.finished.Load():
	case err == nil && !r.effectOpen.Load() && (!r.inDoubt.Load() || r.spec.class == Courtesy):
		l.acks.Add(r)
		return
	case l.released(r, err):
		l.giveBack([]*run{r}, 0)
		return
	default:
		r.fail(err)
	}
	if r.ordering != "" {
		l.rescan()
	}
	l.release(1)
}

// released tells whether a handler stopped because of the shutdown, with nothing begun outside.
func (l *lane) released(r *run, err error) bool {
	return l.engine.workContext.Err() != nil && errors.Is(err, context.Canceled) &&
		!r.effectOpen.Load() && !r.inDoubt.Load() && r.spec.policy != Opaque
}

func (l *lane) work(r *run) (err error) {
	ctx := &r.ctx
	defer ctx.stop(nil)
	defer func() {
		if p := recover(); p != nil {
			l.engine.log.Error().Int64("job", r.id).Str("kind", r.kind).Str("panic", l.engine.redact(fmt.Sprint(p))).
				Bytes("stack", debug.Stack()).Msg("handler panicked")
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	err = r.spec.work(ctx, r)
	if err != nil && errors.Is(context.Cause(ctx), ErrLeaseLost) && !errors.Is(err, ErrLeaseLost) {
		err = fmt.Errorf("%w: %w", ErrLeaseLost, err)
	}
	return err
}
