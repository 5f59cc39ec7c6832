package scoring

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// Trial is how an item would score.
type Trial struct {
	ItemID  int64
	Title   string
	URL     string
	At      time.Time
	Score   int
	Verdict string
	Reasons []editorial.Reason
}

const trialItemsSQL = `
SELECT i.id,
       i.title,
       i.text,
       i.url,
       coalesce(i.published_at, i.first_seen_at),
       coalesce(s.weight, 100),
       coalesce(s.must_words, '{}'),
       coalesce(s.never_words, '{}'),
       coalesce(s.pattern, ''),
       c.look_for,
       c.avoid,
       c.threshold,
       i.language,
       c.item_languages
  FROM channels c
  JOIN items i ON i.source_id = $2
  LEFT JOIN subscriptions s ON s.channel_id = c.id AND s.source_id = i.source_id
 WHERE c.id = $1
   AND i.title <> ''
   AND ($4::bigint[] IS NULL OR i.id = ANY ($4))
 ORDER BY coalesce(i.published_at, i.first_seen_at) DESC, i.id DESC
 LIMIT $3`

// Try says how a source's newest items would score for a channel. It keeps nothing.
func (s *Service) Try(ctx context.Context, channelID, sourceID int64, n int) ([]Trial, error) {
	return s.try(ctx, s.cfg.Pool, channelID, sourceID, n, nil)
}

// Best returns those n of a source's items that fit a channel best, the best first;
// of equals the fresher one. What hard rules exclude is left out, so they may be fewer.
func (s *Service) Best(ctx context.Context, q postgres.Querier, channelID, sourceID int64, itemIDs []int64, n int) ([]int64, error) {
	trials, err := s.try(ctx, q, channelID, sourceID, len(itemIDs), itemIDs)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(trials, func(a, b Trial) int { return cmp.Compare(b.Score, a.Score) })
	var out []int64
	for _, t := range trials {
		if t.Verdict != verdictRuledOut && len(out) < n {
			out = append(out, t.ItemID)
		}
	}
	return out, nil
}

// try judges items as a baseline for Best, which gives them by number, and as new ones for Try.
func (s *Service) try(ctx context.Context, q postgres.Querier, channelID, sourceID int64, n int, only []int64) ([]Trial, error) {
	rows, err := q.Query(ctx, trialItemsSQL, channelID, sourceID, n, only)
	if err != nil {
		return nil, fmt.Errorf("items of source %d: %w", sourceID, err)
	}
	type tried struct {
		sub subject
		url string
	}
	subjects, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (tried, error) {
		var t tried
		var at time.Time
		err := row.Scan(&t.sub.item.ID, &t.sub.item.Title, &t.sub.item.Text, &t.url, &at, &t.sub.weight,
			&t.sub.must, &t.sub.never, &t.sub.pattern, &t.sub.lookFor, &t.sub.avoid, &t.sub.threshold,
			&t.sub.item.Language, &t.sub.languages)
		t.sub.item.PublishedAt = at
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("items of source %d: %w", sourceID, err)
	}
	fs := make([]features, len(subjects))
	var all []string
	for i, t := range subjects {
		fs[i] = featuresOf(t.sub.item)
		all = append(all, fs[i].terms...)
	}
	// One read for all of them. Not from memory: q may be a transaction that sees what is not committed.
	counts, totals, err := readCounts(ctx, q, channelID, all)
	if err != nil {
		return nil, err
	}
	out := make([]Trial, len(subjects))
	for i, t := range subjects {
		n := len(fs[i].terms)
		v := judge(t.sub, fs[i], s.topics.of(t.sub), counts[:n], totals, s.cfg.Now(), only != nil)
		counts = counts[n:]
		out[i] = Trial{
			ItemID: t.sub.item.ID, Title: t.sub.item.Title, URL: t.url, At: t.sub.item.PublishedAt,
			Score: v.score, Verdict: v.verdict, Reasons: v.reasons,
		}
	}
	return out, nil
}
