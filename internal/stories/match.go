package stories

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/article/words"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/stories/likeness"
)

// item is what matching looks at.
type item struct {
	id, sourceID           int64
	canonical, title, text string
	language               string
}

const itemReadSQL = `
SELECT id,
       source_id,
       canonical,
       title,
       text,
       language
  FROM items
 WHERE id = $1`

// workMatch puts one item into a story and hands the story to the channels
// that follow the item's source.
//
// Placing is serial (matchLockSQL), so the jobs of one process queue up here,
// before they take a connection: a burst of items would otherwise hold the whole
// pool waiting for one lock.
func (s *Service) workMatch(ctx context.Context, job *queue.Job[matchArgs]) error {
	select {
	case s.placing <- struct{}{}:
		defer func() { <-s.placing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		p, err := s.place(ctx, tx, job.Args.ItemID)
		if err != nil {
			return err
		}
		return s.offer(ctx, tx, p, job.Args.ItemID)
	})
}

// matchLockSQL lets one item be placed at a time, in all processes: two items
// that tell the same news and come in the same second find each other.
const matchLockSQL = `SELECT pg_advisory_xact_lock(hashtextextended('postonce stories match', 0))`

const placedSQL = `
SELECT story_id
  FROM story_items
 WHERE item_id = $1`

// placed is the story of an item, and whether the item told much that is new.
type placed struct {
	storyID int64
	grew    bool
}

// place finds or opens the story of an item, in the caller's transaction.
func (s *Service) place(ctx context.Context, tx pgx.Tx, itemID int64) (placed, error) {
	if _, err := tx.Exec(ctx, matchLockSQL); err != nil {
		return placed{}, fmt.Errorf("match lock: %w", err)
	}
	var p placed
	err := tx.QueryRow(ctx, placedSQL, itemID).Scan(&p.storyID)
	if err == nil || !errors.Is(err, pgx.ErrNoRows) {
		return p, err
	}
	var it item
	err = tx.QueryRow(ctx, itemReadSQL, itemID).Scan(&it.id, &it.sourceID, &it.canonical, &it.title, &it.text, &it.language)
	if err != nil {
		return p, fmt.Errorf("read item %d: %w", itemID, err)
	}
	keys := keysOf(it)
	li := likeness.New(it.title, it.text)
	storyID, by, err := find(ctx, tx, keys)
	if err == nil && storyID == 0 {
		by = key{how: "likeness"}
		storyID, by.likeness, err = findLike(ctx, tx, li)
	}
	switch {
	case err != nil:
		return p, err
	case storyID == 0:
		if p.storyID, err = s.open(ctx, tx, it, keys); err != nil {
			return p, err
		}
		return p, recordWords(ctx, tx, li, p.storyID)
	}
	p.storyID = storyID
	if !by.certain {
		if p.grew, err = grew(ctx, tx, it, storyID); err != nil {
			return p, err
		}
	}
	if err := s.join(ctx, tx, it, storyID, by, keys); err != nil {
		return p, err
	}
	return p, recordWords(ctx, tx, li, storyID)
}

// key is one way to recognise a story; the ways stand in the order of trust.
type key struct {
	how      string // lead (it opened the story), link, text, title, likeness
	certain  bool
	likeness float64
	digest   []byte
}

// The text of an item counts as its own only where it is long enough not to be
// a stock phrase, a title only with enough words that mean something.
const (
	minText  = 200 // bytes
	minTitle = 4   // distinct terms
)

func keysOf(it item) []key {
	var keys []key
	if it.canonical != "" {
		keys = append(keys, key{how: "link", certain: true, likeness: 1, digest: digest("link", it.canonical)})
	}
	if text := strings.Join(strings.Fields(it.text), " "); len(text) >= minText {
		keys = append(keys, key{how: "text", certain: true, likeness: 1, digest: digest("text", text)})
	}
	if terms := words.Set(it.title); len(terms) >= minTitle {
		terms = append(terms, likeness.New(it.title, "").Numbers...) // "version 3.1" is not "version 3.2"
		slices.Sort(terms)
		keys = append(keys, key{how: "title", likeness: 1, digest: digest("title", strings.Join(terms, " "))})
	}
	return keys
}

func digest(class, value string) []byte {
	sum := sha256.Sum256([]byte(class + "\x00" + value))
	return sum[:16]
}

