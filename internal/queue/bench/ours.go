package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/migrations"
)

type payload struct {
	Num int   `json:"num"`
	At  int64 `json:"at"`
}

// ourPool is a pool on the product's whole schema, with hints shared as the product does.
func ourPool(ctx context.Context, s settings, hints *queue.Hints) *pgxpool.Pool {
	pool := fresh(ctx, s, "bench_ours", 20)
	cfg := pool.Config()
	pool.Close()
	c := cfg.ConnConfig
	url := fmt.Sprintf("host=%s port=%d user=%s dbname=%s sslmode=disable", c.Host, c.Port, c.User, c.Database)
	m := get(postgres.NewMigrator(url, migrations.FS))
	get(m.Up(ctx))
	must(m.Close())
	cfg.AfterConnect = hints.ShareWith
	return get(pgxpool.NewWithConfig(ctx, cfg))
}

// bench is an engine with as many kinds as the product has, the first of which works.
type bench struct {
	pool   *pgxpool.Pool
	kind   queue.Kind[payload]
	engine *queue.Engine
	done   chan struct{} // closed after jobs executions
}

func newBench(ctx context.Context, s settings, jobs int, work func(context.Context, *queue.Job[payload]) error) *bench {
	hints := queue.NewHints()
	b := &bench{pool: ourPool(ctx, s, hints), done: make(chan struct{})}
	registry := queue.NewRegistry()
	for i := range 12 {
		k := queue.Kind[payload]{
			Name: fmt.Sprintf("kind%d", i), Policy: queue.Ledger,
			Key: func(p payload) string { return fmt.Sprintf("number:%d", p.Num) },
		}
		k.Work = work
		queue.Register(registry, k)
		if i == 0 {
			b.kind = k
		}
	}
	critical := b.kind
	critical.Name, critical.Tier = "tap", queue.Critical
	queue.Register(registry, critical)
	bulk := b.kind
	bulk.Name, bulk.Tier = "heap", queue.Bulk
	queue.Register(registry, bulk)
	b.engine = queue.New(queue.Config{
		Pool: b.pool, Registry: registry, Logger: zerolog.Nop(), Hints: hints,
		Workers: map[queue.Tier]int{queue.Default: s.workers},
	})
	return b
}

func (b *bench) fill(ctx context.Context, kind queue.Kind[payload], n, batch int) {
	for i := 0; i < n; i += batch {
		args := make([]payload, min(batch, n-i))
		for k := range args {
			args[k].Num = i + k
		}
		must(pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
			_, err := kind.EnqueueManyTx(ctx, tx, args)
			return err
		}))
	}
}

func (b *bench) settle(ctx context.Context) {
	get(b.pool.Exec(ctx, "VACUUM ANALYZE"))
	get(b.pool.Exec(ctx, "CHECKPOINT"))
}

func (b *bench) stop(ctx context.Context) {
	must(b.engine.Stop(ctx))
	b.pool.Close()
}

func (b *bench) measure(ctx context.Context, s settings, name string, done chan struct{}) {
	b.fill(ctx, b.kind, s.jobs, 5000)
	b.settle(ctx)
	release := holdSnapshot(ctx, b.pool, s.old)
	a, start := snap(ctx, s), time.Now()
	must(b.engine.Start(ctx))
	<-done
	must(b.engine.Stop(ctx)) // all acknowledgements are durable then
	wall := time.Since(start)
	release()
	end := snap(ctx, s)
	var left int
	must(b.pool.QueryRow(ctx, "SELECT count(*) FROM jobs").Scan(&left))
	b.pool.Close()
	if left != 0 {
		panic(fmt.Sprintf("%d jobs left", left))
	}
	report(name, s.jobs, wall, a, end)
}

func oursWork(ctx context.Context, s settings) {
	var left atomic.Int64
	left.Store(int64(s.jobs))
	done := make(chan struct{})
	b := newBench(ctx, s, s.jobs, func(context.Context, *queue.Job[payload]) error {
		if left.Add(-1) == 0 {
			close(done)
		}
		return nil
	})
	b.measure(ctx, s, fmt.Sprintf("postonce, no-op, %d workers", s.workers), done)
}

