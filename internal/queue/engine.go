package queue

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

const (
	// writeTimeout bounds one statement that must reach the database.
	writeTimeout = 20 * time.Second
	// defaultWorkers is how many handlers a tier may run at once where Config names no number.
	defaultWorkers = 16
)

// Config is what an engine is made of. Pool and Registry are required.
type Config struct {
	Pool     *pgxpool.Pool
	Registry *Registry
	// Workers is how many handlers of each tier may run at once; 0 or missing is 16. A negative number turns
	// the tier off in this process.
	Workers map[Tier]int
	Logger  zerolog.Logger
	// Metrics is where the metrics are registered; nil: nowhere.
	Metrics prometheus.Registerer
	// Hints limits NOTIFYs; share it with the pool's connections (Hints.ShareWith). nil: none are held back.
	Hints *Hints
	// ListenDSN is a direct address for LISTEN past a pooler; empty: the pool's own address.
	ListenDSN string
	// Build is written to the workers table.
	Build string
	// Redact removes secrets from what is kept of errors; nil: a redactor of tokens, keys and passwords.
	Redact func(string) string

	// PollEvery, ReapEvery and KeepEvery are for tests: 0 is 1 s, 5 s, 1 s.
	PollEvery, ReapEvery, KeepEvery time.Duration
	// LeaseMargin is what an intent keeps of the lease beyond the request's deadline, to write the outcome down;
	// 0 is 10 s.
	LeaseMargin time.Duration
	// AckWait and IntentWait bound how long a group commit waits for more; 0 is 5 ms, 2 ms.
	AckWait, IntentWait time.Duration
}

func (c *Config) defaults() {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&c.PollEvery, pollEvery)
	set(&c.ReapEvery, 5*time.Second)
	set(&c.KeepEvery, time.Second)
	set(&c.LeaseMargin, 10*time.Second)
	set(&c.AckWait, 5*time.Millisecond)
	set(&c.IntentWait, 2*time.Millisecond)
	if c.Redact == nil {
		c.Redact = redactor()
	}
}

func (c *Config) workers(t Tier) int {
	if n := c.Workers[t]; n != 0 {
		return n
	}
	return defaultWorkers
}

// Engine works the jobs of one process. Start it once, stop it once.
type Engine struct {
	cfg      Config
	pool     *pgxpool.Pool
	log      zerolog.Logger
	redact   func(string) string
	registry *Registry
	kinds    map[string]*spec // read only after Start
	metrics  *metrics
	lanes    map[Tier]*lane
	keeper   *keeper
	gate     *gate

	born     time.Time // durations count from here: they outlive a change of the wall clock
	worker   int64     // workers.id of this start
	nonces   atomic.Int64
	blind    atomic.Bool // hints are known not to arrive
	strange  strangers
	stopping atomic.Bool // no new handlers, no new claims

	claimContext context.Context // ends when claiming ends
	workContext  context.Context // ends when the grace is over
	hardContext  context.Context // ends when nothing more is written
	stopClaims   context.CancelFunc
	stopWork     context.CancelFunc
	stopHard     context.CancelFunc
	background   sync.WaitGroup // claimers, keeper, reaper, scheduler, listener, janitor
}

// New returns an engine that does nothing yet.
func New(cfg Config) *Engine {
	cfg.defaults()
	e := &Engine{
		cfg: cfg, pool: cfg.Pool, log: cfg.Logger, redact: cfg.Redact, registry: cfg.Registry,
		kinds: map[string]*spec{}, lanes: map[Tier]*lane{}, metrics: newMetrics(cfg.Metrics), born: time.Now(),
	}
	e.keeper = newKeeper(e)
	e.gate = newGate(e.peoplePassed)
	for _, name := range cfg.Registry.Kinds() {
		e.kinds[name] = cfg.Registry.kind(name)
		e.metrics.know(e.kinds[name])
	}
	if cfg.Metrics != nil {
		cfg.Metrics.MustRegister(newWatcher(e))
	}
	if cfg.Hints != nil && cfg.workers(Critical) > 0 {
		expect := e.gate.expect
		cfg.Hints.soon.Store(&expect)
	}
	for _, t := range Tiers() {
		if n := cfg.workers(t); n > 0 {
			e.lanes[t] = newLane(e, t, n)
		}
	}
	return e
}

