// Package publishing delivers a draft to its channel, once. It sends through
// the queue's ledger, keeps one send in flight per channel, says what became of
// each (published, failed, unconfirmed), looks for evidence where that is not
// known, and lets a person settle what evidence does not.
//
// Its tables: publications, publication_reviews. Nobody else writes them.
//
// It must never send again what may have been sent; never take the absence of
// evidence for evidence; never edit or delete a post whose id was guessed; never
// send another text than the one that was approved.
package publishing

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/telegram"
)

// DraftChange asks for a change of a draft's state.
type DraftChange struct {
	DraftID int64
	// From are the states that the change may start from.
	From []editorial.DraftState
	// Transition is the number that the draft must have; 0: any.
	Transition int
	To         editorial.DraftState
	// Failure is the code for To = failed.
	Failure string
}

// Config is what a Service needs. Functions that take a transaction belong to
// other features, and app wires them in; they must not call the outside world.
type Config struct {
	Pool     *pgxpool.Pool
	Telegram *telegram.Client
	Now      func() time.Time
	Logger   zerolog.Logger
	Metrics  prometheus.Registerer // nil: nowhere

	// Change is drafting's Transition: the draft's new number, or false when it
	// is in another state by now.
	Change func(ctx context.Context, tx pgx.Tx, c DraftChange) (transition int, ok bool, err error)
	// Missed decides about a scheduled draft whose slot passed: moves or skips it.
	Missed func(ctx context.Context, tx pgx.Tx, draftID int64, transition int) error
	// ChannelState records that the bot lost (or has) its rights in a channel.
	ChannelState func(ctx context.Context, tx pgx.Tx, channelID int64, state editorial.ChannelState, why string) error
	// MoveChat follows a migration of a chat's id.
	MoveChat func(ctx context.Context, tx pgx.Tx, from, to int64) error
	// KnowMessage records the newest message id known in a channel.
	KnowMessage func(ctx context.Context, tx pgx.Tx, channelID, messageID int64) error
	// Held reports whether a channel takes no posts because the database was
	// restored and its posts are not reconciled yet; nil: never. It is asked in
	// the transaction of each intent.
	Held func(ctx context.Context, tx pgx.Tx, channelID int64) (bool, error)
	// OnPublished, OnFailed and OnUnconfirmed are told of each end of a
	// publication, in its transaction; OnChanged of each end of an edit or
	// deletion, with a note that names it, the same one if it is told again.
	OnPublished   func(ctx context.Context, tx pgx.Tx, draftID int64) error
	OnFailed      func(ctx context.Context, tx pgx.Tx, draftID int64, code string) error
	OnUnconfirmed func(ctx context.Context, tx pgx.Tx, draftID int64) error
	OnChanged     func(ctx context.Context, tx pgx.Tx, draftID int64, note string) error

	// PreviewURL is where public channels are read (TELEGRAM_PREVIEW_URL), and
	// Get reads a page there; nil: previews are not looked at.
	PreviewURL string
	Get        func(ctx context.Context, url string) ([]byte, error)
	// LogChatID is the private chat in which doubts are probed; 0: no probes.
	LogChatID int64
	// ProbeIDs is how many ids after the last known one a probe tries: posts of
	// people in between use up ids as well. 0 is 12.
	ProbeIDs int64

	// Grace is how late a post may still go out; after that its slot counts as
	// missed. 0 is ten minutes.
	Grace time.Duration
	// Timeout is how long an answer is waited for. 0 is telegram.PublishTimeout.
	Timeout time.Duration
	// Looks are the waits before each look at a doubt. nil: after one minute, by
	// when Telegram has sent what it held back under flood control, then after 5
	// minutes, half an hour and three hours, as a late post could still appear.
	Looks []time.Duration
}

const (
	defaultGrace    = 10 * time.Minute
	defaultProbeIDs = 12
)

func defaultLooks() []time.Duration {
	return []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 3 * time.Hour}
}

// Service is the one writer of this package's tables. It is safe for
// concurrent use.
type Service struct {
	cfg     Config
	publish queue.Kind[PublishArgs]
	look    queue.Kind[LookArgs]
	edit    queue.Kind[EditArgs]
	remove  queue.Kind[DeleteArgs]
	sweep   queue.Kind[SweepArgs]
	counted *prometheus.CounterVec
}

// errStale ends an execution whose draft was decided otherwise meanwhile.
var errStale = errors.New("publishing: the draft is not up for publication any more")

var (
	// ErrInFlight means that the request may still be under way: settle later.
	ErrInFlight = errors.New("publishing: the request may still be under way")
	// ErrNotPublished means that there is no post to change.
	ErrNotPublished = errors.New("publishing: no post")
	// ErrNotUnconfirmed means that there is no doubt to settle.
	ErrNotUnconfirmed = errors.New("publishing: not in doubt")
	// ErrLeft means that a person left the doubt as it is before.
	ErrLeft = errors.New("publishing: left as it is before")
)

// New returns a Service. Register adds its kinds to a registry.
func New(cfg Config) *Service {
	if cfg.Grace == 0 {
		cfg.Grace = defaultGrace
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = telegram.PublishTimeout
	}
	if cfg.ProbeIDs == 0 {
		cfg.ProbeIDs = defaultProbeIDs
	}
	if cfg.Looks == nil {
		cfg.Looks = defaultLooks()
	}
	s := &Service{cfg: cfg, counted: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "postonce_publications_total",
		Help: "Publications by what is known of them: confirmed, refused, unknown.",
	}, []string{"outcome"})}
	if cfg.Metrics != nil {
		cfg.Metrics.MustRegister(s.counted)
	}
	for _, outcome := range []string{"confirmed", "refused", "unknown"} {
		s.counted.WithLabelValues(outcome)
	}
	s.kinds()
	return s
}
