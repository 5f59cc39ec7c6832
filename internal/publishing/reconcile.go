package publishing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
)

// doubt is a publication that may be in the channel.
type doubt struct {
	ID           int64
	DraftID      int64
	ChannelID    int64
	ChatID       int64
	Username     string
	State        editorial.PublicationState
	Attempt      int
	EffectKey    string
	AfterMessage int64
	StartedAt    time.Time
	HTML         string
	KnownMessage int64 // the newest post of ours that certainly exists; 0: none
	Left         bool  // a person said: leave it
}

const doubtSQL = `
SELECT p.id,
       p.draft_id,
       p.channel_id,
       p.chat_id,
       c.username,
       p.state,
       p.attempt,
       p.effect_key,
       p.after_message_id,
       p.started_at,
       r.html,
       coalesce((
         SELECT max(q.message_id)
           FROM publications q
          WHERE q.channel_id = p.channel_id
            AND q.state = 'published'
            AND q.deleted_at IS NULL
       ), 0),
       ` + PublicationLeft + `
  FROM publications p
  JOIN channels c ON c.id = p.channel_id
  JOIN draft_revisions r ON r.draft_id = p.draft_id AND r.html_hash = p.html_hash
 WHERE p.id = $1
 ORDER BY r.revision DESC
 LIMIT 1`

func readDoubt(ctx context.Context, q postgres.Querier, publicationID int64) (*doubt, error) {
	rows, err := q.Query(ctx, doubtSQL, publicationID)
	if err != nil {
		return nil, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[doubt])
}

// sighting is a post that was seen in the channel.
type sighting struct {
	MessageID int64
	Text      string
	At        time.Time
	How       string // preview, probe
	Same      bool   // an earlier run of the look compared it, and it was the one
}

// is reports whether the post is the one in doubt: the same words, after
// everything that was there before, and not older than our request. Telegram's
// dates have no fractions of a second.
func (d *doubt) is(p sighting) bool {
	return p.Same || p.MessageID > d.AfterMessage &&
		!p.At.Before(d.StartedAt.Truncate(time.Second)) &&
		fold(p.Text) == fold(PlainText(d.HTML)) && fold(p.Text) != ""
}

// fold makes two renderings of one text alike: spaces and line breaks differ between them.
func fold(text string) string { return strings.Join(strings.Fields(text), " ") }

// workLook looks once whether a post in doubt is in its channel. Finding it
// settles the doubt. Not finding it settles nothing: it is noted, for the
// person who decides, only where the look could have seen the post.
func (s *Service) workLook(ctx context.Context, job *queue.Job[LookArgs]) error {
	d, err := readDoubt(ctx, s.cfg.Pool, job.Args.PublicationID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return queue.Transient(err)
	}
	if d.State != editorial.PublicationUnconfirmed || d.Attempt != job.Args.Attempt || d.Left {
		return nil
	}
	seen, how, err := s.lookFor(ctx, job, d)
	if err != nil {
		return err
	}
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if seen != nil {
			return s.found(ctx, tx, d, *seen)
		}
		if how != "" {
			if _, err := review(ctx, tx, d.ID, how, "nothing_found", nil, nil); err != nil {
				return err
			}
		}
		next := job.Args
		next.Look++
		return s.enqueueLook(ctx, tx, next)
	})
}

// lookFor asks the preview, then the probe. how names the look that could have
// seen the post; "" if none could.
func (s *Service) lookFor(ctx context.Context, job *queue.Job[LookArgs], d *doubt) (seen *sighting, how string, err error) {
	posts, ok := s.lookAtPreview(ctx, d)
	if ok {
		how = "preview"
	}
	if seen, err = s.pick(ctx, d, posts); seen != nil || err != nil {
		return seen, how, err
	}
	posts, ok, err = s.probe(ctx, job, d)
	if err != nil {
		return nil, "", err
	}
	if ok {
		how = "probe"
	}
	seen, err = s.pick(ctx, d, posts)
	return seen, how, err
}

const messageTakenSQL = `
SELECT EXISTS (
       SELECT
         FROM publications
        WHERE channel_id = $1
          AND id <> $2
          AND (message_id = $3 OR $3 = ANY(message_ids))
)`

// pick returns the first post that is the one in doubt and is not another
// publication of ours: two drafts may say the same.
func (s *Service) pick(ctx context.Context, d *doubt, posts []sighting) (*sighting, error) {
	for _, p := range posts {
		if !d.is(p) {
			continue
		}
		var taken bool
		if err := s.cfg.Pool.QueryRow(ctx, messageTakenSQL, d.ChannelID, d.ID, p.MessageID).Scan(&taken); err != nil {
			return nil, queue.Transient(err)
		}
		if !taken {
			return &p, nil
		}
	}
	return nil, nil
}

// found settles a doubt by what was seen.
func (s *Service) found(ctx context.Context, tx pgx.Tx, d *doubt, p sighting) error {
	if _, err := review(ctx, tx, d.ID, p.How, "there", nil, &p.MessageID); err != nil {
		return err
	}
	if err := queue.SettleTx(ctx, tx, d.EffectKey, true, fmt.Sprint(p.MessageID), p.How); err != nil {
		return fmt.Errorf("settle %s: %w", d.EffectKey, err)
	}
	s.cfg.Logger.Info().Int64("draft_id", d.DraftID).Int64("channel_id", d.ChannelID).Int64("message_id", p.MessageID).
		Str("how", p.How).Msg("a post in doubt is in its channel")
	return s.settlePublished(ctx, tx, settled{
		DraftID: d.DraftID, ChannelID: d.ChannelID, EffectKey: d.EffectKey, IDs: []int64{p.MessageID}, How: p.How,
	})
}

const reviewAddSQL = `
INSERT INTO publication_reviews (
       publication_id,
       ordinal,
       how,
       finding,
       person_id,
       message_id
)
SELECT $1,
       coalesce(max(ordinal), 0) + 1,
       $2,
       $3,
       $4,
       $5
  FROM publication_reviews
 WHERE publication_id = $1
RETURNING ordinal`

// review notes a look or a decision. The publication's row or its channel is
// locked, or the job's lease is held, so that ordinals do not collide; where
// they do, the key refuses and nothing is lost.
func review(ctx context.Context, tx pgx.Tx, publicationID int64, how, finding string, person, messageID *int64) (int, error) {
	var ordinal int
	err := tx.QueryRow(ctx, reviewAddSQL, publicationID, how, finding, person, messageID).Scan(&ordinal)
	if err != nil {
		return 0, fmt.Errorf("review publication %d: %w", publicationID, err)
	}
	return ordinal, nil
}
