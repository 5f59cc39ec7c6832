package scoring

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/article/words"
	"github.com/postonce/postonce/internal/editorial"
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
       c.threshold
  FROM channels c
  JOIN items i ON i.source_id = $2
  LEFT JOIN subscriptions s ON s.channel_id = c.id AND s.source_id = i.source_id
 WHERE c.id = $1
   AND i.title <> ''
 ORDER BY coalesce(i.published_at, i.first_seen_at) DESC, i.id DESC
 LIMIT $3`

// Try says how a source's newest items would score for a channel. It keeps nothing.
func (s *Service) Try(ctx context.Context, channelID, sourceID int64, n int) ([]Trial, error) {
	rows, err := s.cfg.Pool.Query(ctx, trialItemsSQL, channelID, sourceID, n)
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
			&t.sub.must, &t.sub.never, &t.sub.pattern, &t.sub.lookFor, &t.sub.avoid, &t.sub.threshold)
		t.sub.item.PublishedAt = at
		return t, err
	})
	if err != nil {
		return nil, fmt.Errorf("items of source %d: %w", sourceID, err)
	}
	out := make([]Trial, len(subjects))
	for i, t := range subjects {
		terms := words.Set(t.sub.item.Title + "\n" + head(t.sub.item.Text, featureBytes))
		counts, totals, err := readCounts(ctx, s.cfg.Pool, channelID, terms)
		if err != nil {
			return nil, err
		}
		v := judge(t.sub, terms, counts, totals, s.cfg.Now(), false, false)
		out[i] = Trial{
			ItemID: t.sub.item.ID, Title: t.sub.item.Title, URL: t.url, At: t.sub.item.PublishedAt,
			Score: v.score, Verdict: v.verdict, Reasons: v.reasons,
		}
	}
	return out, nil
}
