package chat_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
)

// backlog is work that nobody waits for.
type backlog struct {
	N int `json:"n"`
}

func backlogKind(name string, tier queue.Tier) queue.Kind[backlog] {
	return queue.Kind[backlog]{
		Name: name, Tier: tier, Policy: queue.DB,
		Key: func(b backlog) string { return strconv.Itoa(b.N) },
		// As long as a score or a page of a list takes.
		Work: func(ctx context.Context, _ *queue.Job[backlog]) error {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
			}
			return nil
		},
	}
}

// BenchmarkTapUnderABacklog measures from the tap to its answer, Telegram aside
// (the sandbox answers at once), with 100,000 bulk jobs and 10,000 polls
// waiting. The promise is 150 ms for 95 of 100. Run it as docs/benchmarks.md says.
func BenchmarkTapUnderABacklog(b *testing.B) {
	bulk, polls := backlogKind("bench_bulk", queue.Bulk), backlogKind("bench_poll", queue.Default)
	w := newBundle(b, func(w *bundle) {
		w.more = append(w.more, func(r *queue.Registry) { queue.Register(r, bulk); queue.Register(r, polls) })
	})
	ann := w.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	ann.drafts("The probe reached orbit.")
	for _, k := range []struct {
		kind queue.Kind[backlog]
		n    int
	}{{bulk, 100_000}, {polls, 10_000}} {
		args := make([]backlog, k.n)
		for i := range args {
			args[i].N = i
		}
		for part := range slices.Chunk(args, 10_000) {
			err := postgres.InTx(b.Context(), w.pool, func(tx pgx.Tx) error {
				_, err := k.kind.EnqueueManyTx(b.Context(), tx, part)
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	var took []time.Duration
	verbs := []string{"Approve", "Undo"}
	card := ann.card().ID
	for i := 0; b.Loop(); i++ {
		began := time.Now()
		answer, err := ann.Tap(b.Context(), card, verbs[i%2], patience)
		if err != nil || !answer.Answered {
			b.Fatalf("tap %d: %v, answered %t", i, err, answer.Answered)
		}
		took = append(took, time.Since(began))
		b.StopTimer()
		ann.shows(card, verbs[(i+1)%2])
		b.StartTimer()
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(float64(w.count(`SELECT count(*) FROM jobs WHERE kind = 'bench_bulk'`)), "bulk-left")
	b.ReportMetric(float64(w.count(`SELECT count(*) FROM jobs WHERE kind = 'bench_poll'`)), "polls-left")
}

// shows waits until a message has a button.
func (a *actor) shows(message int, words string) {
	a.b.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		for _, m := range a.messages() {
			if _, ok := m.Button(words); ok && m.ID == message {
				return
			}
		}
	}
	a.b.t.Fatalf("message %d never showed %s", message, words)
}
