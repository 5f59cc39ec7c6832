package queue

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// afterQuery calls then once, when the statement has been answered.
type afterQuery struct {
	sql  string
	then func()
}

type queryText struct{}

func (a *afterQuery) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, queryText{}, q.SQL)
}

func (a *afterQuery) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if then := a.then; then != nil && ctx.Value(queryText{}) == a.sql {
		a.then = nil
		then()
	}
}

// TestTheReaperSeesAnIntentThatWasCommittedBeforeItsLock is R3: the intent is committed after the reaper's
// transaction began and before it locks the job. A snapshot of the transaction's begin would miss it, and the
// job would return while its effect is under way.
func TestTheReaperSeesAnIntentThatWasCommittedBeforeItsLock(t *testing.T) {
	t.Parallel()
	q := newQuiet(t)
	q.engine.cfg.LeaseMargin = time.Millisecond
	q.enqueue("a")
	r := q.claim(1)[0]
	q.exec(`UPDATE jobs SET lease_until = clock_timestamp() + interval '2 s' WHERE id = $1`, r.id)

	intend := func() {
		hash := sha256.Sum256([]byte("a"))
		granted, err := r.writeIntent(t.Context(), Effect{Key: "fx:a", Request: []byte("a"), Timeout: time.Millisecond}, hash[:])
		if q.ok(err); !granted {
			t.Error("the lease is held, and the intent was refused")
		}
		q.exec(`SELECT pg_sleep_until(lease_until) FROM jobs WHERE id = $1`, r.id)
	}
	cfg := q.pool.Config()
	cfg.ConnConfig.Tracer = &afterQuery{sql: tryLockSQL, then: intend}
	reaper, err := pgxpool.NewWithConfig(t.Context(), cfg)
	q.ok(err)
	t.Cleanup(reaper.Close)
	q.engine.pool = reaper
	n, err := q.engine.reap(t.Context())
	if q.ok(err); n != 1 {
		t.Fatalf("%d leases ended, want 1", n)
	}
	got := q.text(`SELECT coalesce((SELECT 'job ' || state FROM jobs), (SELECT 'archive ' || reason FROM job_archive)) || ', effect ' || (SELECT state FROM effects)`)
	if want := "archive unconfirmed, effect unknown"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
