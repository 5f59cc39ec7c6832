package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/queue"
)

type note struct {
	Name string `json:"name"`
	Chat string `json:"chat,omitempty"`
}

// bundle is one engine on one fresh database.
type bundle struct {
	t        *testing.T
	pool     *pgxpool.Pool
	registry *queue.Registry
	engine   *queue.Engine
}

func newBundle(t *testing.T) *bundle {
	t.Helper()
	return &bundle{t: t, pool: dbtest.New(t), registry: queue.NewRegistry()}
}

func (b *bundle) config() queue.Config {
	return queue.Config{
		Pool: b.pool, Registry: b.registry, Logger: zerolog.New(zerolog.NewTestWriter(b.t)).Level(zerolog.ErrorLevel),
		PollEvery: 50 * time.Millisecond, ReapEvery: 100 * time.Millisecond, KeepEvery: 50 * time.Millisecond,
	}
}

func (b *bundle) start(change ...func(*queue.Config)) {
	b.t.Helper()
	cfg := b.config()
	for _, c := range change {
		c(&cfg)
	}
	b.engine = queue.New(cfg)
	if err := b.engine.Start(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := b.engine.Stop(ctx); err != nil {
			b.t.Error(err)
		}
	})
}

func (b *bundle) tx(fn func(ctx context.Context, tx pgx.Tx) error) {
	b.t.Helper()
	err := pgx.BeginFunc(b.t.Context(), b.pool, func(tx pgx.Tx) error { return fn(b.t.Context(), tx) })
	if err != nil {
		b.t.Fatal(err)
	}
}

func enqueue(b *bundle, k queue.Kind[note], n note, opts ...queue.Option) (sub queue.Submission) {
	b.t.Helper()
	b.tx(func(ctx context.Context, tx pgx.Tx) (err error) {
		sub, err = k.EnqueueTx(ctx, tx, n, opts...)
		return err
	})
	return sub
}

// value reads one value.
func value[T any](b *bundle, sql string, args ...any) (v T) {
	b.t.Helper()
	if err := b.pool.QueryRow(b.t.Context(), sql, args...).Scan(&v); err != nil {
		b.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// eventually waits for a condition in the database: what other connections do has no signal to wait for.
func (b *bundle) eventually(what, sql string, args ...any) {
	b.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		if value[bool](b, sql, args...) {
			return
		}
		select {
		case <-deadline:
			b.t.Fatalf("timed out: %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func receive[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(20 * time.Second):
		t.Fatal("timed out waiting for a signal")
		panic("unreachable")
	}
}

func kindOf(name string, work func(context.Context, *queue.Job[note]) error) queue.Kind[note] {
	return queue.Kind[note]{Name: name, Policy: queue.Ledger, Key: func(n note) string { return n.Name }, Work: work}
}
