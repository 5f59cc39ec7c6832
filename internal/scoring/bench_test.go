package scoring

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/postonce/postonce/internal/article/labelled"
	"github.com/postonce/postonce/internal/article/words"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/scoring/bayes"
)

// cpu is what this process has used: a loaded machine stretches time, not this.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// learnt fills the counts of a channel as 10,000 decisions on real words leave them:
// those of the labelled items, and a long tail of others.
func learnt(rng *rand.Rand, tail int) (map[string]bayes.Count, bayes.Totals) {
	counts := map[string]bayes.Count{}
	for _, it := range labelled.Items() {
		for _, w := range words.Set(it.Title + "\n" + it.Text) {
			counts[w] = bayes.Count{Liked: 1 + rng.IntN(400), Disliked: 1 + rng.IntN(400)}
		}
	}
	for i := range tail {
		counts[fmt.Sprintf("tail%d", i)] = bayes.Count{Liked: rng.IntN(4), Disliked: 1 + rng.IntN(4)}
	}
	return counts, bayes.Totals{Liked: 5000, Disliked: 5000}
}

// serverCPU is what the connections of a pool have used of Postgres; 0 where that runs elsewhere.
func (st *scoringStage) serverCPU() time.Duration {
	var sum time.Duration
	for _, pid := range st.servers {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
		if err != nil {
			return 0
		}
		var ns int64
		_, _ = fmt.Sscan(string(line), &ns)
		sum += time.Duration(ns)
	}
	return sum
}

// As many score at the same time as the engine has workers, over so many connections.
const benchWorkers, benchConns = 16, 4

// scoringStage is a channel that follows one source, with the counts of 10,000 decisions, and stories
// of the labelled items.
type scoringStage struct {
	s       *Service
	pool    *pgxpool.Pool
	servers []int // processes of Postgres, one a connection
	stories []int64
	items   []editorial.Item
	counts  map[string]bayes.Count
	totals  bayes.Totals
}

func newScoringStage(t *testing.T, tail int) *scoringStage {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	st := &scoringStage{}
	st.counts, st.totals = learnt(rng, tail)
	cfg := dbtest.New(t).Config()
	cfg.MinConns, cfg.MaxConns, cfg.MaxConnLifetime = benchConns, benchConns, time.Hour
	var mu sync.Mutex
	cfg.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		mu.Lock()
		defer mu.Unlock()
		st.servers = append(st.servers, int(c.PgConn().PID()))
		return nil
	}
	var err error
	if st.pool, err = pgxpool.NewWithConfig(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.pool.Close)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := st.pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`INSERT INTO people (id) VALUES (1)`)
	exec(`INSERT INTO channels (chat_id, created_by, look_for, avoid) VALUES (-1, 1, 'rocket, satellite, wind power, банк, ракета', 'lottery, politics')`)
	exec(`INSERT INTO sources (id, address, url, host, kind) OVERRIDING SYSTEM VALUE VALUES (5, 'a', 'https://a.example', 'a.example', 'feed')`)
	exec(`INSERT INTO subscriptions (channel_id, source_id, created_by) VALUES (1, 5, 1)`)
	var ws []string
	var liked, disliked []int
	for w, c := range st.counts {
		ws, liked, disliked = append(ws, w), append(liked, c.Liked), append(disliked, c.Disliked)
	}
	exec(`INSERT INTO word_counts SELECT 1, w, l, d, 7 FROM unnest($1::text[], $2::int[], $3::int[]) AS t (w, l, d)`, append(ws, ""), append(liked, st.totals.Liked), append(disliked, st.totals.Disliked))
	var long strings.Builder
	for i, it := range labelled.Items() {
		item := editorial.Item{Title: it.Title, Text: it.Text, PublishedAt: noon()}
		long.WriteString(it.Text + " ")
		if i%2 == 1 { // every other one is as long as scoring reads
			item.Text = long.String()
			item.Text = head(item.Text[max(0, len(item.Text)-2500):], featureBytes)
		}
		item.Text = strings.ToValidUTF8(item.Text, "")
		var story int64
		err := st.pool.QueryRow(t.Context(), `
			WITH i AS (INSERT INTO items (source_id, title, text, published_at) VALUES (5, $1, $2, $3) RETURNING id),
			     s AS (INSERT INTO stories (lead_item_id, title) SELECT id, $1 FROM i RETURNING id)
			INSERT INTO story_items (item_id, story_id, how, certain, likeness) SELECT i.id, s.id, 'lead', true, 1 FROM i, s RETURNING story_id`,
			item.Title, item.Text, item.PublishedAt).Scan(&story)
		if err != nil {
			t.Fatal(err)
		}
		st.stories, st.items = append(st.stories, story), append(st.items, item)
	}
	exec(`ANALYZE word_counts, items, stories, story_items`)
	st.s = New(Config{Pool: st.pool, Now: noon})
	return st
}

