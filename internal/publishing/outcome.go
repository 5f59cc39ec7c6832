package publishing

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/telegram"
)

// A draft is sent once, for ever: the key on draft_id. A failed send, whose
// refusal was certain, may begin again.
const publicationBeginSQL = `
INSERT INTO publications AS p (
       draft_id,
       channel_id,
       chat_id,
       state,
       effect_key,
       form,
       html_hash,
       after_message_id
) VALUES ($1, $2, $3, 'sending', $4, $5, $6, $7)
ON CONFLICT (draft_id) DO UPDATE
   SET state = 'sending',
       chat_id = excluded.chat_id,
       effect_key = excluded.effect_key,
       form = excluded.form,
       html_hash = excluded.html_hash,
       after_message_id = excluded.after_message_id,
       started_at = clock_timestamp(),
       error = ''
 WHERE p.state = 'failed'
RETURNING id`

func (s *Service) sending(ctx context.Context, tx pgx.Tx, d *delivery, f form) error {
	ok, err := postgres.Affected(ctx, tx, publicationBeginSQL, d.DraftID, d.ChannelID, d.ChatID, d.effectKey(), f, d.Hash, d.LastMessage)
	switch {
	case isUnique(err, "publications_one_send"):
		return queue.Later(otherSend, "another send to the channel is in flight")
	case err != nil:
		return fmt.Errorf("begin publication of draft %d: %w", d.DraftID, err)
	case !ok:
		return errStale
	}
	return nil
}

const publicationFormSQL = `
UPDATE publications
   SET form = $3
 WHERE draft_id = $1
   AND effect_key = $2
   AND state = 'sending'
RETURNING id`

func (s *Service) sendingAs(ctx context.Context, tx pgx.Tx, d *delivery, f form) error {
	ok, err := postgres.Affected(ctx, tx, publicationFormSQL, d.DraftID, d.effectKey(), f)
	if err != nil {
		return err
	}
	return staleUnless(ok)
}

const publicationPublishedSQL = `
UPDATE publications
   SET state = 'published',
       message_id = $3,
       message_ids = coalesce($4::bigint[], '{}'),
       published_at = clock_timestamp(),
       settled_how = $5,
       settled_by = $6,
       settled_at = clock_timestamp(),
       error = ''
 WHERE draft_id = $1
   AND effect_key = $2
   AND state IN ('sending', 'unconfirmed')
RETURNING id`

// published records the post. It is reached from the answer, also a late one
// that arrives when the publication was already in doubt.
func (s *Service) published(ctx context.Context, tx pgx.Tx, d *delivery, ids []int64) error {
	return s.settlePublished(ctx, tx, settled{DraftID: d.DraftID, ChannelID: d.ChannelID, EffectKey: d.effectKey(), IDs: ids, How: "answer"})
}

// settled is a publication that is known to be in the channel.
type settled struct {
	DraftID   int64
	ChannelID int64
	EffectKey string
	IDs       []int64 // of the posts; none: a person saw it and did not say where
	How       string  // answer, preview, probe, person, operator
	By        int64   // the person
}

func (s *Service) settlePublished(ctx context.Context, tx pgx.Tx, p settled) error {
	if err := lockChannel(ctx, tx, p.ChannelID); err != nil {
		return err
	}
	var first, by *int64
	if len(p.IDs) > 0 {
		first = &p.IDs[0]
	}
	if p.By != 0 {
		by = &p.By
	}
	ok, err := postgres.Affected(ctx, tx, publicationPublishedSQL, p.DraftID, p.EffectKey, first, p.IDs, p.How, by)
	if err != nil || !ok {
		return err
	}
	if _, _, err := s.cfg.Change(ctx, tx, DraftChange{
		DraftID: p.DraftID, From: []editorial.DraftState{editorial.Publishing, editorial.Unconfirmed}, To: editorial.Published,
	}); err != nil {
		return err
	}
	if len(p.IDs) > 0 {
		if err := s.cfg.KnowMessage(ctx, tx, p.ChannelID, p.IDs[len(p.IDs)-1]); err != nil {
			return err
		}
	}
	return s.cfg.OnPublished(ctx, tx, p.DraftID)
}

const publicationFailedSQL = `
UPDATE publications
   SET state = 'failed',
       error = $3
 WHERE draft_id = $1
   AND effect_key = $2
   AND state IN ('sending', 'unconfirmed')
RETURNING id`

// refused records a certain refusal. One that passes leads the draft back to
// its slot; one that does not fails it, and may say something of the channel.
func (s *Service) refused(ctx context.Context, tx pgx.Tx, d *delivery, r telegram.Refused) error {
	if err := lockChannel(ctx, tx, d.ChannelID); err != nil {
		return err
	}
	code := string(r.Kind)
	ok, err := postgres.Affected(ctx, tx, publicationFailedSQL, d.DraftID, d.effectKey(), code)
	if err != nil || !ok {
		return err
	}
	from := []editorial.DraftState{editorial.Publishing, editorial.Unconfirmed}
	if passes(r) {
		if r.Kind == telegram.ChatMigrated && r.MigrateTo != 0 {
			if err := s.cfg.MoveChat(ctx, tx, d.ChatID, r.MigrateTo); err != nil {
				return err
			}
		}
		_, _, err := s.cfg.Change(ctx, tx, DraftChange{DraftID: d.DraftID, From: from[:1], To: editorial.Scheduled})
		return err
	}
	if _, _, err := s.cfg.Change(ctx, tx, DraftChange{DraftID: d.DraftID, From: from, To: editorial.Failed, Failure: code}); err != nil {
		return err
	}
	if state, lost := channelLost(r.Kind); lost {
		if err := s.cfg.ChannelState(ctx, tx, d.ChannelID, state, code); err != nil {
			return err
		}
	}
	return s.cfg.OnFailed(ctx, tx, d.DraftID, code)
}

// channelLost says what a refusal shows of the channel.
func channelLost(k telegram.Kind) (editorial.ChannelState, bool) {
	switch k {
	case telegram.NoRights:
		return editorial.ChannelNoRights, true
	case telegram.Kicked, telegram.ChatNotFound:
		return editorial.ChannelKicked, true
	default:
		return "", false
	}
}

const publicationUnconfirmedSQL = `
UPDATE publications
   SET state = 'unconfirmed'
 WHERE draft_id = $1
   AND state = 'sending'
RETURNING id,
       channel_id,
       attempt`

// unconfirmed records a doubt, and plans the first look into it.
func (s *Service) unconfirmed(ctx context.Context, tx pgx.Tx, draftID int64) error {
	var id, channelID int64
	var attempt int
	err := tx.QueryRow(ctx, publicationUnconfirmedSQL, draftID).Scan(&id, &channelID, &attempt)
	if postgres.NoRows(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("draft %d is in doubt: %w", draftID, err)
	}
	if _, _, err := s.cfg.Change(ctx, tx, DraftChange{
		DraftID: draftID, From: []editorial.DraftState{editorial.Publishing}, To: editorial.Unconfirmed,
	}); err != nil {
		return err
	}
	if err := s.enqueueLook(ctx, tx, LookArgs{PublicationID: id, Attempt: attempt, Look: 1}); err != nil {
		return err
	}
	return s.cfg.OnUnconfirmed(ctx, tx, draftID)
}

func (s *Service) enqueueLook(ctx context.Context, tx pgx.Tx, a LookArgs) error {
	if a.Look > len(s.cfg.Looks) {
		return nil
	}
	_, err := s.look.EnqueueTx(ctx, tx, a, queue.After(s.cfg.Looks[a.Look-1]))
	return err
}
