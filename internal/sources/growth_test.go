package sources

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/sources/decode"
)

// TestRecordingStaysFlat measures the recording of 30 new entries beside 10
// thousand and beside 5 million known items. It is measured only on request.
func TestRecordingStaysFlat(t *testing.T) {
	if os.Getenv("POSTONCE_BENCH") == "" {
		t.Skip("set POSTONCE_BENCH=1 to measure")
	}
	b := newBench(t)
	id := b.add("http://127.0.0.1:9/feed")
	grow := func(from, to int) {
		for _, q := range []string{
			`INSERT INTO items (source_id, url, canonical, title, text, result, fingerprint)
			 SELECT 1 + g % 2000, 'https://e.org/k/' || g, 'e.org/k/' || g, 'Title ' || g, 'text', 'new', g FROM generate_series($1::int, $2::int) g`,
			`INSERT INTO item_keys (source_id, key, item_id)
			 SELECT 1 + g % 2000, decode(md5(c || g), 'hex'), g FROM generate_series($1::int, $2::int) g, unnest(ARRAY['i', 'l']) c`,
		} {
			if _, err := b.pool.Exec(t.Context(), q, from, to); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.pool.Exec(t.Context(), "VACUUM ANALYZE items, item_keys"); err != nil {
			t.Fatal(err)
		}
	}
	round := 0
	measure := func() (wall, used time.Duration) {
		var took []time.Duration
		for range 120 {
			round++
			b.pass(10 * time.Minute)
			out := freshOutcome(t, b, id, round)
			before, start := cpu()+serverCPU(b), time.Now()
			b.tx(func(tx pgx.Tx) error { return b.svc.record(t.Context(), tx, id, out) })
			took = append(took, time.Since(start))
			used += cpu() + serverCPU(b) - before
		}
		slices.Sort(took)
		return took[len(took)/2], used / time.Duration(len(took))
	}
	grow(1, 10_000)
	measure()
	small, smallCPU := measure()
	for from := 10_001; from < 5_000_000; from += 499_000 {
		grow(from, min(from+498_999, 5_000_000))
	}
	measure()
	large, largeCPU := measure()
	t.Logf("30 new entries: %v beside 10,000 known items, %v beside 5,000,000: %.2f times; of CPU, Postgres' with it, %v and %v: %.2f times",
		small, large, float64(large)/float64(small), smallCPU, largeCPU, float64(largeCPU)/float64(smallCPU))
}

// serverCPU is what Postgres' processes for this database have used; 0 where they run elsewhere.
func serverCPU(b *bench) time.Duration {
	var sum time.Duration
	for _, pid := range strings.Fields(value[string](b, "SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE datname = current_database()")) {
		line, err := os.ReadFile("/proc/" + pid + "/schedstat")
		if err != nil {
			continue
		}
		var ns int64
		_, _ = fmt.Sscan(string(line), &ns)
		sum += time.Duration(ns)
	}
	return sum
}

func freshOutcome(t *testing.T, b *bench, id int64, round int) *outcome {
	t.Helper()
	src, err := scanRow(b.pool.QueryRow(t.Context(), sourceFindSQL, id))
	if err != nil {
		t.Fatal(err)
	}
	doc := &decode.Document{Format: decode.RSS, Title: "Wire"}
	for i := range 30 {
		link := fmt.Sprintf("https://wire.example/r%d/story-%d", round, i)
		doc.Entries = append(doc.Entries, decode.Entry{
			ID: link, Link: link, Title: fmt.Sprintf("Story %d of round %d", i, round), Body: strings.Repeat(fmt.Sprintf("words %d of the story ", round*30+i), 40),
			Published: b.at.Load().Add(-time.Duration(i) * time.Minute),
		})
	}
	out := &outcome{src: src, at: *b.at.Load(), doc: doc, url: src.url, resp: &fetch.Response{Status: 200, Body: []byte(fmt.Sprint(round))}}
	b.svc.settle(out)
	return out
}
