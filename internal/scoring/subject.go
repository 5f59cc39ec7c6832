package scoring

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue/batcher"
)

// subject is a story as a channel sees it: the item of the story that comes
// from the source to which the channel gives most weight.
type subject struct {
	item      editorial.Item
	weight    int // percent
	must      []string
	never     []string
	pattern   string
	lookFor   string
	avoid     string
	languages []string // of items that the channel wants; empty: every one
	threshold int
	taught    stamp // the state of the channel's model when this was read
}

// A story goes to all channels that follow it at once, so what is to be scored comes in
// bursts and is read in groups: by itself a read costs more than the rule.
const (
	subjectsTogether = 32
	subjectsWait     = 3 * time.Millisecond
	subjectsTimeout  = 20 * time.Second
)

// subjectsReadSQL reads stories for channels. The whole text comes only where a rule
// looks at it: else its head does, by which it is scored (featureBytes).
const subjectsReadSQL = `
SELECT u.at,
       b.item_id,
       b.source_id,
       b.title,
       b.text,
       b.language,
       b.published_at,
       b.first_seen_at,
       b.weight,
       b.must_words,
       b.never_words,
       b.pattern,
       c.look_for,
       c.avoid,
       c.item_languages,
       c.threshold,
       coalesce(w.changed, 0),
       coalesce(w.liked, 0),
       coalesce(w.disliked, 0)
  FROM unnest($1::bigint[], $2::bigint[]) WITH ORDINALITY AS u (channel_id, story_id, at)
  JOIN channels c ON c.id = u.channel_id
  LEFT JOIN word_counts w ON w.channel_id = c.id AND w.word = ''
 CROSS JOIN LATERAL (
         SELECT i.id AS item_id,
                i.source_id,
                i.title,
                CASE WHEN s.must_words = '{}' AND s.never_words = '{}' AND s.pattern = '' THEN left(i.text, 2000) ELSE i.text END AS text,
                i.language,
                i.published_at,
                i.first_seen_at,
                s.weight,
                s.must_words,
                s.never_words,
                s.pattern
           FROM story_items si
           JOIN items i ON i.id = si.item_id
           JOIN subscriptions s ON s.source_id = i.source_id AND s.channel_id = u.channel_id
          WHERE si.story_id = u.story_id
            AND s.paused_at IS NULL
            AND s.rests_at IS NULL
          ORDER BY s.weight DESC, i.id
          LIMIT 1
       ) AS b`

// subjects reads what is scored at about the same time together.
type subjects struct {
	q       postgres.Querier
	batcher *batcher.Batcher[*wanted]
}

// wanted is one pair that waits for its subject.
type wanted struct {
	channelID, storyID int64
	reply              chan subjectRead // capacity 1
}

type subjectRead struct {
	sub subject
	err error
}

func newSubjects(q postgres.Querier) *subjects {
	s := &subjects{q: q}
	s.batcher = batcher.New(batcher.Config{Max: subjectsTogether, Wait: subjectsWait, Lanes: 2}, s.readAll)
	return s
}

// read returns a story as the channel sees it; pgx.ErrNoRows where the channel follows none of
// its sources (any more).
func (s *subjects) read(ctx context.Context, channelID, storyID int64) (subject, error) {
	w := &wanted{channelID: channelID, storyID: storyID, reply: make(chan subjectRead, 1)}
	s.batcher.Add(w)
	select {
	case got := <-w.reply:
		return got.sub, got.err
	case <-ctx.Done():
		return subject{}, ctx.Err()
	}
}

// readAll answers each of a group once.
func (s *subjects) readAll(group []*wanted) {
	ctx, cancel := context.WithTimeout(context.Background(), subjectsTimeout)
	defer cancel()
	found, err := s.query(ctx, group)
	for i, w := range group {
		switch sub, ok := found[i]; {
		case err != nil:
			w.reply <- subjectRead{err: fmt.Errorf("read story %d for channel %d: %w", w.storyID, w.channelID, err)}
		case !ok:
			w.reply <- subjectRead{err: pgx.ErrNoRows}
		default:
			w.reply <- subjectRead{sub: sub}
		}
	}
}

// query returns the subjects by their place in the group.
func (s *subjects) query(ctx context.Context, group []*wanted) (map[int]subject, error) {
	channels, stories := make([]int64, len(group)), make([]int64, len(group))
	for i, w := range group {
		channels[i], stories[i] = w.channelID, w.storyID
	}
	rows, err := s.q.Query(ctx, subjectsReadSQL, channels, stories)
	if err != nil {
		return nil, err
	}
	found := make(map[int]subject, len(group))
	var at int64
	var sub subject
	var published *time.Time
	_, err = pgx.ForEachRow(rows, []any{
		&at, &sub.item.ID, &sub.item.SourceID, &sub.item.Title, &sub.item.Text, &sub.item.Language, &published, &sub.item.FirstSeenAt,
		&sub.weight, &sub.must, &sub.never, &sub.pattern, &sub.lookFor, &sub.avoid, &sub.languages, &sub.threshold,
		&sub.taught.changed, &sub.taught.totals.Liked, &sub.taught.totals.Disliked,
	}, func() error {
		if published != nil {
			sub.item.PublishedAt = *published
		}
		found[int(at)-1] = sub
		sub = subject{} // the lists of the next row are its own
		return nil
	})
	return found, err
}
