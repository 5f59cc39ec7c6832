package queue

import (
	"context"
	"errors"
	"testing"
)

// TestAnExecutionThatWasReplacedCanDoNothingMore: a worker was frozen past its lease, its job was claimed again,
// and then it wakes. Whatever it tries carries the token of its own claim, and the job has another.
func TestAnExecutionThatWasReplacedCanDoNothingMore(t *testing.T) {
	t.Parallel()
	for name, try := range map[string]func(ctx context.Context, r *run) error{
		"an effect": func(ctx context.Context, r *run) error {
			_, err := r.perform(ctx, Effect{Key: "fx", Request: []byte("x"), Call: func(context.Context) Outcome {
				return Confirmed{ExternalID: "by the one that was replaced"}
			}})
			return err
		},
		"a completion": func(ctx context.Context, r *run) error { return r.complete(ctx, nil) },
		"a failure": func(_ context.Context, r *run) error {
			r.fail(Permanent(errors.New("told by the one that was replaced")))
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQuiet(t)
			q.enqueue("a")
			frozen := q.claim(1)[0]
			q.exec(`UPDATE jobs SET lease_until = clock_timestamp() - interval '1 s'`)
			n, err := q.engine.reap(t.Context())
			if q.ok(err); n != 1 {
				t.Fatalf("%d leases ended, want 1", n)
			}
			q.exec(`UPDATE jobs SET run_at = clock_timestamp()`)
			now := q.claim(1)[0]
			if err := try(t.Context(), frozen); err != nil && !errors.Is(err, ErrLeaseLost) {
				t.Errorf("%v, want %v", err, ErrLeaseLost)
			}
			got := q.text(`SELECT coalesce((SELECT state FROM jobs), 'gone') || ', ' || (SELECT count(*) FROM effects) || ' effects'`)
			if want := "leased, 0 effects"; got != want {
				t.Errorf("after it: %s, want %s", got, want)
			}
			q.ok(now.complete(t.Context(), nil))
		})
	}
}