// whole is all of scoring but the queue's part and the row that is kept: the story is read, its words and
// those of the model are looked up, the rule is applied.
func (st *scoringStage) whole(t *testing.T, story int64) (subject, features, verdict) {
	t.Helper()
	sub, err := st.s.subjects.read(t.Context(), 1, story)
	if err != nil {
		t.Error(err)
	}
	f := featuresOf(sub.item)
	counts, totals, err := st.s.models.counts(t.Context(), st.pool, 1, sub.taught, &f)
	if err != nil {
		t.Error(err)
	}
	return sub, f, judge(sub, f, st.s.topics.of(sub), counts, totals, noon(), false)
}

// TestScoringCosts scores stories after 10,000 decisions beside a bare loop that only
// cuts the same texts into words, in turn. POSTONCE_BENCH=1 makes it
// long and holds it against the aim of 200 µs.
func TestScoringCosts(t *testing.T) {
	rounds, tail, measured := 2, 3000, os.Getenv("POSTONCE_BENCH") != ""
	if measured {
		rounds, tail = 40, 60000
	}
	st := newScoringStage(t, tail)
	var bare, rule, memory, whole, server, kept, keptServer, read, readServer time.Duration
	take := func(used, pg *time.Duration, f func()) {
		a, b := cpu(), st.serverCPU()
		f()
		*used += cpu() - a
		if pg != nil {
			*pg += st.serverCPU() - b
		}
	}
	at := stamp{changed: 7, totals: st.totals}
	all := func(f func(i int)) func() {
		return func() {
			for i := range st.items {
				f(i)
			}
		}
	}
	together := func(f func(i int)) func() {
		return func() {
			var g errgroup.Group
			g.SetLimit(benchWorkers)
			for i := range st.items {
				g.Go(func() error { f(i); return nil })
			}
			_ = g.Wait()
		}
	}
	all(func(i int) { st.whole(t, st.stories[i]) })() // statements are prepared, the model is read
	if len(st.s.models.held) != 1 {
		t.Fatal("the model is not held")
	}
	subs, fs, vs := make([]subject, len(st.items)), make([]features, len(st.items)), make([]verdict, len(st.items))
	for round := range rounds {
		take(&bare, nil, all(func(i int) { words.Set(st.items[i].Title + "\n" + head(st.items[i].Text, featureBytes)) }))
		take(&rule, nil, all(func(i int) {
			f := featuresOf(st.items[i])
			cs := make([]bayes.Count, len(f.terms))
			for j, w := range f.terms {
				cs[j] = st.counts[w]
			}
			judge(subs[i], f, st.s.topics.of(subs[i]), cs, st.totals, noon(), false)
		}))
		take(&memory, nil, all(func(i int) {
			f := featuresOf(st.items[i])
			counts, totals, _ := st.s.models.counts(t.Context(), st.pool, 1, at, &f)
			judge(subs[i], f, st.s.topics.of(subs[i]), counts, totals, noon(), false)
		}))
		take(&whole, &server, together(func(i int) { subs[i], fs[i], vs[i] = st.whole(t, st.stories[i]) }))
		take(&read, &readServer, together(func(i int) {
			if _, _, err := readCounts(t.Context(), st.pool, 1, fs[i].terms); err != nil {
				t.Error(err)
			}
		}))
		err := postgres.InTx(t.Context(), st.pool, func(tx pgx.Tx) error {
			take(&kept, &keptServer, all(func(i int) {
				if _, err := keep(t.Context(), tx, scoreArgs{ChannelID: int64(2 + round), StoryID: st.stories[i]}, subs[i], fs[i].terms, vs[i]); err != nil {
					t.Fatal(err)
				}
			}))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	n := rounds * len(st.items)
	per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(n) / 1000 }
	t.Logf("%d stories, 10,000 decisions, %d words of the model; µs CPU a story, of this process and (of Postgres):", n, len(st.counts))
	t.Logf("bare tokenising %.1f; the rule with counts at hand %.1f; the rule with the model in memory %.1f; whole, the story read as well, %.1f (%.1f)", per(bare), per(rule), per(memory), per(whole), per(server))
	t.Logf("beside it: the words read from Postgres where no model is held %.1f (%.1f); the row that keeps the score %.1f (%.1f)", per(read), per(readServer), per(kept), per(keptServer))
	if per(bare) == 0 || memory > 4*bare {
		t.Errorf("the rule costs %.1f times the bare loop, want at most 4", float64(memory)/float64(bare))
	}
	if measured && per(whole) > 200 {
		t.Errorf("scoring costs %.1f µs CPU, want below 200", per(whole))
	}
}