func oursEffects(ctx context.Context, s settings) {
	var left atomic.Int64
	left.Store(int64(s.jobs))
	done := make(chan struct{})
	b := newBench(ctx, s, s.jobs, func(ctx context.Context, j *queue.Job[payload]) error {
		_, err := j.Perform(ctx, queue.Effect{
			Key: "effect:" + j.Key, Completes: true, Timeout: s.call,
			Call: func(context.Context) queue.Outcome { return queue.Confirmed{ExternalID: "1"} },
		})
		if left.Add(-1) == 0 {
			close(done)
		}
		return err
	})
	b.measure(ctx, s, fmt.Sprintf("postonce, one effect a job, %d workers", s.workers), done)
}

func oursInsert(ctx context.Context, s settings) {
	b := newBench(ctx, s, 0, func(context.Context, *queue.Job[payload]) error { return nil })
	defer b.pool.Close()
	a, start := snap(ctx, s), time.Now()
	b.fill(ctx, b.kind, s.jobs, 1000)
	report("postonce, EnqueueManyTx of 1000", s.jobs, time.Since(start), a, snap(ctx, s))
}

// watch collects how long after its enqueueing each job started.
type watch struct {
	mu   sync.Mutex
	late []time.Duration // guarded by mu
}

func (w *watch) work(_ context.Context, j *queue.Job[payload]) error {
	if j.Args.At == 0 {
		return nil
	}
	d := time.Duration(time.Now().UnixNano() - j.Args.At)
	w.mu.Lock()
	w.late = append(w.late, d)
	w.mu.Unlock()
	return nil
}

func (b *bench) one(ctx context.Context, k queue.Kind[payload], i int) {
	must(pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
		_, err := k.EnqueueTx(ctx, tx, payload{Num: i, At: time.Now().UnixNano()})
		return err
	}))
}

func oursLatency(ctx context.Context, s settings) {
	var w watch
	b := newBench(ctx, s, 0, w.work)
	must(b.engine.Start(ctx))
	time.Sleep(time.Second)
	a := snap(ctx, s)
	n := steadily(s, func(i int) { b.one(ctx, b.kind, i) })
	time.Sleep(time.Second)
	wall := time.Since(a.at)
	end := snap(ctx, s)
	b.stop(ctx)
	fmt.Println("postonce insert to start:", percentiles(w.late))
	report("postonce, 20 jobs/s", n, wall, a, end)
}

func oursIdle(ctx context.Context, s settings) {
	b := newBench(ctx, s, 0, func(context.Context, *queue.Job[payload]) error { return nil })
	must(b.engine.Start(ctx))
	time.Sleep(3 * time.Second)
	a := snap(ctx, s)
	time.Sleep(s.dur)
	end := snap(ctx, s)
	b.stop(ctx)
	sec := end.at.Sub(a.at).Seconds()
	fmt.Printf("postonce idle: %.2f tx/s for three tiers, CPU server %.2f ms/s, client %.2f ms/s\n",
		float64(end.xacts-a.xacts)/sec, (end.server-a.server)/sec*1000, (end.self-a.self)/sec*1000)
}

// oursBacklog measures a critical job's wait without and with 200 k bulk jobs waiting.
func oursBacklog(ctx context.Context, s settings) {
	for _, heap := range []int{0, 200000} {
		var w watch
		b := newBench(ctx, s, 0, func(ctx context.Context, j *queue.Job[payload]) error {
			if j.Kind == "heap" {
				time.Sleep(2 * time.Millisecond) // some work
				return nil
			}
			return w.work(ctx, j)
		})
		bulk, tap := b.kind, b.kind
		bulk.Name, bulk.Tier = "heap", queue.Bulk
		tap.Name, tap.Tier = "tap", queue.Critical
		b.fill(ctx, bulk, heap, 5000)
		b.settle(ctx)
		must(b.engine.Start(ctx))
		time.Sleep(time.Second)
		steadily(s, func(i int) { b.one(ctx, tap, i) })
		time.Sleep(500 * time.Millisecond)
		fmt.Printf("critical wait with %d bulk jobs: %s\n", heap, percentiles(w.late))
		must(b.engine.Stop(ctx))
		b.pool.Close()
	}
}
