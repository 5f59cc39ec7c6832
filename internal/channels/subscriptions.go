package channels

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
)

// Subscription is a channel following a source.
type Subscription struct {
	ChannelID  int64      `json:"channel_id"`
	SourceID   int64      `json:"source_id"`
	Weight     int        `json:"weight"` // percent, 0 to 300
	MustWords  []string   `json:"must_words"`
	NeverWords []string   `json:"never_words"`
	Pattern    string     `json:"pattern"`  // RE2 that title or text must match
	Baseline   string     `json:"baseline"` // none, latest, some
	BaselineAt *time.Time `json:"baseline_at"`
	PausedAt   *time.Time `json:"paused_at"`
	RestsAt    *time.Time `json:"rests_at"` // beyond the plan's limit
	CreatedAt  time.Time  `json:"created_at"`
}

const subscribeSQL = `
INSERT INTO subscriptions (
       channel_id,
       source_id,
       baseline,
       created_by
) VALUES ($1, $2, $3, $4)
ON CONFLICT (channel_id, source_id) DO NOTHING
RETURNING source_id`

// Subscribe lets a channel follow a source; false when it did already.
// baseline says what of the entries that are there now is proposed: none, latest, some.
func (s *Service) Subscribe(ctx context.Context, tx pgx.Tx, channelID, sourceID, by int64, baseline string) (bool, error) {
	if bad := oneOf("baseline", &baseline, "none", "latest", "some"); bad != nil {
		return false, bad
	}
	return postgres.Affected(ctx, tx, subscribeSQL, channelID, sourceID, baseline, by)
}

const unsubscribeSQL = `
DELETE FROM subscriptions
 WHERE channel_id = $1
   AND source_id = $2
RETURNING source_id`

// Unsubscribe ends it; false when there was none.
func (s *Service) Unsubscribe(ctx context.Context, tx pgx.Tx, channelID, sourceID int64) (bool, error) {
	if err := s.lockHoldings(ctx, tx, channelID); err != nil {
		return false, err
	}
	gone, err := postgres.Affected(ctx, tx, unsubscribeSQL, channelID, sourceID)
	if err != nil || !gone {
		return false, err
	}
	return true, s.holdingsChanged(ctx, tx, channelID)
}

const subscriptionsSQL = `
SELECT channel_id,
       source_id,
       weight,
       must_words,
       never_words,
       pattern,
       baseline,
       baseline_done_at,
       paused_at,
       rests_at,
       created_at
  FROM subscriptions
 WHERE channel_id = $1
 ORDER BY created_at,
       source_id`

// Subscriptions lists what a channel follows, in the order in which it began to.
func Subscriptions(ctx context.Context, q postgres.Querier, channelID int64) ([]Subscription, error) {
	rows, err := q.Query(ctx, subscriptionsSQL, channelID)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Subscription])
}

const followersSQL = `
SELECT s.channel_id
  FROM subscriptions s
  JOIN channels c ON c.id = s.channel_id
 WHERE s.source_id = $1
   AND s.paused_at IS NULL
   AND s.rests_at IS NULL
   AND c.state <> 'unlinked'
 ORDER BY s.channel_id`

// Followers returns the channels that follow a source now.
func Followers(ctx context.Context, q postgres.Querier, sourceID int64) ([]int64, error) {
	rows, err := q.Query(ctx, followersSQL, sourceID)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// SubscriptionChange changes how a channel follows a source: what is nil stays.
type SubscriptionChange struct {
	Weight     *int      `json:"weight,omitempty"`
	MustWords  *[]string `json:"must_words,omitempty"`
	NeverWords *[]string `json:"never_words,omitempty"`
	Pattern    *string   `json:"pattern,omitempty"`
}

const subscriptionUpdateSQL = `
UPDATE subscriptions
   SET weight = coalesce($3, weight),
       must_words = coalesce($4, must_words),
       never_words = coalesce($5, never_words),
       pattern = coalesce($6, pattern)
 WHERE channel_id = $1
   AND source_id = $2
RETURNING source_id`

// Bounds of a subscription's filters; the weight's are the schema's.
const (
	maxWeight  = 300
	maxWords   = 50
	maxPattern = 500
)

// UpdateSubscription changes weight and filters; an *InvalidError names what cannot be.
func (s *Service) UpdateSubscription(ctx context.Context, tx pgx.Tx, channelID, sourceID int64, ch SubscriptionChange) error {
	if err := firstOf(
		between("weight", ch.Weight, 0, maxWeight),
		lines("must_words", ch.MustWords, maxWords, nil),
		lines("never_words", ch.NeverWords, maxWords, nil),
		noLongerThan("pattern", ch.Pattern, maxPattern),
		pattern(ch.Pattern),
	); err != nil {
		return err
	}
	return must(postgres.Affected(ctx, tx, subscriptionUpdateSQL, channelID, sourceID, ch.Weight, ch.MustWords, ch.NeverWords, ch.Pattern))
}

func pattern(v *string) *InvalidError {
	if v == nil {
		return nil
	}
	if _, err := regexp.Compile(*v); err != nil {
		return &InvalidError{"pattern", *v}
	}
	return nil
}

const subscriptionPauseSQL = `
UPDATE subscriptions
   SET paused_at = CASE WHEN $3 THEN clock_timestamp() END
 WHERE channel_id = $1
   AND source_id = $2
   AND (paused_at IS NOT NULL) <> $3
RETURNING source_id`

// PauseSubscription stops (or starts again) what a source brings to one channel; false when it was so already.
func (s *Service) PauseSubscription(ctx context.Context, tx pgx.Tx, channelID, sourceID int64, paused bool) (bool, error) {
	return postgres.Affected(ctx, tx, subscriptionPauseSQL, channelID, sourceID, paused)
}

const subscriptionBaselineSQL = `
UPDATE subscriptions
   SET baseline_done_at = clock_timestamp()
 WHERE channel_id = $1
   AND source_id = $2
   AND baseline_done_at IS NULL
RETURNING source_id`

// BaselineDone claims a subscription's first proposals: true for exactly one
// caller. Called by the feature that proposes them, in its transaction.
func (s *Service) BaselineDone(ctx context.Context, tx pgx.Tx, channelID, sourceID int64) (bool, error) {
	return postgres.Affected(ctx, tx, subscriptionBaselineSQL, channelID, sourceID)
}

const subscriptionCopySQL = `
UPDATE subscriptions s
   SET source_id = $2
 WHERE s.source_id = $1
   AND NOT EXISTS (
       SELECT
         FROM subscriptions t
        WHERE t.channel_id = s.channel_id
          AND t.source_id = $2
   )`

const subscriptionsDropSQL = `
DELETE FROM subscriptions
 WHERE source_id = $1`

// MergeSource moves the followers of a source that turned out to be another
// one: each channel follows the other once.
func (s *Service) MergeSource(ctx context.Context, tx pgx.Tx, from, into int64) error {
	if _, err := postgres.Affected(ctx, tx, subscriptionCopySQL, from, into); err != nil {
		return fmt.Errorf("merge source %d: %w", from, err)
	}
	_, err := postgres.Affected(ctx, tx, subscriptionsDropSQL, from)
	return err
}
