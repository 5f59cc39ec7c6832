package queue_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

// doubtful is a bundle with one unconfirmed job.
func doubtful(t *testing.T) (b *bundle, desk *queue.Desk, w *world, told *atomic.Int64, id int64) {
	t.Helper()
	b, w, told = newBundle(t), &world{}, &atomic.Int64{}
	k := kindOf("post", func(ctx context.Context, j *queue.Job[note]) error {
		e := w.effect("post:"+j.Args.Name, queue.Unknown{Err: errors.New("timeout")})
		if w.calls.Load() > 0 {
			e = w.effect("post:"+j.Args.Name, queue.Confirmed{ExternalID: "later"})
		}
		_, err := j.Perform(ctx, e)
		return err
	})
	k.Settled = func(_ context.Context, _ pgx.Tx, n note, s queue.Settlement) error {
		if n.Name != "a" || s.EffectKey != "post:a" || s.By != "ann" {
			t.Errorf("told %+v about %+v", s, n)
		}
		told.Add(1)
		return nil
	}
	queue.Register(b.registry, k)
	id = enqueue(b, k, note{Name: "a"}, queue.CausedBy(queue.Origin{PersonID: 5})).JobID
	b.start()
	b.eventually("the archive", "SELECT EXISTS (SELECT FROM job_archive WHERE job_id = $1 AND needs_reconcile)", id)
	return b, &queue.Desk{Pool: b.pool, Registry: b.registry}, w, told, id
}

func TestConfirmSettlesOnceAndSaysSoAgain(t *testing.T) {
	t.Parallel()
	b, desk, w, told, id := doubtful(t)
	first, err := desk.Confirm(t.Context(), id, "ann")
	if err != nil || first.Status != queue.StatusReconciled || !first.Fresh {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := desk.Confirm(t.Context(), id, "bob")
	if err != nil || second.Fresh || second.By != "ann" {
		t.Errorf("again: %+v, %v", second, err)
	}
	if _, err := desk.Replay(t.Context(), id, "bob", queue.EvidenceNotDone); !errors.Is(err, queue.ErrDecided) {
		t.Errorf("a replay of a confirmed job: %v", err)
	}
	effect, err := queue.EffectOf(t.Context(), b.pool, "post:a")
	if err != nil || effect.State != "done" || effect.ReconciledBy != "ann" {
		t.Errorf("ledger: %+v, %v", effect, err)
	}
	if told.Load() != 1 || w.calls.Load() != 1 {
		t.Errorf("told %d times, called %d times", told.Load(), w.calls.Load())
	}
}

func TestReplayNeedsAWordAboutTheDoubt(t *testing.T) {
	t.Parallel()
	b, desk, w, _, id := doubtful(t)
	if _, err := desk.Replay(t.Context(), id, "ann", queue.NoEvidence); !errors.Is(err, queue.ErrUnsettled) {
		t.Fatalf("without evidence: %v", err)
	}
	var underWay *queue.InFlightError
	if _, err := desk.Replay(t.Context(), id, "ann", queue.EvidenceNotDone); !errors.Is(err, queue.ErrInFlight) || !errors.As(err, &underWay) || underWay.Until.IsZero() {
		t.Fatalf("while the request may be under way: %v", err)
	}
	b.tx(func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE effects SET deadline_at = clock_timestamp()`)
		return err
	})
	first, err := desk.Replay(t.Context(), id, "ann", queue.EvidenceNotDone)
	if err != nil {
		t.Fatal(err)
	}
	second, err := desk.Replay(t.Context(), id, "ann", queue.EvidenceNotDone)
	if err != nil || second.ReplayJobID != first.ReplayJobID || second.Fresh {
		t.Errorf("again: %+v, %v", second, err)
	}
	b.eventually("the replay", "SELECT EXISTS (SELECT FROM job_history WHERE id = $1)", first.ReplayJobID)
	if n := w.calls.Load(); n != 2 {
		t.Errorf("%d calls, want 2: one lost, one after the operator's word", n)
	}
	trace, err := queue.Show(t.Context(), b.pool, first.ReplayJobID)
	if err != nil {
		t.Fatal(err)
	}
	if trace.Generation != 1 || trace.PersonID != 5 || len(trace.Parents) != 1 || trace.Parents[0].JobID != id {
		t.Errorf("trace of the replay: %+v", trace)
	}
}

func TestReplayAfterItHappenedDoesNotRepeatIt(t *testing.T) {
	t.Parallel()
	b, desk, w, _, id := doubtful(t)
	d, err := desk.Replay(t.Context(), id, "ann", queue.EvidenceDone)
	if err != nil {
		t.Fatal(err)
	}
	b.eventually("the replay", "SELECT EXISTS (SELECT FROM job_history WHERE id = $1)", d.ReplayJobID)
	if n := w.calls.Load(); n != 1 {
		t.Errorf("%d calls", n)
	}
}

func TestDismissLeavesTheLedgerAlone(t *testing.T) {
	t.Parallel()
	b, desk, _, told, id := doubtful(t)
	if _, err := desk.Dismiss(t.Context(), id, "ann"); err != nil {
		t.Fatal(err)
	}
	effect, err := queue.EffectOf(t.Context(), b.pool, "post:a")
	if err != nil || effect.State != "unknown" || told.Load() != 0 {
		t.Errorf("ledger: %+v, %v; told %d times", effect, err, told.Load())
	}
	if rows, _ := queue.List(t.Context(), b.pool, queue.Filter{State: "closed"}); len(rows) != 1 {
		t.Errorf("list of closed: %+v", rows)
	}
}

func TestEvidenceSettlesTheArchiveToo(t *testing.T) {
	t.Parallel()
	b, _, _, _, id := doubtful(t)
	settle := func(done bool) error {
		return pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error {
			return queue.SettleTx(t.Context(), tx, "post:a", done, "m7", "preview page")
		})
	}
	for range 2 { // idempotent
		if err := settle(true); err != nil {
			t.Fatal(err)
		}
	}
	if err := settle(false); !errors.Is(err, queue.ErrDecided) {
		t.Errorf("contradiction: %v", err)
	}
	got := value[string](b, "SELECT format('%s %s %s', status, needs_reconcile, resolved_by) FROM job_archive WHERE job_id = $1", id)
	if got != "reconciled f preview page" {
		t.Errorf("archive: %s", got)
	}
}

func TestListsFindLiveAndArchivedJobs(t *testing.T) {
	t.Parallel()
	b, _, _, _, id := doubtful(t)
	waiting := enqueue(b, kindOf("post", nil), note{Name: "w"}, queue.After(1e12), queue.CausedBy(queue.Origin{PersonID: 5})).JobID
	for state, want := range map[string][]int64{
		"": {waiting, id}, "ready": {waiting}, "leased": nil, "open": {id}, "unconfirmed": {id}, "archived": {id}, "closed": nil,
	} {
		rows, err := queue.List(t.Context(), b.pool, queue.Filter{State: state, Kind: "post"})
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, r := range rows {
			got = append(got, r.JobID)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("state %q: %s", state, diff)
		}
	}
	b.tx(func(ctx context.Context, tx pgx.Tx) error { return queue.CancelTx(ctx, tx, waiting, "ann") })
	b.tx(func(ctx context.Context, tx pgx.Tx) error { return queue.ForgetPersonTx(ctx, tx, 5) })
	if _, err := queue.Show(t.Context(), b.pool, 999999); !errors.Is(err, queue.ErrNotFound) {
		t.Errorf("show: %v", err)
	}
}
