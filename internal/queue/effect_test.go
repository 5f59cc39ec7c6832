package queue_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

// world counts what really happened outside.
type world struct{ calls atomic.Int64 }

func (w *world) effect(key string, out queue.Outcome) queue.Effect {
	return queue.Effect{Key: key, Request: []byte("hello"), Timeout: time.Minute, Call: func(context.Context) queue.Outcome {
		w.calls.Add(1)
		return out
	}}
}

func TestAnEffectIsPerformedOnceHoweverOftenItIsAskedFor(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var w world
	prior := make(chan bool, 10)
	k := kindOf("post", func(ctx context.Context, j *queue.Job[note]) error {
		out, err := j.Perform(ctx, w.effect("post:1", queue.Confirmed{ExternalID: "m1"}))
		if err != nil {
			return err
		}
		prior <- out.(queue.Confirmed).Prior
		return nil
	})
	queue.Register(b.registry, k)
	b.start()
	enqueue(b, k, note{Name: "a"})
	if receive(t, prior) {
		t.Error("the first one is not prior")
	}
	enqueue(b, k, note{Name: "b"})
	if !receive(t, prior) {
		t.Error("the second one must come from the ledger")
	}
	if n := w.calls.Load(); n != 1 {
		t.Errorf("%d calls", n)
	}
	got := value[string](b, "SELECT format('%s %s', state, external_id) FROM effects WHERE effect_key = 'post:1'")
	if got != "done m1" {
		t.Errorf("ledger: %s", got)
	}
}

func TestOutcomesOfAnEffect(t *testing.T) {
	t.Parallel()
	type end struct{ Effect, Job, Reason string }
	for name, tt := range map[string]struct {
		out   queue.Outcome
		class queue.Class
		panic bool
		want  end
	}{
		"confirmed completes":             {out: queue.Confirmed{ExternalID: "1"}, want: end{"done", "completed", ""}},
		"a certain refusal is retried":    {out: queue.Refused{Err: errors.New("400")}, want: end{"not_done", "ready", ""}},
		"a rate limit is retried":         {out: queue.Refused{RetryAfter: time.Hour}, want: end{"not_done", "ready", ""}},
		"a final refusal is archived":     {out: queue.Refused{Permanent: true}, want: end{"not_done", "archived", "permanent"}},
		"a strict doubt is archived":      {out: queue.Unknown{Err: errors.New("timeout")}, want: end{"unknown", "archived", "unconfirmed"}},
		"a courtesy in doubt is over":     {out: queue.Unknown{}, class: queue.Courtesy, want: end{"unknown", "completed", ""}},
		"a call that panics is in doubt":  {panic: true, want: end{"unknown", "archived", "unconfirmed"}},
		"a call without outcome likewise": {want: end{"unknown", "archived", "unconfirmed"}},
	} {
		for _, after := range []bool{false, true} {
			for _, completes := range []bool{false, true} {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					b := newBundle(t)
					var w world
					told := atomic.Int64{}
					k := kindOf("post", func(ctx context.Context, j *queue.Job[note]) error {
						e := w.effect("post:1", tt.out)
						e.Completes = completes
						if tt.panic {
							e.Call = func(context.Context) queue.Outcome { panic("boom") }
						}
						if after {
							e.Before = func(context.Context, pgx.Tx) error { return nil }
							e.After = func(context.Context, pgx.Tx, queue.Outcome) error { told.Add(1); return nil }
						}
						_, err := j.Perform(ctx, e)
						return err
					})
					k.Class = tt.class
					queue.Register(b.registry, k)
					id := enqueue(b, k, note{Name: "a"}).JobID
					b.start()
					b.eventually("the end", `SELECT NOT EXISTS (SELECT FROM jobs WHERE id = $1 AND (state = 'leased' OR last_error IS NULL))
						AND EXISTS (SELECT FROM effects WHERE state <> 'intent')`, id)
					trace, err := queue.Show(t.Context(), b.pool, id)
					if err != nil {
						t.Fatal(err)
					}
					got := end{trace.Effects[0].State, trace.State, string(trace.Reason)}
					if diff := cmp.Diff(tt.want, got); diff != "" {
						t.Error(diff)
					}
					if after && told.Load() != 1 {
						t.Errorf("After ran %d times", told.Load())
					}
				})
			}
		}
	}
}

