package scoring

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/scoring/bayes"
)

// modelStage is a channel with scored stories, taught and asked by several processes.
type modelStage struct {
	pool *pgxpool.Pool
	now  time.Time
	all  features // every word that any story has
}

func newModelStage(t *testing.T, stories int) *modelStage {
	t.Helper()
	st := &modelStage{pool: dbtest.New(t), now: noon()}
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range 40 {
		st.all.terms = append(st.all.terms, fmt.Sprintf("word%d", i))
	}
	for story := range stories {
		var ws []string
		for _, w := range st.all.terms {
			if rng.IntN(4) == 0 {
				ws = append(ws, w)
			}
		}
		if _, err := st.pool.Exec(t.Context(), "INSERT INTO scores (channel_id, story_id, version, score, verdict, features) VALUES (1, $1, 1, 30, 'below', $2)", story, ws); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func (st *modelStage) teach(t *testing.T, story, label int) {
	t.Helper()
	s := New(Config{Pool: st.pool})
	if err := postgres.InTx(t.Context(), st.pool, func(tx pgx.Tx) error { return s.Teach(t.Context(), tx, 1, int64(story), label, 1) }); err != nil {
		t.Error(err)
	}
}

func (st *modelStage) stamp(t *testing.T) stamp {
	t.Helper()
	var at stamp
	err := st.pool.QueryRow(t.Context(), "SELECT changed, liked, disliked FROM word_counts WHERE channel_id = 1 AND word = ''").Scan(&at.changed, &at.totals.Liked, &at.totals.Disliked)
	if err != nil {
		t.Error(err)
	}
	return at
}

func (st *modelStage) models() *models { return newModels(func() time.Time { return st.now }) }

// hold has the model in memory, as it is after enough words were asked for.
func (st *modelStage) hold(t *testing.T, m *models) {
	t.Helper()
	for range modelWorth/len(st.all.terms) + 1 {
		if _, _, err := m.counts(t.Context(), st.pool, 1, st.stamp(t), &st.all); err != nil {
			t.Fatal(err)
		}
	}
	if m.held[1] == nil {
		t.Fatal("the model is not held")
	}
}

// agree compares what a process holds with what the database holds.
func (st *modelStage) agree(t *testing.T, what string, m *models) {
	t.Helper()
	held, totals, err := m.counts(t.Context(), st.pool, 1, st.stamp(t), &st.all)
	if err != nil {
		t.Fatal(err)
	}
	want, all, err := readCounts(t.Context(), st.pool, 1, st.all.terms)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, held); d != "" || totals != all {
		t.Fatalf("%s: totals %v, want %v; counts:\n%s", what, totals, all, d)
	}
}

func TestAModelInMemoryFollowsEveryLessonAndUndo(t *testing.T) {
	t.Parallel()
	st := newModelStage(t, 12)
	rng := rand.New(rand.NewPCG(9, 9))
	st.teach(t, 0, 1)
	a, b := st.models(), st.models() // two processes; neither teaches
	st.hold(t, a)
	st.hold(t, b)
	for i := range 60 {
		st.teach(t, rng.IntN(12), rng.IntN(3)-1)
		st.agree(t, fmt.Sprintf("lesson %d", i), a)
		if i%7 == 0 { // this one was asked last seven lessons ago
			st.agree(t, fmt.Sprintf("lesson %d, seven at once", i), b)
		}
	}
	// A process of an older version stamps nothing.
	if _, err := st.pool.Exec(t.Context(), "UPDATE word_counts SET liked = liked + 1 WHERE channel_id = 1 AND word IN ('', 'word3')"); err != nil {
		t.Fatal(err)
	}
	st.agree(t, "taught without a stamp", a)
	// A database set back under a running process is followed again within the hour.
	if _, err := st.pool.Exec(t.Context(), "UPDATE word_counts SET changed = 1, liked = 2 WHERE channel_id = 1"); err != nil {
		t.Fatal(err)
	}
	st.now = st.now.Add(modelAge)
	st.agree(t, "set back", a)
}

func TestAModelIsRightWhileManyTeachAndAsk(t *testing.T) {
	t.Parallel()
	st := newModelStage(t, 12)
	st.teach(t, 0, 1)
	m := st.models()
	st.hold(t, m)
	var wg sync.WaitGroup
	for w := range 4 {
		rng := rand.New(rand.NewPCG(uint64(w), 3))
		wg.Go(func() {
			for range 15 {
				st.teach(t, rng.IntN(12), rng.IntN(3)-1)
			}
		})
		wg.Go(func() {
			for range 40 {
				at := st.stamp(t)
				counts, totals, err := m.counts(t.Context(), st.pool, 1, at, &st.all)
				if err != nil {
					t.Error(err)
				}
				for i, c := range counts { // a word never counts more lessons than there are
					if c.Liked > totals.Liked || c.Disliked > totals.Disliked || c.Liked < 0 || c.Disliked < 0 {
						t.Errorf("%s: %v of %v", st.all.terms[i], c, totals)
					}
				}
			}
		})
	}
	wg.Wait()
	st.agree(t, "after all", m)
}

func TestModelsAreBoundedAndReadOnlyWhereWorthIt(t *testing.T) {
	t.Parallel()
	st := newModelStage(t, 1)
	for channel := 1; channel <= 3; channel++ {
		if _, err := st.pool.Exec(t.Context(), `INSERT INTO word_counts SELECT $1::bigint, 'w' || n, 1, 1, 5 FROM generate_series(1, $2::int) AS n UNION ALL SELECT $1::bigint, '', 9, 9, 5`, channel, 2000*channel); err != nil {
			t.Fatal(err)
		}
	}
	m := st.models()
	m.limit = 9000
	at := stamp{changed: 5, totals: bayes.Totals{Liked: 9, Disliked: 9}}
	ask := func(channel int64, words int) {
		t.Helper()
		f := features{terms: strings.Fields(strings.Repeat("w7 ", words))}
		counts, _, err := m.counts(t.Context(), st.pool, channel, at, &f)
		if err != nil || counts[words-1].Liked != 1 {
			t.Fatalf("channel %d: %v", channel, err)
		}
	}
	held := func(want string) {
		t.Helper()
		var got []string
		for e := m.order.Front(); e != nil; e = e.Next() {
			got = append(got, fmt.Sprint(e.Value.(*model).channelID))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("held: %s, want %s", strings.Join(got, " "), want)
		}
	}
	ask(1, 900)
	held("")
	ask(1, 100)
	held("1")
	ask(2, modelWorth)
	held("2 1")
	ask(1, 1)
	held("1 2")
	ask(3, modelWorth) // 2,000 and 6,000 words stay, 4,000 go
	held("3 1")
	ask(2, 3900) // fewer than its model has
	held("3 1")
	ask(2, 100) // now as many: it comes, and both others go for it
	held("2")
	if m.words != 4000 {
		t.Errorf("%d words counted", m.words)
	}
}