// age is t in nanoseconds of this process's life, which no change of the machine's clock turns back.
func (e *Engine) age(t time.Time) int64 { return int64(t.Sub(e.born)) }

// peoplePassed lets the lower tiers go on.
func (e *Engine) peoplePassed() {
	for _, l := range e.lanes {
		if l.tier != Critical {
			l.crew.opened()
			l.look()
		}
	}
}

const workerStartSQL = `
INSERT INTO workers (host, pid, build)
VALUES ($1, $2, $3)
RETURNING id`

// Start registers the process and its kinds and begins to work. ctx bounds the start only. After an error
// nothing works and Start may be tried again.
func (e *Engine) Start(ctx context.Context) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	if err := e.pool.QueryRow(ctx, workerStartSQL, host, os.Getpid(), e.cfg.Build).Scan(&e.worker); err != nil {
		return fmt.Errorf("register worker: %w", err)
	}
	if err := e.publishKinds(ctx); err != nil {
		return err
	}
	if err := e.publishSchedules(ctx); err != nil {
		return err
	}
	if err := e.keepPartitions(ctx); err != nil {
		return err
	}
	e.nonces.Store(e.worker << 32)
	e.claimContext, e.stopClaims = context.WithCancel(context.Background())
	e.workContext, e.stopWork = context.WithCancel(context.Background())
	e.hardContext, e.stopHard = context.WithCancel(context.Background())
	for _, l := range e.lanes {
		e.loop(l.loop)
	}
	e.loop(e.keeper.loop)
	e.loop(e.reapLoop)
	e.loop(e.scheduleLoop)
	e.loop(e.listenLoop)
	if e.cfg.Hints != nil {
		e.loop(e.echoLoop)
	}
	e.loop(e.janitorLoop)
	return nil
}

// loop runs f until claiming ends; Stop waits for it.
func (e *Engine) loop(f func(context.Context)) {
	e.background.Go(func() { f(e.claimContext) })
}

const workerStopSQL = `
UPDATE workers
   SET stopped_at = clock_timestamp(),
       seen_at = clock_timestamp()
 WHERE id = $1`

// Stop stops claiming, gives back what was not started, lets handlers run until ctx ends (the grace), cancels
// the rest, writes what is to be written, and returns. What is still in flight outside is archived as
// unconfirmed. An error says that handlers had to be left behind; their leases expire.
func (e *Engine) Stop(ctx context.Context) error {
	if e.stopClaims == nil {
		return nil // never started
	}
	e.stopping.Store(true)
	e.gate.end()
	e.stopClaims()
	e.background.Wait()
	left := e.waitHandlers(ctx)
	if left {
		e.stopWork()
		short, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		left = e.waitHandlers(short)
		cancel()
	}
	for _, l := range e.lanes {
		l.acks.Flush()
	}
	if left {
		e.abandon()
	}
	e.stopWork()
	e.stopHard()
	write, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	for _, l := range e.lanes {
		l.close(write)
	}
	_, err := e.pool.Exec(write, workerStopSQL, e.worker)
	if left {
		err = errors.Join(err, errors.New("queue: handlers outlived the grace"))
	}
	return err
}

// waitHandlers keeps leases alive while handlers finish; true: some are left.
func (e *Engine) waitHandlers(ctx context.Context) bool {
	done := make(chan struct{})
	go func() {
		for _, l := range e.lanes {
			l.wg.Wait()
		}
		close(done)
	}()
	tick := time.NewTicker(e.cfg.KeepEvery)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return false
		case <-ctx.Done():
			return true
		case <-tick.C:
			e.keeper.renew(context.WithoutCancel(ctx))
		}
	}
}

