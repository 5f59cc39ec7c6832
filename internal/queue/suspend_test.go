package queue_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

func TestSuspendTakesOutWhatActsOutside(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	nothing := func(context.Context, *queue.Job[note]) error { return nil }
	reply, publish, count := kindOf("reply", nothing), kindOf("publish", nothing), kindOf("count", nothing)
	count.Policy = queue.DB
	for _, k := range []queue.Kind[note]{reply, publish, count} {
		queue.Register(b.registry, k)
	}
	b.start() // publishes the kinds' policies
	b.tx(func(ctx context.Context, tx pgx.Tx) error {
		for _, k := range []queue.Kind[note]{reply, publish, count} {
			if err := queue.PauseTx(ctx, tx, k.Name, true, "test"); err != nil {
				return err
			}
			if _, err := k.EnqueueTx(ctx, tx, note{Name: "a"}); err != nil {
				return err
			}
		}
		n, err := queue.SuspendTx(ctx, tx, "restored", "publish")
		if n != 1 {
			t.Errorf("suspended %d jobs", n)
		}
		return err
	})
	if got := value[string](b, "SELECT string_agg(kind, ' ' ORDER BY kind) FROM jobs"); got != "count publish" {
		t.Errorf("left in the queue: %s", got)
	}
	got := value[string](b, "SELECT string_agg(kind || ' ' || reason || ' ' || status || ' ' || last_error, ', ') FROM job_archive")
	if got != "reply cancelled open restored" {
		t.Errorf("in the archive: %s", got)
	}
}
