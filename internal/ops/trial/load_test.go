package trial_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/embedded"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/migrations"
)

type order struct {
	N int `json:"n"`
}

// load enqueues orders and works them: one kind posts outside through the
// ledger, one changes only the database.
type load struct {
	t        *testing.T
	pool     *pgxpool.Pool
	engine   *queue.Engine
	post     queue.Kind[order]
	count    queue.Kind[order]
	accepted atomic.Int64 // orders whose enqueueing was acknowledged
	tried    atomic.Int64
	refused  atomic.Int64 // enqueueings that failed or whose commit is not known

	last atomic.Pointer[error] // of the newest refusal

	mu      sync.Mutex
	outside map[string]int // calls per effect
	sure    []int          // acknowledged orders

	stopFeed context.CancelFunc
	fed      chan struct{}
}

const trialTableSQL = `
CREATE TABLE trial_counts (
    n  integer NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
)`

const trialCountSQL = `
INSERT INTO trial_counts (n)
VALUES ($1)`

func migrate(t *testing.T, url string) {
	t.Helper()
	m, err := postgres.NewMigrator(url, migrations.FS)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	if _, err := m.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// newLoad starts an engine on url and begins to feed it.
func newLoad(t *testing.T, url, direct string) *load {
	t.Helper()
	migrate(t, direct)
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: url, MaxConns: 12, Pooled: url != direct})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(t.Context(), trialTableSQL); err != nil {
		t.Fatal(err)
	}
	l := &load{t: t, pool: pool, outside: map[string]int{}, fed: make(chan struct{})}
	key := func(o order) string { return fmt.Sprint(o.N) }
	l.post = queue.Kind[order]{Name: "post", Tier: queue.Critical, Policy: queue.Ledger, Lease: 5 * time.Second, MaxFailures: 30, Key: key, Work: l.workPost}
	l.count = queue.Kind[order]{Name: "count", Policy: queue.DB, Lease: 5 * time.Second, MaxFailures: 30, Key: key, Work: l.workCount}
	registry := queue.NewRegistry()
	queue.Register(registry, l.post)
	queue.Register(registry, l.count)
	l.engine = queue.New(queue.Config{
		Pool: pool, ListenDSN: direct, Registry: registry, Logger: zerolog.Nop(),
		PollEvery: 100 * time.Millisecond, ReapEvery: 500 * time.Millisecond, KeepEvery: 200 * time.Millisecond,
	})
	if err := l.engine.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l.stopFeed = cancel
	go l.feed(ctx)
	return l
}

func (l *load) workPost(ctx context.Context, job *queue.Job[order]) error {
	k := fmt.Sprint("post:", job.Args.N)
	_, err := job.Perform(ctx, queue.Effect{
		Key: k, Request: []byte(k), Timeout: 2 * time.Second, Completes: true,
		Call: func(context.Context) queue.Outcome {
			l.mu.Lock()
			l.outside[k]++
			l.mu.Unlock()
			time.Sleep(20 * time.Millisecond) // so that something is under way when the database goes
			return queue.Confirmed{ExternalID: k}
		},
	})
	return err
}

func (l *load) workCount(ctx context.Context, job *queue.Job[order]) error {
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, trialCountSQL, job.Args.N)
		return err
	})
}

// feed enqueues two jobs an order, some hundred orders a second.
func (l *load) feed(ctx context.Context) {
	defer close(l.fed)
	for n := 1; ctx.Err() == nil; n++ {
		l.tried.Add(1)
		err := l.enqueue(ctx, n)
		if err != nil {
			l.refused.Add(1)
			l.last.Store(&err)
			time.Sleep(50 * time.Millisecond)
			continue
		}
		l.accepted.Add(1)
		l.mu.Lock()
		l.sure = append(l.sure, n)
		l.mu.Unlock()
		time.Sleep(2 * time.Millisecond)
	}
}

func (l *load) enqueue(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return postgres.InTx(ctx, l.pool, func(tx pgx.Tx) error {
		if _, err := l.post.EnqueueTx(ctx, tx, order{n}); err != nil {
			return err
		}
		_, err := l.count.EnqueueTx(ctx, tx, order{n})
		return err
	})
}

// accept waits until so many more orders were accepted.
func (l *load) accept(more int64, within time.Duration) {
	l.t.Helper()
	want := l.accepted.Load() + more
	for deadline := time.Now().Add(within); l.accepted.Load() < want; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			refusal := "none"
			if last := l.last.Load(); last != nil {
				refusal = fmt.Sprint(*last)
			}
			l.t.Fatalf("only %d of %d orders were accepted; last refusal: %s", l.accepted.Load(), want, refusal)
		}
	}
}

