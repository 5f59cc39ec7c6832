package stories

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/article/words"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/stories/likeness"
)

// storyCandidatesSQL finds recent stories that share words of a title or names
// with an item; likeness then looks at each.
//
// Counted first and joined last: nearly all stories share one word only, and each
// join reads eight pages. A word's newest 500 stories are enough: what more of
// them share in two days tells nothing.
const storyCandidatesSQL = `
WITH likely AS MATERIALIZED (
  SELECT w.story_id,
         count(*) AS shared
    FROM unnest($1::text[]) AS asked(word)
   CROSS JOIN LATERAL (
         SELECT story_id,
                at
           FROM story_words
          WHERE word = asked.word
          ORDER BY story_id DESC
          LIMIT 500) AS w
   WHERE w.at > clock_timestamp() - interval '48 hours'
   GROUP BY w.story_id
  HAVING count(*) >= 2
   ORDER BY count(*) DESC,
         w.story_id DESC
   LIMIT 20
)
SELECT l.story_id,
       i.title,
       left(i.text, 1400)
  FROM likely AS l
  JOIN stories AS s ON s.id = l.story_id
  JOIN items AS i ON i.id = s.lead_item_id
 ORDER BY l.shared DESC,
       l.story_id DESC`

// findLike returns the likeliest recent story, or 0 where none is like enough.
func findLike(ctx context.Context, tx pgx.Tx, li likeness.Item) (int64, float64, error) {
	if len(li.Title) == 0 {
		return 0, 0, nil
	}
	rows, err := tx.Query(ctx, storyCandidatesSQL, searchWords(li))
	if err != nil {
		return 0, 0, fmt.Errorf("find like stories: %w", err)
	}
	var id, found int64
	best := 0.0
	var title, text string
	_, err = pgx.ForEachRow(rows, []any{&id, &title, &text}, func() error {
		if like := likeness.Of(li, likeness.New(title, text)); like >= likeness.Group && like > best {
			best, found = like, id
		}
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("find like stories: %w", err)
	}
	return found, best, nil
}

func searchWords(li likeness.Item) []string {
	return append(append([]string{}, li.Title...), li.Names()...)
}

const storyWordsInsertSQL = `
INSERT INTO story_words (word, story_id)
SELECT DISTINCT word,
       $2::bigint
  FROM unnest($1::text[]) AS word
 ORDER BY word
    ON CONFLICT (word, story_id) DO NOTHING`

func recordWords(ctx context.Context, tx pgx.Tx, li likeness.Item, storyID int64) error {
	if _, err := tx.Exec(ctx, storyWordsInsertSQL, searchWords(li), storyID); err != nil {
		return fmt.Errorf("words of story %d: %w", storyID, err)
	}
	return nil
}

// grownBy is the share of new words, and grownLength the length in bytes, from
// which an item tells more than its story had.
const (
	grownBy     = 0.45
	grownLength = 400
)

// storyTextsSQL reads what a story has told in its newest items: of a story with more than fifty, the older ones hold
// next to nothing that these do not.
const storyTextsSQL = `
SELECT i.title || ' ' || left(i.text, 3000)
  FROM story_items si
  JOIN items i ON i.id = si.item_id
 WHERE si.story_id = $1
   AND si.item_id <> $2
 ORDER BY si.item_id DESC
 LIMIT 50`

// grew tells whether an item adds substantially to the story that it joined.
func grew(ctx context.Context, tx pgx.Tx, it item, storyID int64) (bool, error) {
	if len(it.text) < grownLength {
		return false, nil
	}
	rows, err := tx.Query(ctx, storyTextsSQL, storyID, it.id)
	if err != nil {
		return false, fmt.Errorf("texts of story %d: %w", storyID, err)
	}
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(texts) == 0 {
		return false, err
	}
	return likeness.Adds(words.Set(strings.Join(texts, "\n")), words.Set(it.title+" "+it.text)) >= grownBy, nil
}

type tidyArgs struct {
	At time.Time `json:"at"`
}

const storyWordsOldSQL = `
DELETE FROM story_words
 WHERE at < clock_timestamp() - interval '4 days'`

// workTidy forgets words by which nothing is looked for any more.
func (s *Service) workTidy(ctx context.Context, job *queue.Job[tidyArgs]) error {
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, storyWordsOldSQL); err != nil {
			return fmt.Errorf("tidy words of stories: %w", err)
		}
		return nil
	})
}
