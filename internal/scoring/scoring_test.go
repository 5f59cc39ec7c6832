package scoring

import (
	"context"
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
		explore  bool
		verdict  string
		code     string
	}{
		{"no topics, fresh", func(*subject) {}, false, false, verdictProposed, "no_topics"},
		{"a topic of the channel", func(s *subject) { s.lookFor = "battery, wind power" }, false, false, verdictProposed, "look_for"},
		{"nothing of what it looks for", func(s *subject) { s.lookFor = "football" }, false, false, verdictBelow, "fresh"},
		{"what it avoids", func(s *subject) { s.lookFor, s.avoid = "politics", "battery" }, false, false, verdictBelow, "avoid"},
		{"the threshold does not count for a baseline", func(s *subject) { s.lookFor = "football" }, true, false, verdictBaseline, "fresh"},
		{"one of twenty explores", func(s *subject) { s.lookFor = "football" }, false, true, verdictExplore, "explore"},
		{"a word never wanted", func(s *subject) { s.never = []string{"WIND"} }, true, true, verdictRuledOut, "never"},
		{"a word that must be there", func(s *subject) { s.must = []string{"solar"} }, false, false, verdictRuledOut, "must"},
		{"a pattern", func(s *subject) { s.pattern = "(?i)solar" }, false, false, verdictRuledOut, "pattern"},
		{"too old", func(s *subject) { s.item.PublishedAt = noon().Add(-8 * 24 * time.Hour) }, false, false, verdictRuledOut, "too_old"},
		{"a source with no weight", func(s *subject) { s.weight = 0 }, false, false, verdictBelow, "source"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			sub := base
			tt.change(&sub)
			v := judge(sub, nil, nil, bayes.Totals{}, noon(), tt.baseline, tt.explore)
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