const (
	liveSQL = `
SELECT count(*)
  FROM jobs`

	lostSQL = `
SELECT count(*)
  FROM unnest($1::integer[]) AS o(n)
 CROSS JOIN (VALUES ('post'), ('count')) AS k(kind)
 WHERE (SELECT count(*) FROM job_history h WHERE h.kind = k.kind AND h.key = o.n::text)
     + (SELECT count(*) FROM job_archive a WHERE a.kind = k.kind AND a.key = o.n::text) <> 1`

	countedTwiceSQL = `
SELECT count(*)
  FROM (SELECT n
          FROM trial_counts
         GROUP BY n
        HAVING count(*) > 1) twice`

	// A count is there exactly if its job completed.
	countedWrongSQL = `
SELECT count(*)
  FROM (SELECT h.key FROM job_history h WHERE h.kind = 'count') done
  FULL JOIN (SELECT n::text AS key FROM trial_counts) counted USING (key)
 WHERE NOT EXISTS (SELECT FROM job_history h WHERE h.kind = 'count' AND h.key = key)
    OR NOT EXISTS (SELECT FROM trial_counts c WHERE c.n::text = key)`

	archivedSQL = `
SELECT coalesce(string_agg(reason || ' ' || n, ', '), 'nothing')
  FROM (SELECT reason,
               count(*) AS n
          FROM job_archive
         GROUP BY reason) r`

	doneSQL = `
SELECT effect_key
  FROM effects
 WHERE state = 'done'`
)

// check stops the feed, lets the queue run dry and compares all books.
func (l *load) check() {
	l.t.Helper()
	l.stopFeed()
	<-l.fed
	l.dry(90 * time.Second)
	stop, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := l.engine.Stop(stop); err != nil {
		l.t.Errorf("stop: %v", err)
	}
	l.zero("orders that are not in exactly one place", lostSQL, l.sure)
	l.zero("orders counted twice", countedTwiceSQL)
	l.zero("counts without their completion, or the reverse", countedWrongSQL)
	for k, n := range l.outside {
		if n > 1 {
			l.t.Errorf("%s was done %d times", k, n)
		}
	}
	rows, err := l.pool.Query(l.t.Context(), doneSQL)
	if err != nil {
		l.t.Fatal(err)
	}
	done, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		l.t.Fatal(err)
	}
	for _, k := range done {
		if l.outside[k] != 1 {
			l.t.Errorf("the ledger says that %s is done; it was done %d times", k, l.outside[k])
		}
	}
	l.t.Logf("%d orders accepted, %d enqueueings failed; %d done outside, %d settled in the ledger; archived: %s",
		l.accepted.Load(), l.refused.Load(), len(l.outside), len(done), l.text(archivedSQL))
}

func (l *load) dry(within time.Duration) {
	l.t.Helper()
	for deadline := time.Now().Add(within); ; time.Sleep(100 * time.Millisecond) {
		var n int
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		err := l.pool.QueryRow(ctx, liveSQL).Scan(&n)
		cancel()
		if err == nil && n == 0 {
			return
		}
		if time.Now().After(deadline) {
			l.t.Fatalf("%d jobs are left, %v", n, err)
		}
	}
}

func (l *load) zero(what, query string, args ...any) {
	l.t.Helper()
	var n int
	if err := l.pool.QueryRow(l.t.Context(), query, args...).Scan(&n); err != nil {
		l.t.Fatal(err)
	}
	if n != 0 {
		l.t.Errorf("%d %s", n, what)
	}
}

func (l *load) text(query string) (s string) {
	l.t.Helper()
	if err := l.pool.QueryRow(l.t.Context(), query).Scan(&s); err != nil {
		l.t.Fatal(err)
	}
	return s
}

// start brings a server up, again for a while where the last one still holds on.
func start(t *testing.T, dir string, settings ...string) *embedded.Server {
	t.Helper()
	var last error
	for range 60 {
		s, err := embedded.Start(context.WithoutCancel(t.Context()), dir, settings...)
		if err == nil {
			return s
		}
		if last = err; !errors.Is(err, embedded.ErrInUse) && last == nil {
			break
		}
		time.Sleep(500 * time.Millisecond)
	}
	t.Fatalf("start in %s: %v", dir, last)
	return nil
}
