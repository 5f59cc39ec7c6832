package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

func TestAJobRunsOnceAndItsKeyIsRemembered(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ran := make(chan int64, 10)
	k := kindOf("greet", func(_ context.Context, j *queue.Job[note]) error { ran <- j.ID; return nil })
	queue.Register(b.registry, k)
	b.start()
	first := enqueue(b, k, note{Name: "a"})
	if !first.Fresh {
		t.Error("the first submission is not fresh")
	}
	if got := receive(t, ran); got != first.JobID {
		t.Errorf("ran job %d, want %d", got, first.JobID)
	}
	b.eventually("history", "SELECT count(*) = 1 FROM job_history WHERE id = $1", first.JobID)
	if again := enqueue(b, k, note{Name: "a"}); again.Fresh || again.JobID != first.JobID {
		t.Errorf("second submission: %+v, want the known job %d", again, first.JobID)
	}
	if left := value[int](b, "SELECT count(*) FROM jobs"); left != 0 {
		t.Errorf("%d jobs left", left)
	}
}

func TestManyKeepTheOrderOfTheirArguments(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	k := kindOf("many", nil)
	known := enqueue(b, k, note{Name: "b"})
	var subs []queue.Submission
	b.tx(func(ctx context.Context, tx pgx.Tx) (err error) {
		subs, err = k.EnqueueManyTx(ctx, tx, []note{{Name: "z"}, {Name: "b"}, {Name: "a"}, {Name: "z"}})
		return err
	})
	want := []bool{true, false, true, false}
	for i, s := range subs {
		if s.Fresh != want[i] {
			t.Errorf("submission %d: fresh = %v, want %v", i, s.Fresh, want[i])
		}
	}
	if subs[1].JobID != known.JobID || subs[3].JobID != subs[0].JobID || subs[0].JobID > subs[2].JobID {
		t.Errorf("numbers %+v do not follow the arguments", subs)
	}
}

func TestErrorsDecideWhatBecomesOfAJob(t *testing.T) {
	t.Parallel()
	type end struct{ State, Reason, Attempt string }
	for name, tt := range map[string]struct {
		err  error
		want end
	}{
		"transient goes back":      {queue.Transient(errors.New("x")), end{State: "ready", Attempt: "transient"}},
		"unclassified goes back":   {errors.New("x"), end{State: "ready", Attempt: "transient"}},
		"rate limited goes back":   {queue.RateLimited(errors.New("x"), time.Hour), end{State: "ready", Attempt: "rate_limited"}},
		"later goes back":          {queue.Later(time.Hour, "x"), end{State: "ready", Attempt: "snoozed"}},
		"permanent is archived":    {queue.Permanent(errors.New("x")), end{Reason: "permanent", Attempt: "permanent"}},
		"unknown is archived":      {queue.Unknown{Err: errors.New("x")}, end{Reason: "unconfirmed", Attempt: "unknown"}},
		"wrapped classes are seen": {fmt.Errorf("a: %w", queue.Permanent(errors.New("x"))), end{Reason: "permanent", Attempt: "permanent"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t)
			k := kindOf("fails", func(context.Context, *queue.Job[note]) error { return tt.err })
			queue.Register(b.registry, k)
			id := enqueue(b, k, note{Name: "a"}).JobID
			b.start()
			b.eventually("an attempt", "SELECT count(*) > 0 FROM job_attempts WHERE job_id = $1", id)
			got := end{
				State:   value[string](b, "SELECT coalesce((SELECT state FROM jobs WHERE id = $1), '')", id),
				Reason:  value[string](b, "SELECT coalesce((SELECT reason FROM job_archive WHERE job_id = $1), '')", id),
				Attempt: value[string](b, "SELECT outcome FROM job_attempts WHERE job_id = $1", id),
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFailuresAreRetriedThenExhausted(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	k := kindOf("fails", func(context.Context, *queue.Job[note]) error { return errors.New("no") })
	k.MaxFailures = 1
	queue.Register(b.registry, k)
	id := enqueue(b, k, note{Name: "a"}).JobID
	b.start()
	b.eventually("the archive", "SELECT count(*) = 1 FROM job_archive WHERE job_id = $1 AND reason = 'exhausted'", id)
	if n := value[int](b, "SELECT count(*) FROM job_attempts WHERE job_id = $1", id); n != 2 {
		t.Errorf("%d attempts, want 2", n)
	}
}

func TestCompleteCommitsChildrenWithTheirOrigin(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	child := kindOf("child", nil)
	ran := make(chan queue.Origin, 1)
	child.Work = func(ctx context.Context, j *queue.Job[note]) error { ran <- j.Origin(); return nil }
	parent := kindOf("parent", func(ctx context.Context, j *queue.Job[note]) error {
		return j.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
			_, err := child.EnqueueTx(ctx, tx, note{Name: "c"})
			return err
		})
	})
	queue.Register(b.registry, child)
	queue.Register(b.registry, parent)
	b.start()
	p := enqueue(b, parent, note{Name: "p"}, queue.CausedBy(queue.Origin{UpdateID: 7, PersonID: 8, RequestID: "r"}))
	want := queue.Origin{JobID: p.JobID, UpdateID: 7, PersonID: 8, RequestID: "r"}
	if diff := cmp.Diff(want, receive(t, ran)); diff != "" {
		t.Error(diff)
	}
}

func TestAFailedCompletionLeavesNoChild(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	child := kindOf("child", nil)
	parent := kindOf("parent", func(ctx context.Context, j *queue.Job[note]) error {
		return j.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
			if _, err := child.EnqueueTx(ctx, tx, note{Name: "c"}); err != nil {
				return err
			}
			return queue.Permanent(errors.New("the domain says no"))
		})
	})
	queue.Register(b.registry, parent)
	b.start()
	id := enqueue(b, parent, note{Name: "p"}).JobID
	b.eventually("the archive", "SELECT count(*) = 1 FROM job_archive WHERE job_id = $1 AND reason = 'permanent'", id)
	if n := value[int](b, "SELECT count(*) FROM job_keys WHERE kind = 'child'"); n != 0 {
		t.Error("a child was enqueued by a parent that did not complete")
	}
}