func TestAnotherRequestUnderAKeyInUseIsRefused(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var w world
	errs := make(chan error, 2)
	k := kindOf("post", func(ctx context.Context, j *queue.Job[note]) error {
		e := w.effect("post:1", queue.Confirmed{ExternalID: "1"})
		e.Request = []byte(j.Args.Name)
		_, err := j.Perform(ctx, e)
		errs <- err
		return err
	})
	queue.Register(b.registry, k)
	b.start()
	enqueue(b, k, note{Name: "a"})
	if err := receive(t, errs); err != nil {
		t.Fatal(err)
	}
	enqueue(b, k, note{Name: "b"})
	if err := receive(t, errs); !errors.Is(err, queue.ErrRequestDiffers) {
		t.Errorf("got %v", err)
	}
}

func TestADoubtIsNeverPerformedAgain(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var w world
	k := kindOf("post", func(ctx context.Context, j *queue.Job[note]) error {
		_, err := j.Perform(ctx, w.effect("post:1", queue.Unknown{Err: errors.New("reset")}))
		return err
	})
	queue.Register(b.registry, k)
	b.start()
	for _, name := range []string{"a", "b"} {
		id := enqueue(b, k, note{Name: name}).JobID
		b.eventually("the archive", "SELECT EXISTS (SELECT FROM job_archive WHERE job_id = $1 AND reason = 'unconfirmed')", id)
	}
	if n := w.calls.Load(); n != 1 {
		t.Errorf("%d calls, want 1", n)
	}
}

func TestADoubtfulHandlerThatReturnsNilIsStillInDoubt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	k := kindOf("post", func(ctx context.Context, j *queue.Job[note]) error {
		var w world
		_, _ = j.Perform(ctx, w.effect("post:"+j.Args.Name, queue.Unknown{}))
		return nil
	})
	queue.Register(b.registry, k)
	id := enqueue(b, k, note{Name: "a"}).JobID
	b.start()
	b.eventually("the archive", "SELECT EXISTS (SELECT FROM job_archive WHERE job_id = $1 AND reason = 'unconfirmed')", id)
}

func TestAPreconditionPreventsTheEffect(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var w world
	k := kindOf("post", func(ctx context.Context, j *queue.Job[note]) error {
		e := w.effect("post:1", queue.Confirmed{ExternalID: "1"})
		e.Before = func(context.Context, pgx.Tx) error { return queue.Permanent(errors.New("not scheduled")) }
		_, err := j.Perform(ctx, e)
		return err
	})
	queue.Register(b.registry, k)
	id := enqueue(b, k, note{Name: "a"}).JobID
	b.start()
	b.eventually("the archive", "SELECT EXISTS (SELECT FROM job_archive WHERE job_id = $1 AND reason = 'permanent')", id)
	if w.calls.Load() != 0 || value[int](b, "SELECT count(*) FROM effects") != 0 {
		t.Error("the effect was begun")
	}
}

func TestAfterThatFailsDoesNotLoseTheOutcome(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	var (
		w     world
		fails atomic.Int64
	)
	k := kindOf("post", func(ctx context.Context, j *queue.Job[note]) error {
		e := w.effect("post:1", queue.Confirmed{ExternalID: "1"})
		e.Completes = true
		e.After = func(_ context.Context, _ pgx.Tx, o queue.Outcome) error {
			if fails.Add(1) <= 4 {
				return errors.New("the domain cannot write")
			}
			if !o.(queue.Confirmed).Prior {
				return errors.New("want the outcome from the ledger")
			}
			return nil
		}
		_, err := j.Perform(ctx, e)
		return err
	})
	queue.Register(b.registry, k)
	id := enqueue(b, k, note{Name: "a"}).JobID
	b.start()
	b.eventually("history", "SELECT EXISTS (SELECT FROM job_history WHERE id = $1)", id)
	if n := w.calls.Load(); n != 1 {
		t.Errorf("%d calls", n)
	}
}
