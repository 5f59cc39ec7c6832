// Package drafting writes proposed posts: out of an item's own sentences, or by a
// language model whose text is held against the item, and lays them out by the
// channel's template. It keeps every revision and every call to a model, and
// Transition is the only way by which a draft changes its state.
//
// Its tables: drafts, draft_revisions, model_calls, model_spend, channel_posts.
// Nobody else writes them.
//
// It must never let text, links or markup of a model or of an item reach a post
// other than through check and render; never ask a model twice for one (draft,
// revision, turn); never change a draft that somebody decided meanwhile.
package drafting

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/llm"
	"github.com/postonce/postonce/internal/queue"
)

// Article is what a link that a person sent turned out to be.
type Article struct {
	URL      string // where it was found in the end
	Title    string
	Text     string // plain
	Image    string
	Site     string
	Language string
}

// Config is what a Service needs. Functions that take a transaction belong to
// other features and must not call the outside world.
type Config struct {
	Pool    *pgxpool.Pool
	Now     func() time.Time
	Logger  zerolog.Logger
	Metrics prometheus.Registerer // nil: nowhere

	// Model is the language model; nil: the composer without one writes everything.
	Model *llm.Client
	// ModelTimeout is how long one answer is waited for; 0: 60 s.
	ModelTimeout time.Duration
	// BudgetDay and BudgetChannelDay are tokens per UTC day; 0 is unlimited.
	BudgetDay        int64
	BudgetChannelDay int64
	// KeepAnswers is how long raw answers of models are kept; 0: 30 days. What a call cost stays.
	KeepAnswers time.Duration
	// Secret seeds the markers around an item in a prompt.
	Secret []byte

	// Article reads a link that a person sent; nil: such drafts are refused.
	Article func(ctx context.Context, url string) (Article, error)

	// Posts reads the newest posts on a channel's public page, plain, newest first; nil: none are read.
	Posts func(ctx context.Context, username string) ([]string, error)
	// KeepVoice keeps what was learned about how a channel writes, out of its posts
	// and out of edits; nil leaves a part as it is. nil: nothing is learned.
	KeepVoice func(ctx context.Context, tx pgx.Tx, channelID int64, posts, edits []byte) (bool, error)

	// OnDraft is told once of each new draft, and of each rewritten text, when there
	// is something to show.
	OnDraft func(ctx context.Context, tx pgx.Tx, draftID int64, revision int) error
	// OnRefreshed is told of a waiting text that changed because its item was edited
	// at the source: cards change in place, nobody is called.
	OnRefreshed func(ctx context.Context, tx pgx.Tx, draftID int64) error
	// OnRewriteFailed is told of a person's wish that changed nothing: why is "same" or "moved".
	OnRewriteFailed func(ctx context.Context, tx pgx.Tx, draftID, personID int64, revision int, why string) error
	// OnUnreadable is told of a link by a person that could not be read, with a code.
	OnUnreadable func(ctx context.Context, tx pgx.Tx, channelID, personID int64, url, code string) error
	// Use counts n of a meter (MeterDrafts, MeterModel) against the plan of the
	// channel's payer in the transaction that uses it, or gives it back where n is
	// negative; false: the plan does not reach that far. nil: there are no plans.
	Use func(ctx context.Context, tx pgx.Tx, channelID int64, meter string, n int64) (bool, error)
	// OnPlan is told each time that something is left out because of the plan.
	OnPlan func(ctx context.Context, tx pgx.Tx, channelID int64, meter string) error
	// OnBudget is told once a day and channel that the budget is spent.
	OnBudget func(ctx context.Context, tx pgx.Tx, channelID int64) error
}

// Service is safe for concurrent use.
type Service struct {
	cfg     Config
	metrics metrics

	draft   queue.Kind[DraftArgs]
	compose queue.Kind[ComposeArgs]
	watch   queue.Kind[ComposeArgs]
	own     queue.Kind[OwnArgs]
	refresh queue.Kind[refreshArgs]
	learn   queue.Kind[learnArgs]
}

// New returns a Service.
func New(cfg Config) *Service {
	if cfg.ModelTimeout <= 0 {
		cfg.ModelTimeout = time.Minute
	}
	if cfg.KeepAnswers <= 0 {
		cfg.KeepAnswers = 30 * 24 * time.Hour
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Service{cfg: cfg, metrics: newMetrics(cfg.Metrics)}
	s.draft = queue.Kind[DraftArgs]{Name: "draft", Key: DraftArgs.key, Work: s.workDraft}
	s.compose = queue.Kind[ComposeArgs]{Name: "compose", Policy: queue.Ledger, Key: ComposeArgs.key, Work: s.workCompose}
	s.watch = queue.Kind[ComposeArgs]{Name: "compose_watch", Key: ComposeArgs.key, Work: s.workWatch}
	s.own = queue.Kind[OwnArgs]{Name: "own", Key: OwnArgs.key, Work: s.workOwn}
	s.refresh = queue.Kind[refreshArgs]{Name: "refresh", Key: refreshArgs.key, Work: s.workRefresh}
	s.learn = queue.Kind[learnArgs]{Name: "learn_voice", Tier: queue.Bulk, Key: learnArgs.key, Work: s.workLearn}
	return s
}

// Register makes the service's kinds of jobs known to an engine.
func (s *Service) Register(r *queue.Registry) {
	queue.Register(r, s.draft)
	queue.Register(r, s.compose)
	queue.Register(r, s.watch)
	queue.Register(r, s.own)
	queue.Register(r, s.refresh)
	queue.Register(r, s.learn)
	forget := s.forgetKind()
	queue.Register(r, forget)
	queue.Schedule(r, "forget_answers", queue.Every(time.Hour), queue.CatchUpLast, forget,
		func(at time.Time) forgetArgs { return forgetArgs{At: at.Unix()} })
	day := s.learnDayKind()
	queue.Register(r, day)
	queue.Schedule(r, "learn_voices", queue.Every(24*time.Hour), queue.CatchUpLast, day,
		func(at time.Time) learnDayArgs { return learnDayArgs{At: at.Unix()} })
}

type metrics struct {
	tokens *prometheus.CounterVec
	drafts *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) metrics {
	m := metrics{
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "postonce_model_tokens_total", Help: "Tokens that language models counted, by direction.",
		}, []string{"direction"}),
		drafts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "postonce_drafts_total", Help: "Texts that were written, by composer and by why no model wrote them.",
		}, []string{"composer", "fallback"}),
	}
	if reg != nil {
		reg.MustRegister(m.tokens, m.drafts)
	}
	for _, direction := range []string{"in", "out"} {
		m.tokens.WithLabelValues(direction)
	}
	return m
}
