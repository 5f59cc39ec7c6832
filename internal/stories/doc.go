// Package stories finds which items tell the same news and hands each story to
// the channels that follow one of its sources. Only an identical link or text
// drops an item; mere likeness groups.
//
// Its tables: stories, story_items, story_keys, story_words. Nobody else writes them.
//
// It must never lose an item: what it cannot place opens a story of its own.
package stories

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/queue"
)

// Offer is a story that a channel may want.
type Offer struct {
	ChannelID int64
	StoryID   int64
	// Baseline marks the first proposals of a source that was just followed: the
	// threshold does not count for them.
	Baseline bool
}

// Config is what a Service needs. The functions belong to other features and
// run in the transaction that completes a job here.
type Config struct {
	Pool   *pgxpool.Pool
	Logger zerolog.Logger
	// OnStory hands a story to a channel; handing it over twice must be harmless.
	OnStory func(ctx context.Context, tx pgx.Tx, o Offer) error
	// OnGrown hears of a story that got substantially new facts from a further
	// source; at most one follow-up comes of it. nil: no follow-ups.
	OnGrown func(ctx context.Context, tx pgx.Tx, channelID, storyID int64) error
	// BaselineDone records that a subscription got its first proposals; false
	// when it had.
	BaselineDone func(ctx context.Context, tx pgx.Tx, channelID, sourceID int64) (bool, error)
	// Best names those n of a source's items, freshest first, that fit a channel best;
	// nil: the freshest.
	Best func(ctx context.Context, tx pgx.Tx, channelID, sourceID int64, itemIDs []int64, n int) ([]int64, error)
	// OnItem is told of each item placed, with how: new (opens a story) or story.
	OnItem func(result string)
}

// Service is the one writer of this package's tables; safe for concurrent use.
type Service struct {
	cfg      Config
	match    queue.Kind[matchArgs]
	baseline queue.Kind[baselineArgs]
	tidy     queue.Kind[tidyArgs]

	placing chan struct{} // held by the one match job of this process that runs
}

type matchArgs struct {
	ItemID int64 `json:"item_id"`
}

type baselineArgs struct {
	ChannelID int64 `json:"channel_id"`
	SourceID  int64 `json:"source_id"`
	Since     int64 `json:"since"` // when the channel began to follow it, in µs
}

// New returns a Service. Register adds its kinds to a registry.
func New(cfg Config) *Service {
	s := &Service{cfg: cfg, placing: make(chan struct{}, 1)}
	s.match = queue.Kind[matchArgs]{
		Name: "match",
		Key:  func(a matchArgs) string { return strconv.FormatInt(a.ItemID, 10) },
		Work: s.workMatch,
	}
	s.baseline = queue.Kind[baselineArgs]{
		Name: "baseline",
		Key: func(a baselineArgs) string {
			return fmt.Sprintf("%d:%d:%d", a.ChannelID, a.SourceID, a.Since)
		},
		Work: s.workBaseline,
	}
	s.tidy = queue.Kind[tidyArgs]{
		Name: "stories_tidy", Tier: queue.Bulk,
		Key:  func(a tidyArgs) string { return a.At.UTC().Format(time.RFC3339) },
		Work: s.workTidy,
	}
	return s
}

// Register adds the jobs of this package.
func (s *Service) Register(r *queue.Registry) {
	queue.Register(r, s.match)
	queue.Register(r, s.baseline)
	queue.Register(r, s.tidy)
	queue.Schedule(r, "stories_tidy", queue.Every(time.Hour), queue.CatchUpNone, s.tidy, func(at time.Time) tidyArgs { return tidyArgs{At: at} })
}

// Items hands new items over, in the transaction that inserted them.
func (s *Service) Items(ctx context.Context, tx pgx.Tx, itemIDs []int64) error {
	args := make([]matchArgs, len(itemIDs))
	for i, id := range itemIDs {
		args[i] = matchArgs{ItemID: id}
	}
	_, err := s.match.EnqueueManyTx(ctx, tx, args)
	return err
}
