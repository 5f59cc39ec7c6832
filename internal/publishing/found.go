package publishing

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
)

// publicationFoundSQL is for a post of which the database knew nothing.
const publicationFoundSQL = `
INSERT INTO publications AS p (
       draft_id,
       channel_id,
       chat_id,
       state,
       effect_key,
       form,
       html_hash,
       message_id,
       message_ids,
       published_at,
       settled_how,
       settled_at
) VALUES ($1, $2, $3, 'published', $4, 'text', $5, $6::bigint, ARRAY[$6::bigint], clock_timestamp(), $7, clock_timestamp())
ON CONFLICT (draft_id) DO UPDATE
   SET state = 'published',
       message_id = excluded.message_id,
       message_ids = excluded.message_ids,
       published_at = excluded.published_at,
       settled_how = excluded.settled_how,
       settled_at = excluded.settled_at,
       error = ''
 WHERE p.state = 'failed'
RETURNING id`

// FoundTx records that a draft's post was found in its channel although the
// database does not know of its sending: it was restored from a backup. The
// draft is scheduled, being published or unconfirmed. how is preview, probe or
// operator. Doing it again changes nothing.
func (s *Service) FoundTx(ctx context.Context, tx pgx.Tx, draftID, messageID int64, how string) error {
	d, err := readDelivery(ctx, tx, draftID)
	if err != nil {
		return err
	}
	switch d.State {
	case editorial.Published:
		return nil
	case editorial.Publishing, editorial.Unconfirmed:
		err := queue.SettleTx(ctx, tx, d.effectKey(), true, fmt.Sprint(messageID), how)
		if err != nil && !errors.Is(err, queue.ErrNotFound) {
			return fmt.Errorf("settle draft %d: %w", draftID, err)
		}
		return s.settlePublished(ctx, tx, settled{
			DraftID: draftID, ChannelID: d.ChannelID, EffectKey: d.effectKey(), IDs: []int64{messageID}, How: how,
		})
	case editorial.Scheduled:
		return s.foundScheduled(ctx, tx, d, messageID, how)
	default:
		return fmt.Errorf("draft %d is %s: schedule it before it is found", draftID, d.State)
	}
}

func (s *Service) foundScheduled(ctx context.Context, tx pgx.Tx, d *delivery, messageID int64, how string) error {
	if err := lockChannel(ctx, tx, d.ChannelID); err != nil {
		return err
	}
	for _, step := range []DraftChange{
		{From: []editorial.DraftState{editorial.Scheduled}, To: editorial.Publishing},
		{From: []editorial.DraftState{editorial.Publishing}, To: editorial.Published},
	} {
		step.DraftID = d.DraftID
		if _, ok, err := s.cfg.Change(ctx, tx, step); err != nil || !ok {
			return errors.Join(err, staleUnless(ok))
		}
	}
	ok, err := postgres.Affected(ctx, tx, publicationFoundSQL, d.DraftID, d.ChannelID, d.ChatID, d.effectKey(), d.Hash, messageID, how)
	if err != nil {
		return fmt.Errorf("record the post of draft %d: %w", d.DraftID, err)
	}
	if !ok {
		return fmt.Errorf("draft %d: another publication of it is under way", d.DraftID)
	}
	if err := s.cfg.KnowMessage(ctx, tx, d.ChannelID, messageID); err != nil {
		return err
	}
	return s.cfg.OnPublished(ctx, tx, d.DraftID)
}
