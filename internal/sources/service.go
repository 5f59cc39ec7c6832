package sources

import (
	"context"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/queue/batcher"
)

// Config sets up a Service. Pool and Reader are required. The functions are
// other features' parts in our transactions; nil does nothing.
type Config struct {
	Pool   *pgxpool.Pool
	Reader *Reader
	Logger zerolog.Logger
	Clock  func() time.Time // nil: time.Now

	MinInterval time.Duration // POLL_INTERVAL_MIN, 0 = 5 minutes
	MaxInterval time.Duration // POLL_INTERVAL_MAX, 0 = 6 hours
	HostGap     time.Duration // between two requests to one host, 0 = 1 s, negative = none
	PollCap     int           // new items proposed per poll, 0 = 50; the rest is recorded as over the cap

	KeepTexts time.Duration // how long the texts of items are kept, 0 = 90 days; their keys stay for ever

	// PollUnfollowed polls sources that no channel follows; without it they
	// fall asleep at their next poll and wake when they are added again.
	PollUnfollowed bool
	// FullText lets a job read the page of a new item whose feed gives only a
	// teaser, before OnNew hears of the item.
	FullText bool

	// OnNew hears of new items, once each.
	OnNew func(ctx context.Context, tx pgx.Tx, itemIDs []int64) error
	// OnBaseline hears that a source's document was recorded as a baseline:
	// every following channel may be owed its first proposals.
	OnBaseline func(ctx context.Context, tx pgx.Tx, sourceID int64) error
	// OnEdited hears of items whose title or text changed at their source.
	OnEdited func(ctx context.Context, tx pgx.Tx, itemIDs []int64) error
	// OnMerged hears that a source became another one; subscriptions follow.
	OnMerged func(ctx context.Context, tx pgx.Tx, from, into int64) error
	// OnTrouble hears once when a source has failed for long, and once when it
	// is well again.
	OnTrouble func(ctx context.Context, tx pgx.Tx, t Trouble) error
	// OnPoll counts polls by result, for metrics.
	OnPoll func(result string, items map[string]int)
}

// Trouble is what the followers of a source should hear.
type Trouble struct {
	SourceID  int64
	Code      string
	Detail    string // redacted
	Since     time.Time
	Recovered bool
}

// Service keeps the sources. It is safe for concurrent use, by several
// processes on one database too.
type Service struct {
	cfg     Config
	pool    *pgxpool.Pool
	reader  *Reader
	log     zerolog.Logger
	holder  string // names this process in hosts
	outage  outage
	poll    queue.Kind[pollArgs]
	article queue.Kind[articleArgs]
	sweep   queue.Kind[sweepArgs]
	loads   *batcher.Batcher[*loading]
	quiets  *batcher.Batcher[*quiet]
}

// New returns a Service.
func New(cfg Config) *Service {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.MinInterval <= 0 {
		cfg.MinInterval = 5 * time.Minute
	}
	if cfg.MaxInterval < cfg.MinInterval {
		cfg.MaxInterval = max(6*time.Hour, cfg.MinInterval)
	}
	switch {
	case cfg.HostGap == 0:
		cfg.HostGap = time.Second
	case cfg.HostGap < 0:
		cfg.HostGap = 0
	}
	if cfg.PollCap <= 0 {
		cfg.PollCap = 50
	}
	if cfg.KeepTexts <= 0 {
		cfg.KeepTexts = 90 * 24 * time.Hour
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	s := &Service{cfg: cfg, pool: cfg.Pool, reader: cfg.Reader, log: cfg.Logger, holder: host + "/" + strconv.Itoa(os.Getpid())}
	s.poll = queue.Kind[pollArgs]{
		Name: "poll", Lease: 2 * time.Minute, MaxFailures: 10, KeepKeys: 72 * time.Hour,
		Key:  func(a pollArgs) string { return strconv.FormatInt(a.SourceID, 10) + ":" + strconv.FormatInt(a.Due, 10) },
		Work: s.workPoll,
	}
	s.article = queue.Kind[articleArgs]{
		Name: "article", Lease: 2 * time.Minute, KeepKeys: 30 * 24 * time.Hour,
		Key:  func(a articleArgs) string { return strconv.FormatInt(a.ItemID, 10) },
		Work: s.workArticle,
	}
	s.sweep = queue.Kind[sweepArgs]{
		Name: "sweep_sources", Tier: queue.Bulk, KeepKeys: 72 * time.Hour,
		Key:  func(a sweepArgs) string { return strconv.FormatInt(a.At, 10) },
		Work: s.workSweep,
	}
	s.groups()
	return s
}

// Register adds the jobs and schedules of this feature.
func (s *Service) Register(r *queue.Registry) {
	queue.Register(r, s.poll)
	queue.Register(r, s.article)
	queue.Register(r, s.sweep)
	queue.Schedule(r, "sweep_sources", queue.Every(5*time.Minute), queue.CatchUpLast, s.sweep,
		func(at time.Time) sweepArgs { return sweepArgs{At: at.Unix()} })
}

// Reader returns the reader that the service polls with.
func (s *Service) Reader() *Reader { return s.reader }

func (s *Service) now() time.Time { return s.cfg.Clock() }
