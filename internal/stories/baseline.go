package stories

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

// How many items a subscription's baseline proposes: of "some" the best ones of the
// freshest baselinePool, of "latest" the newest.
const (
	baselineSome   = 3
	baselineLatest = 1
	baselinePool   = 12
)

// owedSQL names a subscription by its start as well: who follows a source again
// after leaving it is owed proposals again.
const owedSQL = `
SELECT s.channel_id,
       (extract(epoch FROM s.created_at) * 1000000)::bigint
  FROM subscriptions s
 WHERE s.source_id = $1
   AND s.baseline_done_at IS NULL
 ORDER BY s.channel_id`

// Baseline owes each follower of a source its first proposals, in the
// transaction that recorded the source's document and holds the source's lock.
func (s *Service) Baseline(ctx context.Context, tx pgx.Tx, sourceID int64) error {
	rows, err := tx.Query(ctx, owedSQL, sourceID)
	if err != nil {
		return fmt.Errorf("baseline of source %d: %w", sourceID, err)
	}
	owed, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) (baselineArgs, error) {
		a := baselineArgs{SourceID: sourceID}
		err := r.Scan(&a.ChannelID, &a.Since)
		return a, err
	})
	if err != nil {
		return fmt.Errorf("baseline of source %d: %w", sourceID, err)
	}
	_, err = s.baseline.EnqueueManyTx(ctx, tx, owed)
	return err
}

// followedSQL waits for a poll of the source that is being recorded: either
// that poll sees the new follower, or the follower sees what it recorded. Hence
// no condition on baseline_at: it would pass over the row instead of waiting.
const followedSQL = `
SELECT s.baseline_at IS NOT NULL,
       (extract(epoch FROM f.created_at) * 1000000)::bigint
  FROM sources s
  JOIN subscriptions f ON f.source_id = s.id AND f.channel_id = $1
 WHERE s.id = $2
   FOR SHARE OF s`

// Follow gives a channel its first proposals of a source, once. It does nothing
// for a source that was never read: Baseline follows its first document.
func (s *Service) Follow(ctx context.Context, tx pgx.Tx, channelID, sourceID int64) error {
	a := baselineArgs{ChannelID: channelID, SourceID: sourceID}
	var read bool
	err := tx.QueryRow(ctx, followedSQL, channelID, sourceID).Scan(&read, &a.Since)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !read {
		return nil
	}
	if err != nil {
		return fmt.Errorf("follow source %d: %w", sourceID, err)
	}
	_, err = s.baseline.EnqueueTx(ctx, tx, a)
	return err
}

const baselineWantedSQL = `
SELECT baseline
  FROM subscriptions
 WHERE channel_id = $1
   AND source_id = $2
   AND baseline_done_at IS NULL
   AND paused_at IS NULL
   AND rests_at IS NULL`

// baselineItemsSQL takes the freshest of what the source showed, those with a
// text to draft from first; a post that somebody forwarded here was drafted then.
const baselineItemsSQL = `
SELECT id
  FROM items i
 WHERE source_id = $1
   AND title <> ''
   AND coalesce(published_at, first_seen_at) > clock_timestamp() - interval '30 days'
   AND NOT EXISTS (
         SELECT
           FROM items f
           JOIN sources s ON s.id = f.source_id
          WHERE f.canonical = i.canonical
            AND f.canonical <> ''
            AND s.kind = 'forwarded'
       )
 ORDER BY (length(text) >= 80) DESC, coalesce(published_at, first_seen_at) DESC, id
 LIMIT $2`

func (s *Service) workBaseline(ctx context.Context, job *queue.Job[baselineArgs]) error {
	a := job.Args
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, baselineWantedSQL, a.ChannelID, a.SourceID)
		if err != nil {
			return err
		}
		wanted, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(wanted) == 0 {
			return err // unfollowed or served meanwhile
		}
		n := map[string]int{"some": baselineSome, "latest": baselineLatest}[wanted[0]]
		if err := s.propose(ctx, tx, a, n); err != nil {
			return err
		}
		_, err = s.cfg.BaselineDone(ctx, tx, a.ChannelID, a.SourceID)
		return err
	})
}

func (s *Service) propose(ctx context.Context, tx pgx.Tx, a baselineArgs, n int) error {
	ids, err := s.baselineItems(ctx, tx, a, n)
	if err != nil {
		return fmt.Errorf("baseline items of source %d: %w", a.SourceID, err)
	}
	for _, id := range ids {
		p, err := s.place(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := s.cfg.OnStory(ctx, tx, Offer{ChannelID: a.ChannelID, StoryID: p.storyID, Baseline: true}); err != nil {
			return err
		}
	}
	return nil
}

// baselineItems are the best few of the freshest.
func (s *Service) baselineItems(ctx context.Context, tx pgx.Tx, a baselineArgs, n int) ([]int64, error) {
	limit := n
	if n > baselineLatest && s.cfg.Best != nil {
		limit = baselinePool
	}
	rows, err := tx.Query(ctx, baselineItemsSQL, a.SourceID, limit)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || limit == n || len(ids) <= n {
		return ids, err
	}
	return s.cfg.Best(ctx, tx, a.ChannelID, a.SourceID, ids, n)
}
