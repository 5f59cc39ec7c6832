package scoring

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/scoring/bayes"
)

func noon() time.Time { return time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC) }

func TestJudge(t *testing.T) {
	t.Parallel()
	item := editorial.Item{Title: "New battery stores wind power", Text: "Engineers built a battery for wind parks.", PublishedAt: noon()}
	base := subject{item: item, weight: 100, threshold: 50}
	tests := []struct {
		name     string
		change   func(*subject)
		baseline bool
		verdict  string
		code     string
	}{
		{"no topics, fresh", func(*subject) {}, false, verdictProposed, "no_topics"},
		{"a topic of the channel", func(s *subject) { s.lookFor = "battery, wind power" }, false, verdictProposed, "look_for"},
		{"nothing of what it looks for", func(s *subject) { s.lookFor = "football" }, false, verdictBelow, "fresh"},
		{"what it avoids", func(s *subject) { s.lookFor, s.avoid = "politics", "battery" }, false, verdictBelow, "avoid"},
		{"the threshold does not count for a baseline", func(s *subject) { s.lookFor = "football" }, true, verdictBaseline, "fresh"},
		{"a language that is not wanted", func(s *subject) { s.item.Language, s.languages = "en", []string{"ru", "uk"} }, true, verdictRuledOut, "language"},
		{"a language of the list, whatever its region", func(s *subject) { s.item.Language, s.languages = "pt", []string{"en", "pt-BR"} }, false, verdictProposed, "no_topics"},
		{"a language that nobody knows", func(s *subject) { s.languages = []string{"ru"} }, false, verdictProposed, "no_topics"},
		{"a word never wanted", func(s *subject) { s.never = []string{"WIND"} }, true, verdictRuledOut, "never"},
		{"a word that must be there", func(s *subject) { s.must = []string{"solar"} }, false, verdictRuledOut, "must"},
		{"a pattern", func(s *subject) { s.pattern = "(?i)solar" }, false, verdictRuledOut, "pattern"},
		{"too old", func(s *subject) { s.item.PublishedAt = noon().Add(-8 * 24 * time.Hour) }, false, verdictRuledOut, "too_old"},
		{"a source with no weight", func(s *subject) { s.weight = 0 }, false, verdictBelow, "source"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sub := base
			tt.change(&sub)
			v := judge(sub, featuresOf(sub.item), topicsOf(sub), nil, bayes.Totals{}, noon(), tt.baseline)
			has := slices.ContainsFunc(v.reasons, func(r editorial.Reason) bool { return r.Code == tt.code })
			if v.verdict != tt.verdict || !has {
				t.Errorf("verdict %s, score %d, reasons %v; want %s because of %s", v.verdict, v.score, v.reasons, tt.verdict, tt.code)
			}
		})
	}
}

