package stories

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

// How many of the freshest items a subscription's baseline proposes.
const (
	baselineSome   = 3
	baselineLatest = 1
)

const owedSQL = `
SELECT s.channel_id
  FROM subscriptions s
 WHERE s.source_id = $1
   AND s.baseline_done_at IS NULL
 ORDER BY s.channel_id`

// Baseline owes each follower of a source its first proposals, in the
// transaction that recorded the source's document.
func (s *Service) Baseline(ctx context.Context, tx pgx.Tx, sourceID int64) error {
	rows, err := tx.Query(ctx, owedSQL, sourceID)
	if err != nil {
		return err
	}
	owed, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("baseline of source %d: %w", sourceID, err)
	}
	for _, channelID := range owed {
		if err := s.Follow(ctx, tx, channelID, sourceID); err != nil {
			return err
		}
	}
	return nil
}

// Follow gives a channel its first proposals of a source, once. It does nothing
// for a source that was never read: Baseline follows its first document.
func (s *Service) Follow(ctx context.Context, tx pgx.Tx, channelID, sourceID int64) error {
	_, err := s.baseline.EnqueueTx(ctx, tx, baselineArgs{ChannelID: channelID, SourceID: sourceID})
	return err
}

const baselineWantedSQL = `
SELECT baseline
  FROM subscriptions
 WHERE channel_id = $1
   AND source_id = $2
   AND baseline_done_at IS NULL
   AND paused_at IS NULL`

// baselineItemsSQL takes the freshest of what the source showed, those with a
// text to draft from first.
const baselineItemsSQL = `
SELECT id
  FROM items
 WHERE source_id = $1
   AND title <> ''
   AND coalesce(published_at, first_seen_at) > clock_timestamp() - interval '30 days'
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
		if err := s.proposeFreshest(ctx, tx, a, n); err != nil {
			return err
		}
		_, err = s.cfg.BaselineDone(ctx, tx, a.ChannelID, a.SourceID)
		return err
	})
}

func (s *Service) proposeFreshest(ctx context.Context, tx pgx.Tx, a baselineArgs, n int) error {
	rows, err := tx.Query(ctx, baselineItemsSQL, a.SourceID, n)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
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
