package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

type noopArgs struct {
	Num int   `json:"num"`
	At  int64 `json:"at"`
}

// Kind implements river.JobArgs.
func (noopArgs) Kind() string { return "noop" }

type noopWorker struct {
	river.WorkerDefaults[noopArgs]
	mu   sync.Mutex
	late []time.Duration // guarded by mu; nil: not wanted
}

// Work implements river.Worker.
func (w *noopWorker) Work(_ context.Context, j *river.Job[noopArgs]) error {
	if j.Args.At == 0 {
		return nil
	}
	d := time.Duration(time.Now().UnixNano() - j.Args.At)
	w.mu.Lock()
	w.late = append(w.late, d)
	w.mu.Unlock()
	return nil
}

// riverClient uses the settings of River's own benchmark: 2000 workers, a cooldown of 2 ms, a poll of 20 ms.
func riverClient(ctx context.Context, s settings) (*pgxpool.Pool, *river.Client[pgx.Tx], *noopWorker) {
	pool := fresh(ctx, s, "bench_river", 20)
	driver := riverpgxv5.New(pool)
	migrator := get(rivermigrate.New(driver, nil))
	get(migrator.Migrate(ctx, rivermigrate.DirectionUp, nil))
	workers, w := river.NewWorkers(), &noopWorker{}
	river.AddWorker(workers, w)
	client := get(river.NewClient(driver, &river.Config{
		FetchCooldown: 2 * time.Millisecond, FetchPollInterval: 20 * time.Millisecond,
		Logger:  slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2000}},
		Workers: workers,
	}))
	return pool, client, w
}

func riverFill(ctx context.Context, client *river.Client[pgx.Tx], n, batch int) {
	for i := 0; i < n; i += batch {
		params := make([]river.InsertManyParams, min(batch, n-i))
		for k := range params {
			params[k] = river.InsertManyParams{Args: noopArgs{Num: i + k}}
		}
		get(client.InsertManyFast(ctx, params))
	}
}

func riverWork(ctx context.Context, s settings) {
	pool, client, _ := riverClient(ctx, s)
	defer pool.Close()
	riverFill(ctx, client, s.jobs, 5000)
	get(pool.Exec(ctx, "VACUUM ANALYZE"))
	get(pool.Exec(ctx, "CHECKPOINT"))
	events, cancel := client.SubscribeConfig(&river.SubscribeConfig{ChanSize: s.jobs + 10, Kinds: []river.EventKind{river.EventKindJobCompleted}})
	defer cancel()
	release := holdSnapshot(ctx, pool, s.old)
	a, start := snap(ctx, s), time.Now()
	must(client.Start(ctx))
	for range s.jobs {
		<-events
	}
	wall := time.Since(start)
	release()
	must(client.Stop(ctx))
	report("River, no-op", s.jobs, wall, a, snap(ctx, s))
}

func riverInsert(ctx context.Context, s settings) {
	pool, client, _ := riverClient(ctx, s)
	defer pool.Close()
	a, start := snap(ctx, s), time.Now()
	riverFill(ctx, client, s.jobs, 1000)
	report("River, InsertManyFast of 1000", s.jobs, time.Since(start), a, snap(ctx, s))
}

func riverLatency(ctx context.Context, s settings) {
	pool, client, w := riverClient(ctx, s)
	defer pool.Close()
	must(client.Start(ctx))
	time.Sleep(time.Second)
	a := snap(ctx, s)
	n := steadily(s, func(i int) {
		get(client.Insert(ctx, noopArgs{Num: i, At: time.Now().UnixNano()}, nil))
	})
	time.Sleep(time.Second)
	wall := time.Since(a.at)
	b := snap(ctx, s)
	must(client.Stop(ctx))
	fmt.Println("River insert to start:", percentiles(w.late))
	report("River, 20 jobs/s", n, wall, a, b)
}

// steadily calls f at the rate for the duration and returns how often.
func steadily(s settings, f func(i int)) int {
	tick := time.NewTicker(time.Second / time.Duration(s.rate))
	defer tick.Stop()
	n := 0
	for end := time.Now().Add(s.dur); time.Now().Before(end); n++ {
		<-tick.C
		f(n)
	}
	return n
}