const storyByKeySQL = `
SELECT k.story_id
  FROM story_keys k
  JOIN stories s ON s.id = k.story_id
 WHERE k.key = $1
   AND (NOT $2::boolean OR s.grown_at > clock_timestamp() - interval '3 days')`

// find looks a story up by the keys in the order of trust. A key that is not
// certain finds recent stories only: the same headline next month is other news.
func find(ctx context.Context, tx pgx.Tx, keys []key) (storyID int64, by key, err error) {
	for _, k := range keys {
		err := tx.QueryRow(ctx, storyByKeySQL, k.digest, !k.certain).Scan(&storyID)
		if err == nil {
			return storyID, k, nil
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return 0, key{}, fmt.Errorf("find story: %w", err)
		}
	}
	return 0, key{}, nil
}

const storyInsertSQL = `
INSERT INTO stories (lead_item_id, title, language, fingerprint)
VALUES ($1, $2, $3, $4)
RETURNING id`

const storyItemInsertSQL = `
INSERT INTO story_items (item_id, story_id, how, certain, likeness)
VALUES ($1, $2, $3, $4, $5)`

// storyKeyInsertSQL gives a key to the newest story that it fits: an uncertain
// one may have belonged to a story that is long over.
const storyKeyInsertSQL = `
INSERT INTO story_keys (key, story_id)
VALUES ($1, $2)
    ON CONFLICT (key) DO UPDATE
   SET story_id = excluded.story_id
 WHERE $3::boolean`

const storyGrowSQL = `
UPDATE stories
   SET items = items + 1,
       grown_at = clock_timestamp()
 WHERE id = $1`

func (s *Service) open(ctx context.Context, tx pgx.Tx, it item, keys []key) (int64, error) {
	var storyID int64
	if err := tx.QueryRow(ctx, storyInsertSQL, it.id, it.title, it.language, int64(likeness.Simhash(words.Set(it.title+"\n"+it.text)))).Scan(&storyID); err != nil {
		return 0, fmt.Errorf("open story for item %d: %w", it.id, err)
	}
	s.count("new")
	return storyID, record(ctx, tx, it.id, storyID, key{how: "lead", certain: true, likeness: 1}, keys)
}

func (s *Service) join(ctx context.Context, tx pgx.Tx, it item, storyID int64, by key, keys []key) error {
	if _, err := tx.Exec(ctx, storyGrowSQL, storyID); err != nil {
		return fmt.Errorf("grow story %d: %w", storyID, err)
	}
	s.count("story")
	return record(ctx, tx, it.id, storyID, by, keys)
}

func record(ctx context.Context, tx pgx.Tx, itemID, storyID int64, by key, keys []key) error {
	if _, err := tx.Exec(ctx, storyItemInsertSQL, itemID, storyID, by.how, by.certain, by.likeness); err != nil {
		return fmt.Errorf("record item %d in story %d: %w", itemID, storyID, err)
	}
	for _, k := range keys {
		if _, err := tx.Exec(ctx, storyKeyInsertSQL, k.digest, storyID, !k.certain); err != nil {
			return fmt.Errorf("record key of story %d: %w", storyID, err)
		}
	}
	return nil
}

func (s *Service) count(result string) {
	if s.cfg.OnItem != nil {
		s.cfg.OnItem(result)
	}
}

const followersSQL = `
SELECT s.channel_id
  FROM subscriptions s
  JOIN channels c ON c.id = s.channel_id
  JOIN items i ON i.source_id = s.source_id
 WHERE i.id = $1
   AND s.paused_at IS NULL
   AND s.rests_at IS NULL
   AND c.state <> 'unlinked'
 ORDER BY s.channel_id`

// offer hands a story to every channel that follows the item's source.
func (s *Service) offer(ctx context.Context, tx pgx.Tx, p placed, itemID int64) error {
	rows, err := tx.Query(ctx, followersSQL, itemID)
	if err != nil {
		return err
	}
	followers, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("followers of item %d: %w", itemID, err)
	}
	for _, channelID := range followers {
		if err := s.cfg.OnStory(ctx, tx, Offer{ChannelID: channelID, StoryID: p.storyID}); err != nil {
			return err
		}
		if p.grew && s.cfg.OnGrown != nil {
			if err := s.cfg.OnGrown(ctx, tx, channelID, p.storyID); err != nil {
				return err
			}
		}
	}
	return nil
}
