package queue

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
)

// TestAnUnknownKindIsWarnedOfOnceAndLeftAlone: a program that only enqueues has put jobs in whose kind stands nowhere.
func TestAnUnknownKindIsWarnedOfOnceAndLeftAlone(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	q := newQuiet(t)
	q.engine.log = zerolog.New(&lines)
	known := q.kind
	q.kind.Name = "novelty"
	for _, n := range []string{"a", "b", "c"} {
		q.enqueue(n)
	}
	runs := q.claim(2)
	q.lane.start(runs)
	if d := cmp.Diff("3 ready", q.text(`SELECT count(*) || ' ' || min(state) FROM jobs`)); d != "" {
		t.Errorf("the jobs, want and have: %s", d)
	}
	q.exec(`UPDATE jobs SET run_at = clock_timestamp()`)
	q.kind = known
	q.enqueue("ours")
	if runs := q.claim(10); len(runs) != 1 || runs[0].kind != "quiet" {
		t.Errorf("claimed %d jobs, want the one of the known kind", len(runs))
	}
	q.ok(q.engine.readKinds(t.Context()))
	if runs := q.claim(10); len(runs) != 0 {
		t.Errorf("after the kinds were read again: claimed %d jobs of the unknown kind", len(runs))
	}
	said := func() int { return strings.Count(lines.String(), "\n") }
	if n := said(); n != 1 || !strings.Contains(lines.String(), "novelty") {
		t.Errorf("said %d lines, want one that names the kind:\n%s", n, lines.String())
	}
	q.engine.strange.met(q.engine.log, runs, time.Now().Add(strangeAgain/2))
	if n := said(); n != 1 {
		t.Errorf("%d lines after half an hour, want 1", n)
	}
	q.engine.strange.met(q.engine.log, runs, time.Now().Add(strangeAgain+time.Minute))
	if n := said(); n != 2 {
		t.Errorf("%d lines after an hour, want 2", n)
	}
}
