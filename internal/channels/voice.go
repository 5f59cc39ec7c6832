package channels

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
)

// channelVoiceSQL replaces what posts taught, what edits taught, or both; what
// people took out stays out.
const channelVoiceSQL = `
UPDATE channels
   SET voice = coalesce($2::jsonb, voice)
            || jsonb_build_object(
                 'edits', coalesce($3::jsonb, voice->'edits', '{}'),
                 'forgotten', coalesce(voice->'forgotten', '[]')
               )
 WHERE id = $1
   AND state <> 'unlinked'
RETURNING id`

// LearnVoice keeps what was learned about how a channel writes: an object out of
// its posts and one out of edits; nil leaves that part as it is. False: the channel
// is not linked.
func (s *Service) LearnVoice(ctx context.Context, tx pgx.Tx, id int64, posts, edits []byte) (bool, error) {
	ok, err := postgres.Affected(ctx, tx, channelVoiceSQL, id, posts, edits)
	if err != nil {
		return false, fmt.Errorf("keep the voice of channel %d: %w", id, err)
	}
	return ok, nil
}

const channelVoiceForgetSQL = `
UPDATE channels
   SET voice = voice || jsonb_build_object('forgotten', coalesce(voice->'forgotten', '[]') || to_jsonb($2::text))
 WHERE id = $1
   AND NOT coalesce(voice->'forgotten', '[]') ? $2
RETURNING id`

// ForgetVoice takes one line out of what was learned, by its key, until
// RestartVoice. False: it was out already.
func (s *Service) ForgetVoice(ctx context.Context, tx pgx.Tx, id int64, key string) (bool, error) {
	return postgres.Affected(ctx, tx, channelVoiceForgetSQL, id, key)
}

const channelVoiceRestartSQL = `
UPDATE channels
   SET voice = '{}'
 WHERE id = $1
RETURNING id`

// RestartVoice throws away what was learned and what was taken out of it.
func (s *Service) RestartVoice(ctx context.Context, tx pgx.Tx, id int64) error {
	_, err := postgres.Affected(ctx, tx, channelVoiceRestartSQL, id)
	return err
}