func TestOrderedJobsRunOneAtATimeInOrder(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var (
		mu      sync.Mutex
		running = map[string]int{}
		order   = map[string][]string{}
	)
	done := make(chan struct{}, 100)
	k := kindOf("update", func(_ context.Context, j *queue.Job[note]) error {
		mu.Lock()
		running[j.Args.Chat]++
		if running[j.Args.Chat] > 1 {
			t.Errorf("two updates of chat %s run at once", j.Args.Chat)
		}
		order[j.Args.Chat] = append(order[j.Args.Chat], j.Args.Name)
		mu.Unlock()
		time.Sleep(time.Millisecond) // work that another one could overlap
		mu.Lock()
		running[j.Args.Chat]--
		mu.Unlock()
		done <- struct{}{}
		return nil
	})
	k.Ordering = func(n note) string { return "chat:" + n.Chat }
	queue.Register(b.registry, k)
	want := map[string][]string{}
	for i := range 60 {
		n := note{Name: fmt.Sprintf("%02d", i), Chat: fmt.Sprint(i % 4)}
		want[n.Chat] = append(want[n.Chat], n.Name)
		enqueue(b, k, n)
	}
	b.start()
	second := *b
	second.start() // a second process
	for range 60 {
		receive(t, done)
	}
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff(want, order); diff != "" {
		t.Error(diff)
	}
}

func TestAPausedKindWaits(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ran := make(chan string, 2)
	k := kindOf("paused", func(_ context.Context, j *queue.Job[note]) error { ran <- j.Key; return nil })
	other := kindOf("other", k.Work)
	queue.Register(b.registry, k)
	queue.Register(b.registry, other)
	b.start()
	b.tx(func(ctx context.Context, tx pgx.Tx) error { return queue.PauseTx(ctx, tx, "paused", true, "test") })
	enqueue(b, k, note{Name: "p"})
	enqueue(b, other, note{Name: "o"})
	if got := receive(t, ran); got != "o" {
		t.Errorf("%s ran while paused", got)
	}
	b.tx(func(ctx context.Context, tx pgx.Tx) error { return queue.PauseTx(ctx, tx, "paused", false, "test") })
	if got := receive(t, ran); got != "p" {
		t.Errorf("got %s", got)
	}
}

func TestASleepingHandlerKeepsItsLease(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	go1 := make(chan struct{})
	ran := make(chan int64, 10)
	k := kindOf("slow", func(_ context.Context, j *queue.Job[note]) error { ran <- j.ID; <-go1; return nil })
	k.Lease = 2 * time.Second
	queue.Register(b.registry, k)
	b.start()
	id := enqueue(b, k, note{Name: "a"}).JobID
	receive(t, ran)
	b.eventually("more than two leases pass", "SELECT coalesce(clock_timestamp() > claimed_at + interval '5 s', false) FROM jobs WHERE id = $1", id)
	close(go1)
	b.eventually("history", "SELECT count(*) = 1 AND min(expiries) = 0 FROM job_history WHERE id = $1", id)
	if len(ran) != 0 {
		t.Error("the job ran twice")
	}
}

func TestStopHandsBackWhatIsNotDone(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	started := make(chan struct{})
	k := kindOf("slow", func(ctx context.Context, _ *queue.Job[note]) error { close(started); <-ctx.Done(); return ctx.Err() })
	queue.Register(b.registry, k)
	e := queue.New(b.config())
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := enqueue(b, k, note{Name: "a"}).JobID
	receive(t, started)
	grace, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := e.Stop(grace); err != nil {
		t.Error(err)
	}
	got := value[string](b, "SELECT format('%s %s %s', state, failures, expiries) FROM jobs WHERE id = $1", id)
	if got != "ready 0 0" {
		t.Errorf("after the stop: %s, want ready 0 0", got)
	}
}

func TestSchedulesFireOnceForTwoProcesses(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ran := make(chan string, 100)
	k := kindOf("tick", func(_ context.Context, j *queue.Job[note]) error { ran <- j.Key; return nil })
	queue.Register(b.registry, k)
	queue.Schedule(b.registry, "every second", queue.Every(time.Second), queue.CatchUpLast, k,
		func(at time.Time) note { return note{Name: at.Format(time.RFC3339)} })
	b.start()
	second := *b
	second.start()
	seen := map[string]bool{}
	for range 3 {
		key := receive(t, ran)
		if seen[key] {
			t.Errorf("fire time %s ran twice", key)
		}
		seen[key] = true
	}
	if n := value[int](b, "SELECT count(*) FROM schedule_runs WHERE job_id IS NULL"); n != 0 {
		t.Errorf("%d runs without a job", n)
	}
}