// abandon ends what outlived the grace: an effect under way is in doubt, everything else is handed back. The
// tokens are void afterwards, so that the handlers left behind cannot do harm.
func (e *Engine) abandon() {
	var back []*run
	for _, l := range e.lanes {
		for _, r := range l.running() {
			if r.effectOpen.Load() || r.spec.policy == Opaque {
				r.fail(Unknown{Err: errors.New("shutdown while it was under way")})
				continue
			}
			back = append(back, r)
		}
	}
	e.handBack(back, 0)
}

func (l *lane) running() []*run {
	l.mu.Lock()
	defer l.mu.Unlock()
	runs := make([]*run, 0, len(l.held))
	for _, r := range l.held {
		if !r.finished.Load() && r.spec != nil {
			runs = append(runs, r)
		}
	}
	return runs
}

// writeContext is for statements that end a job: no cancelled handler or shutdown takes them back.
func (e *Engine) writeContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), writeTimeout)
}

// pause waits; false when the engine gives up.
func (e *Engine) pause(d time.Duration) bool { return e.pauseCtx(e.hardContext, d) }

func (e *Engine) pauseCtx(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

const kindPublishSQL = `
INSERT INTO job_kinds AS k (name, tier, policy, class, ordered, lease, max_failures, keep_keys)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT (name) DO UPDATE
   SET tier = excluded.tier,
       policy = excluded.policy,
       class = excluded.class,
       ordered = excluded.ordered,
       lease = excluded.lease,
       max_failures = excluded.max_failures,
       keep_keys = excluded.keep_keys
 WHERE (k.tier, k.policy, k.class, k.ordered, k.lease, k.max_failures, k.keep_keys) IS DISTINCT FROM
       (excluded.tier, excluded.policy, excluded.class, excluded.ordered, excluded.lease, excluded.max_failures,
        excluded.keep_keys)`

// publishKinds writes what the code says about its kinds, then reads what was measured.
func (e *Engine) publishKinds(ctx context.Context) error {
	b := &pgx.Batch{}
	for _, name := range e.registry.Kinds() {
		s := e.kinds[name]
		lease := s.lease
		if lease == 0 {
			lease = defaultLease
		}
		var keep *time.Duration
		if s.keepKeys > 0 {
			keep = &s.keepKeys
		}
		b.Queue(kindPublishSQL, s.name, s.tier, s.policy, s.class, s.ordered, lease, s.maxFailures, keep)
	}
	if b.Len() > 0 {
		if err := e.pool.SendBatch(ctx, b).Close(); err != nil {
			return fmt.Errorf("publish kinds: %w", err)
		}
	}
	return e.readKinds(ctx)
}

const kindListSQL = `
SELECT name,
       lease,
       measured_lease
  FROM job_kinds
 ORDER BY name`

// readKinds sets each lane's leases and finds the kinds that this binary does not know.
func (e *Engine) readKinds(ctx context.Context) error {
	rows, err := e.pool.Query(ctx, kindListSQL)
	if err != nil {
		return fmt.Errorf("read kinds: %w", err)
	}
	defer rows.Close()
	strange := []string{}
	leases := map[string]time.Duration{}
	for rows.Next() {
		var (
			name     string
			lease    time.Duration
			measured *time.Duration
		)
		if err := rows.Scan(&name, &lease, &measured); err != nil {
			return fmt.Errorf("read kinds: %w", err)
		}
		s := e.kinds[name]
		if s == nil {
			strange = append(strange, name)
			continue
		}
		leases[name] = effectiveLease(s, lease, measured)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read kinds: %w", err)
	}
	e.strange.listed(strange)
	for _, l := range e.lanes {
		l.readLeases(leases)
	}
	return nil
}

// effectiveLease is what was measured, but never less than the kind asks for; before anything was measured, lease.
func effectiveLease(s *spec, lease time.Duration, measured *time.Duration) time.Duration {
	if measured == nil {
		return lease
	}
	return max(*measured, s.lease)
}

func (l *lane) readLeases(of map[string]time.Duration) {
	own := map[string]time.Duration{}
	for _, s := range l.engine.registry.ofTier(l.tier) {
		own[s.name] = of[s.name]
	}
	l.mu.Lock()
	l.leaseOf = newLeases(own)
	l.mu.Unlock()
}

func (l *lane) leases() *leases {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaseOf
}
