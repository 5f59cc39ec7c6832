package channels

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

const channelsByIDSQL = `
SELECT c.id,
       c.chat_id,
       c.title,
       c.username,
       c.state,
       c.paused_at IS NOT NULL,
       c.rests_at IS NOT NULL,
       c.language,
       c.item_languages,
       c.tone,
       c.look_for,
       c.avoid,
       c.threshold,
       c.footer,
       c.link_style,
       c.image_style,
       c.hashtags,
       c.time_zone,
       c.week,
       c.quiet_from,
       c.quiet_to,
       c.daily_cap,
       c.missed,
       c.autopilot,
       c.autopilot_minutes,
       c.autopilot_score,
       c.autopilot_sources,
       c.digest,
       c.digest_at,
       c.version
  FROM channels c
 WHERE c.id = ANY($1)
 ORDER BY c.id`

// Get returns a channel, whatever its state; ErrNotFound when there is none.
func Get(ctx context.Context, q postgres.Querier, id int64) (editorial.Channel, error) {
	list, err := load(ctx, q, []int64{id})
	if err != nil {
		return editorial.Channel{}, fmt.Errorf("channel %d: %w", id, err)
	}
	if len(list) == 0 {
		return editorial.Channel{}, fmt.Errorf("channel %d: %w", id, ErrNotFound)
	}
	return list[0], nil
}

func load(ctx context.Context, q postgres.Querier, ids []int64) ([]editorial.Channel, error) {
	rows, err := q.Query(ctx, channelsByIDSQL, ids)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scanChannel)
}

func scanChannel(row pgx.CollectableRow) (editorial.Channel, error) {
	var c editorial.Channel
	var quietFrom, quietTo, digestAt string
	err := row.Scan(&c.ID, &c.ChatID, &c.Title, &c.Username, &c.State, &c.Paused, &c.Rests, &c.Language, &c.ItemLanguages, &c.Tone,
		&c.LookFor, &c.Avoid, &c.Threshold, &c.Footer, &c.LinkStyle, &c.ImageStyle, &c.Hashtags, &c.TimeZone,
		&c.Week, &quietFrom, &quietTo, &c.DailyCap, &c.Missed, &c.Autopilot, &c.AutopilotMinutes,
		&c.AutopilotScore, &c.AutopilotSources, &c.Digest, &digestAt, &c.Version)
	if err != nil {
		return c, err
	}
	if quietFrom != "" && quietTo != "" {
		if c.Quiet.From, err = editorial.ParseClock(quietFrom); err != nil {
			return c, err
		}
		if c.Quiet.To, err = editorial.ParseClock(quietTo); err != nil {
			return c, err
		}
	}
	c.DigestAt, err = editorial.ParseClock(digestAt)
	return c, err
}

const channelLockSQL = `
SELECT id
  FROM channels
 WHERE id = $1
   FOR NO KEY UPDATE`

// Lock serialises what changes a channel's plan, until tx ends. Whoever locks a
// channel and a draft takes the channel first.
func Lock(ctx context.Context, tx pgx.Tx, id int64) error {
	_, err := one[int64](ctx, tx, channelLockSQL, id)
	return err
}

const channelStateSQL = `
UPDATE channels
   SET state = $2,
       state_why = $3,
       state_at = clock_timestamp()
 WHERE id = $1
   AND state <> $2
   AND state <> 'unlinked'
RETURNING id`

// SetState records what Telegram shows of the bot's rights; why is a code. An
// unlinked channel stays unlinked. It reports whether the state is new, so that
// people are told once.
func (s *Service) SetState(ctx context.Context, tx pgx.Tx, id int64, state editorial.ChannelState, why string) (bool, error) {
	return postgres.Affected(ctx, tx, channelStateSQL, id, state, why)
}

const channelPauseSQL = `
UPDATE channels
   SET paused_at = clock_timestamp()
 WHERE id = $1
   AND paused_at IS NULL
RETURNING id`

const channelResumeSQL = `
UPDATE channels
   SET paused_at = NULL
 WHERE id = $1
   AND paused_at IS NOT NULL
RETURNING id`

// Pause stops publishing; false when it was stopped already.
func (s *Service) Pause(ctx context.Context, tx pgx.Tx, id int64) (bool, error) {
	return postgres.Affected(ctx, tx, channelPauseSQL, id)
}

// Resume starts publishing again; false when it was not stopped.
func (s *Service) Resume(ctx context.Context, tx pgx.Tx, id int64) (bool, error) {
	return postgres.Affected(ctx, tx, channelResumeSQL, id)
}

const channelMoveChatSQL = `
UPDATE channels
   SET chat_id = $2
 WHERE chat_id = $1
RETURNING id`

// MoveChat follows Telegram's migration of a chat to a new id.
func (s *Service) MoveChat(ctx context.Context, tx pgx.Tx, from, to int64) (bool, error) {
	return postgres.Affected(ctx, tx, channelMoveChatSQL, from, to)
}

const channelLastMessageSQL = `
UPDATE channels
   SET last_message_id = greatest(last_message_id, $2)
 WHERE id = $1
RETURNING id`

// KnowMessage records the newest message id that is known to exist in the
// channel: the probes of a doubt start after it.
func (s *Service) KnowMessage(ctx context.Context, tx pgx.Tx, id, messageID int64) error {
	_, err := postgres.Affected(ctx, tx, channelLastMessageSQL, id, messageID)
	return err
}
