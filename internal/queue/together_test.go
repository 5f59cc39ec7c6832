package queue_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

func TestJobsOfOneCallHaveDueTimesOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	k := kindOf("due", nil)
	at := []time.Time{time.Date(2031, 5, 4, 8, 0, 0, 0, time.UTC), time.Date(2030, 5, 4, 8, 0, 0, 0, time.UTC)}
	b.tx(func(ctx context.Context, tx pgx.Tx) error {
		_, err := k.EnqueueManyTx(ctx, tx, []note{{Name: "b"}, {Name: "a"}}, queue.RunAtEach(at))
		return err
	})
	got := []time.Time{value[time.Time](b, "SELECT run_at FROM jobs WHERE key = 'b'").UTC(), value[time.Time](b, "SELECT run_at FROM jobs WHERE key = 'a'").UTC()}
	if diff := cmp.Diff(at, got); diff != "" {
		t.Error(diff)
	}
	err := pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error {
		_, err := k.EnqueueManyTx(t.Context(), tx, []note{{Name: "c"}, {Name: "d"}}, queue.RunAtEach(at[:1]))
		return err
	})
	if err == nil {
		t.Error("one due time for two jobs was taken")
	}
}

// TestJobsCompleteTogether has three jobs of which one has lost its lease: the others complete with their
// writes, in one transaction.
func TestJobsCompleteTogether(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	arrived, answers := make(chan *queue.Job[note], 3), map[string]chan error{"a": make(chan error, 1), "b": make(chan error, 1), "c": make(chan error, 1)}
	ended := make(chan error, 3)
	child := kindOf("child", nil)
	k := kindOf("together", func(_ context.Context, j *queue.Job[note]) error {
		arrived <- j
		err := <-answers[j.Args.Name]
		ended <- err
		return err
	})
	queue.Register(b.registry, k)
	for name := range answers {
		enqueue(b, k, note{Name: name})
	}
	b.start()
	jobs := []*queue.Job[note]{receive(t, arrived), receive(t, arrived), receive(t, arrived)}
	slices.SortFunc(jobs, func(x, y *queue.Job[note]) int { return int(x.Args.Name[0]) - int(y.Args.Name[0]) })
	b.tx(func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "UPDATE jobs SET lease_token = nextval('job_lease_seq') WHERE key = 'b'")
		return err
	})
	boom := errors.New("boom")
	for _, err := range queue.CompleteTogether(t.Context(), jobs[:1], func(context.Context, pgx.Tx, []bool) error { return boom }) {
		if !errors.Is(err, boom) {
			t.Errorf("a failed group answered %v", err)
		}
	}
	errs := queue.CompleteTogether(t.Context(), jobs, func(ctx context.Context, tx pgx.Tx, held []bool) error {
		if diff := cmp.Diff([]bool{true, false, true}, held); diff != "" {
			t.Error(diff)
		}
		_, err := child.EnqueueManyTx(ctx, tx, []note{{Name: "of a"}, {Name: "of c"}})
		return err
	})
	if errs[0] != nil || errs[2] != nil || !errors.Is(errs[1], queue.ErrLeaseLost) {
		t.Errorf("errors %v", errs)
	}
	for i, j := range jobs {
		answers[j.Args.Name] <- errs[i]
	}
	for range jobs {
		receive(t, ended)
	}
	b.eventually("two in the history, two children", `SELECT (SELECT count(*) FROM job_history WHERE kind = 'together') = 2
		AND (SELECT count(*) FROM jobs WHERE kind = 'child') = 2`)
}
