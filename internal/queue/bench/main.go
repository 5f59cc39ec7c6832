// Command bench measures the queue side by side with River and with the barest claim-and-delete loop, on one
// Postgres, in CPU per job as well as in jobs per second: on a shared machine the former is the steadier number.
// It is a module of its own, so that River stays out of the product. docs/benchmarks.md has the commands.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// settings are the command line.
type settings struct {
	dsn     string
	jobs    int
	workers int
	claim   int
	rate    int
	dur     time.Duration
	rounds  int
	old     bool
	call    time.Duration
}

func main() {
	var s settings
	flag.StringVar(&s.dsn, "dsn", os.Getenv("BENCH_DATABASE_URL"), "a Postgres whose superuser we are, on this machine")
	flag.IntVar(&s.jobs, "jobs", 100000, "jobs a round")
	flag.IntVar(&s.workers, "workers", 200, "handlers at once (River: 2000, its own benchmark's figure)")
	flag.IntVar(&s.claim, "claim", 100, "the bare loop's batch")
	flag.IntVar(&s.rate, "rate", 20, "inserts per second for latency")
	flag.DurationVar(&s.dur, "dur", 10*time.Second, "for latency and idle")
	flag.IntVar(&s.rounds, "rounds", 1, "rounds of each, interleaved")
	flag.BoolVar(&s.old, "old", false, "hold an old snapshot open")
	flag.DurationVar(&s.call, "call", 60*time.Second, "how long an effect's call may take (the product's messages: 60 s; the lease is 60 s too)")
	profile := flag.String("cpuprofile", "", "write a profile of this process")
	flag.Parse()
	if s.dsn == "" {
		fmt.Fprintln(os.Stderr, "bench: name a Postgres by -dsn or BENCH_DATABASE_URL, as a superuser and on this machine")
		os.Exit(2)
	}
	if *profile != "" {
		must(pprof.StartCPUProfile(get(os.Create(*profile))))
		defer pprof.StopCPUProfile()
	}
	ctx := context.Background()
	measures := map[string]func(context.Context, settings){
		"bare": bare, "river": riverWork, "noop": oursWork, "effects": oursEffects,
		"river-insert": riverInsert, "insert": oursInsert, "latency": oursLatency, "river-latency": riverLatency,
		"idle": oursIdle, "backlog": oursBacklog,
	}
	for range s.rounds {
		for _, name := range flag.Args() {
			m := measures[name]
			if m == nil {
				fmt.Fprintln(os.Stderr, "no such measure:", name)
				os.Exit(2)
			}
			m(ctx, s)
		}
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func get[T any](v T, err error) T {
	must(err)
	return v
}

// fresh returns a pool on a new, empty database.
func fresh(ctx context.Context, s settings, name string, conns int) *pgxpool.Pool {
	admin := get(pgx.Connect(ctx, s.dsn))
	defer admin.Close(ctx)
	get(admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)"))
	get(admin.Exec(ctx, "CREATE DATABASE "+name))
	cfg := get(pgxpool.ParseConfig(s.dsn))
	cfg.ConnConfig.Database = name
	cfg.MaxConns = int32(conns)
	return get(pgxpool.NewWithConfig(ctx, cfg))
}

// holdSnapshot keeps an old snapshot open until the returned function is called.
func holdSnapshot(ctx context.Context, pool *pgxpool.Pool, on bool) func() {
	if !on {
		return func() {}
	}
	tx := get(pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}))
	get(tx.Exec(ctx, "SELECT txid_current()"))
	return func() { _ = tx.Rollback(ctx) }
}

func title(parts ...string) string { return strings.Join(parts, " ") }
