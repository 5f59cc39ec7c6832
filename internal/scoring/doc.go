// Package scoring says how well a story fits a channel: a number from 0 to 100
// with the reasons that made it, from hard rules, the channel's topics, what
// its people's decisions taught, freshness and the weight of the source. It
// keeps lessons so that undo takes exactly back what a decision taught.
//
// Its tables: scores, lessons, word_counts. Nobody else writes them.
//
// It must never lose a story silently: what is ruled out or falls below the
// threshold is kept with the reason, and can be rescued.
package scoring

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/queue"
)

// Version is that of the rule: a new one scores anew, under its own key.
const Version = 1

// Proposal is a story that is worth a draft.
type Proposal struct {
	ChannelID int64
	StoryID   int64
	Score     int
	Explore   bool // below the threshold, to learn
}

// Config is what a Service needs. OnProposal belongs to another feature and
// runs in the transaction that keeps the score.
type Config struct {
	Pool       *pgxpool.Pool
	Now        func() time.Time // judges freshness
	Logger     zerolog.Logger
	OnProposal func(ctx context.Context, tx pgx.Tx, p Proposal) error
}

// Service is the one writer of this package's tables; safe for concurrent use.
type Service struct {
	cfg   Config
	score queue.Kind[scoreArgs]

	subjects *subjects
	models   *models
	topics   topicsCache
}

type scoreArgs struct {
	ChannelID int64 `json:"channel_id"`
	StoryID   int64 `json:"story_id"`
	Baseline  bool  `json:"baseline,omitempty"`
}

// New returns a Service. Register adds its kind to a registry.
func New(cfg Config) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{cfg: cfg, subjects: newSubjects(cfg.Pool), models: newModels(cfg.Now)}
	s.score = queue.Kind[scoreArgs]{
		Name: "score",
		Key:  func(a scoreArgs) string { return fmt.Sprintf("%d:%d:%d", a.ChannelID, a.StoryID, Version) },
		Work: s.workScore,
	}
	return s
}

// Register adds the jobs of this package.
func (s *Service) Register(r *queue.Registry) { queue.Register(r, s.score) }

// Story hands a story over to be scored for a channel, in the caller's
// transaction; the same pair again is no new work. baseline marks the first
// proposals of a source, for which the threshold does not count.
func (s *Service) Story(ctx context.Context, tx pgx.Tx, channelID, storyID int64, baseline bool) error {
	_, err := s.score.EnqueueTx(ctx, tx, scoreArgs{ChannelID: channelID, StoryID: storyID, Baseline: baseline})
	return err
}