func counts(t *testing.T, pool *pgxpool.Pool) map[string][2]int {
	t.Helper()
	rows, err := pool.Query(t.Context(), "SELECT word, liked, disliked FROM word_counts WHERE liked + disliked > 0")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][2]int{}
	var w string
	var l, d int
	if _, err := pgx.ForEachRow(rows, []any{&w, &l, &d}, func() error { out[w] = [2]int{l, d}; return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestTheLastDecisionCountsOnceAndUndoTakesItBack(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	var proposed []Proposal
	s := New(Config{Pool: pool, OnProposal: func(_ context.Context, _ pgx.Tx, p Proposal) error {
		proposed = append(proposed, p)
		return nil
	}})
	if _, err := pool.Exec(t.Context(), "INSERT INTO scores (channel_id, story_id, version, score, verdict, features) VALUES (1, 7, 1, 30, 'below', '{wind,power}')"); err != nil {
		t.Fatal(err)
	}
	teach := func(label int) {
		t.Helper()
		if err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error { return s.Teach(t.Context(), tx, 1, 7, label, 1) }); err != nil {
			t.Fatal(err)
		}
	}
	liked := map[string][2]int{"": {1, 0}, "wind": {1, 0}, "power": {1, 0}}
	teach(1)
	teach(1)
	if diff := cmp.Diff(liked, counts(t, pool)); diff != "" {
		t.Errorf("taught twice:\n%s", diff)
	}
	teach(-1)
	if diff := cmp.Diff(map[string][2]int{"": {0, 1}, "wind": {0, 1}, "power": {0, 1}}, counts(t, pool)); diff != "" {
		t.Errorf("decided otherwise:\n%s", diff)
	}
	teach(0)
	if diff := cmp.Diff(map[string][2]int{}, counts(t, pool)); diff != "" {
		t.Errorf("taken back:\n%s", diff)
	}
	for range 2 {
		err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			_, err := s.Rescue(t.Context(), tx, 1, 7, 1)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(liked, counts(t, pool)); diff != "" || len(proposed) != 1 {
		t.Errorf("rescued twice: %d proposals\n%s", len(proposed), diff)
	}
}

func TestOneOfTwentyProposalsExplores(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	rng := rand.New(rand.NewPCG(1, 1))
	proposed, explored := 0, 0
	for i := range 250 {
		v := verdict{score: 60, verdict: verdictProposed}
		if rng.IntN(3) > 0 {
			v = verdict{score: 20, verdict: verdictBelow}
		}
		err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			if err := explore(t.Context(), tx, 1, &v); err != nil {
				return err
			}
			_, err := keep(t.Context(), tx, scoreArgs{ChannelID: 1, StoryID: int64(i)}, subject{}, []string{}, v)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if v.proposed() {
			proposed++
		}
		if v.verdict == verdictExplore {
			explored++
		}
	}
	if share := float64(explored) / float64(proposed); share < 0.03 || share > 0.05 {
		t.Errorf("%d of %d proposals explore: %.3f", explored, proposed, share)
	}
	if _, err := pool.Exec(t.Context(), "INSERT INTO scores (channel_id, story_id, score, verdict) SELECT 2, n, 60, 'proposed' FROM generate_series(1, 19) AS n"); err != nil {
		t.Fatal(err)
	}
	for want, v := range map[string]verdict{
		verdictBelow: {score: 30, verdict: verdictBelow, reasons: []editorial.Reason{{Code: "avoid"}}}, verdictExplore: {score: 30, verdict: verdictBelow},
		verdictRuledOut: {verdict: verdictRuledOut}, verdictProposed: {score: 70, verdict: verdictProposed},
	} {
		err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error { return explore(t.Context(), tx, 2, &v) })
		if err != nil || v.verdict != want {
			t.Errorf("%s, want %s; %v", v.verdict, want, err)
		}
	}
}

func TestReasonsShowWholeWords(t *testing.T) {
	t.Parallel()
	f := featuresOf(editorial.Item{Title: "Ракетами займутся Studies", Text: "Новые ракеты и batteries."})
	var learned strongest
	for i, term := range f.terms {
		if w := map[string]float64{"ракет": 2, "stud": 1, "batter": -1}[term]; w != 0 {
			learned.see(bayes.Evidence{Index: i, Weight: w})
		}
	}
	got := map[string][]string{}
	for _, r := range learned.reasons(f.surfaces, 1) {
		got[r.Code] = r.Words
	}
	want := map[string][]string{"liked_words": {"Ракетами", "Studies"}, "disliked_words": {"batteries"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestTheBestOfTheFreshestAreProposedFirst(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	for _, sql := range []string{
		`INSERT INTO people (id) VALUES (1)`,
		`INSERT INTO channels (chat_id, created_by, look_for, item_languages) VALUES (-1, 1, 'battery', '{en}')`,
		`INSERT INTO sources (id, address, url, host, kind) OVERRIDING SYSTEM VALUE VALUES (5, 'a', 'https://a.example', 'a.example', 'feed')`,
		`INSERT INTO subscriptions (channel_id, source_id, created_by, never_words) VALUES (1, 5, 1, '{lottery}')`,
		`INSERT INTO items (source_id, title, language, published_at)
		 VALUES (5, 'Football results', 'en', now()), (5, 'A new battery', 'en', now() - interval '9 hours'),
		        (5, 'Battery lottery', 'en', now()), (5, 'Battery auf Deutsch', 'de', now()), (5, 'Weather', 'en', now() - interval '20 days')`,
	} {
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	got, err := New(Config{Pool: pool}).Best(t.Context(), pool, 1, 5, []int64{1, 2, 3, 4, 5}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int64{2, 1, 5}, got); d != "" {
		t.Errorf("what hard rules exclude must not come, what fits comes first:\n%s", d)
	}
}
