package channels

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// Rights asks Telegram about a chat (getChat, getChatMember).
type Rights interface {
	// Look returns what Telegram shows of the chat, of the bot in it and of
	// the person in it. ErrBotNoAdmin where the bot cannot see it.
	Look(ctx context.Context, chatID, personID int64) (Look, error)
}

// Look is what Telegram shows of a chat.
type Look struct {
	ChatID      int64
	IsChannel   bool
	Title       string
	Username    string
	BotIsAdmin  bool
	BotCanPost  bool // can_post_messages
	PersonAdmin bool // creator or administrator
}

const channelLinkSQL = `
INSERT INTO channels AS c (
       chat_id,
       title,
       username,
       state,
       state_why,
       language,
       created_by
) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (chat_id) DO UPDATE
   SET title = excluded.title,
       username = excluded.username,
       state = excluded.state,
       state_why = excluded.state_why,
       state_at = clock_timestamp(),
       created_by = CASE WHEN c.state = 'unlinked' THEN excluded.created_by ELSE c.created_by END,
       rests_at = CASE WHEN c.state <> 'unlinked' THEN c.rests_at END
RETURNING id`

const channelWasSQL = `
SELECT id,
       state
  FROM channels
 WHERE chat_id = $1
   FOR NO KEY UPDATE`

const membersClearSQL = `
DELETE FROM memberships
 WHERE channel_id = $1
   AND person_id <> $2`

// Link links a channel for a person, or looks at its rights again. Telegram is
// asked first, with no transaction open: the person has to be an administrator
// of the channel himself. missing names the rights that the bot lacks
// (can_post_messages): the channel is linked then and cannot post yet.
// Settings of an earlier link come back; whoever was in it before a stranger
// linked it anew is not in it any more.
func (s *Service) Link(ctx context.Context, personID, chatID int64) (ch editorial.Channel, missing []string, err error) {
	look, err := s.cfg.Rights.Look(ctx, chatID, personID)
	switch {
	case err != nil:
		return ch, nil, fmt.Errorf("look at chat %d: %w", chatID, err)
	case !look.IsChannel:
		return ch, nil, ErrNoChannel
	case !look.BotIsAdmin:
		return ch, nil, ErrBotNoAdmin
	case !look.PersonAdmin:
		return ch, nil, ErrPersonNoAdmin
	}
	err = postgres.InTx(ctx, s.cfg.Pool, func(tx pgx.Tx) error {
		id, err := s.linkTx(ctx, tx, personID, look)
		if err != nil {
			return err
		}
		ch, err = Get(ctx, tx, id)
		return err
	})
	if err == nil && !look.BotCanPost {
		missing = []string{"can_post_messages"}
	}
	return ch, missing, err
}

func (s *Service) linkTx(ctx context.Context, tx pgx.Tx, personID int64, look Look) (int64, error) {
	if err := s.lockLinked(ctx, tx, look.ChatID, personID); err != nil {
		return 0, err
	}
	more, err := mayLink(ctx, tx, personID, look.ChatID)
	if err != nil {
		return 0, err
	}
	if more && s.cfg.MayLink != nil {
		if err := s.cfg.MayLink(ctx, tx, personID); err != nil {
			return 0, err
		}
	}
	person, err := Person(ctx, tx, personID)
	if err != nil {
		return 0, fmt.Errorf("person %d: %w", personID, err)
	}
	state, why := editorial.ChannelActive, ""
	if !look.BotCanPost {
		state, why = editorial.ChannelNoRights, "can_post_messages"
	}
	id, err := one[int64](ctx, tx, channelLinkSQL, look.ChatID, look.Title, look.Username, state, why, person.Language, personID)
	if err != nil {
		return 0, fmt.Errorf("link chat %d: %w", look.ChatID, err)
	}
	if _, err := addMember(ctx, tx, id, personID, editorial.Owner); err != nil {
		return 0, err
	}
	if err := s.Choose(ctx, tx, personID, id); err != nil {
		return 0, err
	}
	return id, s.holdingsChanged(ctx, tx, id)
}

// mayLink refuses a channel that somebody else holds, and clears out the
// former people of one that was unlinked, unless the person was its owner. True:
// the person would pay for one channel more.
func mayLink(ctx context.Context, tx pgx.Tx, personID, chatID int64) (bool, error) {
	var id int64
	var state editorial.ChannelState
	err := tx.QueryRow(ctx, channelWasSQL, chatID).Scan(&id, &state)
	if postgres.NoRows(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	role, err := RoleOf(ctx, tx, id, personID)
	if err != nil || role == editorial.Owner {
		return state == editorial.ChannelUnlinked, err
	}
	if state != editorial.ChannelUnlinked {
		return false, ErrTaken
	}
	_, err = postgres.Affected(ctx, tx, membersClearSQL, id, personID)
	return true, err
}

const channelUnlinkSQL = `
UPDATE channels
   SET state = 'unlinked',
       state_why = '',
       state_at = clock_timestamp()
 WHERE id = $1
   AND state <> 'unlinked'
RETURNING id`

const peopleForgetChannelSQL = `
UPDATE people
   SET channel_id = NULL
 WHERE channel_id = $1`

// Unlink lets go of a channel; its settings stay for the day that it is linked
// again. False when it was unlinked already.
func (s *Service) Unlink(ctx context.Context, tx pgx.Tx, id int64) (bool, error) {
	if err := s.lockHoldings(ctx, tx, id); err != nil {
		return false, err
	}
	changed, err := postgres.Affected(ctx, tx, channelUnlinkSQL, id)
	if err != nil || !changed {
		return changed, err
	}
	if _, err = postgres.Affected(ctx, tx, peopleForgetChannelSQL, id); err != nil {
		return false, err
	}
	return true, s.holdingsChanged(ctx, tx, id)
}
