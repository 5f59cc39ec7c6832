package scoring

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/scoring/bayes"
)

// countsReadSQL answers in one row, by the words' positions: a row for each word, and a list for
// the words asked, would cost the client more than the whole rule.
const countsReadSQL = `
SELECT coalesce(array_agg(t.at::integer), '{}'),
       coalesce(array_agg(w.liked), '{}'),
       coalesce(array_agg(w.disliked), '{}')
  FROM unnest(string_to_array($2, ' ')) WITH ORDINALITY AS t (word, at)
  JOIN word_counts w ON w.channel_id = $1 AND w.word = t.word`

// totalsWord holds a channel's totals in word_counts: no term is empty.
const totalsWord = ""

// readCounts reads what a channel's decisions taught of these terms.
func readCounts(ctx context.Context, q postgres.Querier, channelID int64, terms []string) ([]bayes.Count, bayes.Totals, error) {
	counts := make([]bayes.Count, len(terms))
	var totals bayes.Totals
	var at, liked, disliked []int32
	// In front of the first space stands the word of the totals.
	if err := q.QueryRow(ctx, countsReadSQL, channelID, totalsWord+" "+joined(terms)).Scan(&at, &liked, &disliked); err != nil {
		return nil, totals, fmt.Errorf("counts of channel %d: %w", channelID, err)
	}
	for i, n := range at { // positions count from 1; the first one is that of the totals
		switch k := int(n) - 2; {
		case n == 1:
			totals = bayes.Totals{Liked: int(liked[i]), Disliked: int(disliked[i])}
		case k < len(terms):
			counts[k] = bayes.Count{Liked: int(liked[i]), Disliked: int(disliked[i])}
		}
	}
	return counts, totals, nil
}

// joined puts terms into one parameter: a list costs the client far more. No term holds a space.
func joined(terms []string) string { return strings.Join(terms, " ") }

// Label says what a decision teaches: +1 for an approval, −1 for a skip as off
// topic, 0 for a decision that says nothing about relevance.
func Label(state editorial.DraftState, why editorial.SkipReason) int {
	switch {
	case state == editorial.Skipped && why == editorial.SkipOffTopic:
		return -1
	case state == editorial.Scheduled || state == editorial.Publishing || state == editorial.Published:
		return 1
	}
	return 0
}

const lessonFeaturesSQL = `
SELECT features
  FROM scores
 WHERE channel_id = $1
   AND story_id = $2
 ORDER BY version DESC
 LIMIT 1`

const lessonTakeSQL = `
DELETE FROM lessons
 WHERE channel_id = $1
   AND story_id = $2
RETURNING label, features`

const lessonInsertSQL = `
INSERT INTO lessons (channel_id, story_id, label, features, person_id)
VALUES ($1, $2, $3, $4, nullif($5::bigint, 0))`

// totalsAddSQL counts a lesson, or takes it back with negative numbers, and stamps the channel's model: each
// lesson's stamp is later than the one before, because its row is locked until the lesson is committed, and
// later than any that a database had before it was set back to an older day.
const totalsAddSQL = `
INSERT INTO word_counts AS w (channel_id, word, liked, disliked, changed)
VALUES ($1,
        '',
        greatest($2::integer, 0),
        greatest($3::integer, 0),
        (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
    ON CONFLICT (channel_id, word) DO UPDATE
   SET liked = w.liked + $2::integer,
       disliked = w.disliked + $3::integer,
       changed = greatest(w.changed + 1, excluded.changed)
RETURNING changed`

// countsAddSQL adds a lesson to the counts of its words, with the stamp of their model.
const countsAddSQL = `
INSERT INTO word_counts AS w (channel_id, word, liked, disliked, changed)
SELECT $1,
       t.word,
       greatest($3::integer, 0),
       greatest($4::integer, 0),
       $5
  FROM unnest($2::text[]) AS t (word)
 ORDER BY t.word
    ON CONFLICT (channel_id, word) DO UPDATE
   SET liked = w.liked + $3::integer,
       disliked = w.disliked + $4::integer,
       changed = excluded.changed`

// lessonLockSQL lets the decisions on one story be counted one after the other.
const lessonLockSQL = `SELECT pg_advisory_xact_lock(hashtextextended('postonce lesson ' || $1::bigint || ':' || $2::bigint, 0))`

// Teach makes label the lesson of a channel's story, in the caller's
// transaction: what was taught of it before is taken back exactly, so the last
// decision counts once. Label 0 only takes back.
func (s *Service) Teach(ctx context.Context, tx pgx.Tx, channelID, storyID int64, label int, by int64) error {
	if _, err := tx.Exec(ctx, lessonLockSQL, channelID, storyID); err != nil {
		return fmt.Errorf("lesson lock: %w", err)
	}
	var old int
	var features []string
	err := tx.QueryRow(ctx, lessonTakeSQL, channelID, storyID).Scan(&old, &features)
	switch {
	case err == nil:
		if err := count(ctx, tx, channelID, features, old, -1); err != nil {
			return err
		}
	case !errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("take lesson back: %w", err)
	}
	if label == 0 {
		return nil
	}
	err = tx.QueryRow(ctx, lessonFeaturesSQL, channelID, storyID).Scan(&features)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // never scored: nothing to learn from
	}
	if err != nil {
		return fmt.Errorf("features of story %d: %w", storyID, err)
	}
	if _, err := tx.Exec(ctx, lessonInsertSQL, channelID, storyID, label, features, by); err != nil {
		return fmt.Errorf("keep lesson: %w", err)
	}
	return count(ctx, tx, channelID, features, label, 1)
}

func count(ctx context.Context, tx pgx.Tx, channelID int64, features []string, label, sign int) error {
	liked, disliked := sign, 0
	if label < 0 {
		liked, disliked = 0, sign
	}
	var changed int64
	if err := tx.QueryRow(ctx, totalsAddSQL, channelID, liked, disliked).Scan(&changed); err != nil {
		return fmt.Errorf("count lesson: %w", err)
	}
	if _, err := tx.Exec(ctx, countsAddSQL, channelID, features, liked, disliked, changed); err != nil {
		return fmt.Errorf("count the words of a lesson: %w", err)
	}
	return nil
}

const rescueSQL = `
UPDATE scores
   SET verdict = 'rescued'
 WHERE channel_id = $1
   AND story_id = $2
   AND version = $3
   AND verdict IN ('below', 'ruled_out')
RETURNING score`

// Rescue proposes a dropped story after all and teaches that it was wanted;
// false when it was proposed before.
func (s *Service) Rescue(ctx context.Context, tx pgx.Tx, channelID, storyID, by int64) (bool, error) {
	var score int
	err := tx.QueryRow(ctx, rescueSQL, channelID, storyID, Version).Scan(&score)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("rescue story %d: %w", storyID, err)
	}
	if err := s.Teach(ctx, tx, channelID, storyID, 1, by); err != nil {
		return false, err
	}
	return true, s.cfg.OnProposal(ctx, tx, Proposal{ChannelID: channelID, StoryID: storyID, Score: score})
}
