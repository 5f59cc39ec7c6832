package app

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postonce/postonce/internal/app/config"
	"github.com/postonce/postonce/internal/billing"
	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/httpd"
	"github.com/postonce/postonce/internal/ops/watch"
	"github.com/postonce/postonce/internal/planning"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sources"
	"github.com/postonce/postonce/internal/telegram"
)

// parts are the built components of the program.
type parts struct {
	registry *queue.Registry
	engine   *queue.Engine
	telegram *telegram.Client
	intake   *telegram.Intake

	channels *channels.Service
	sources  *sources.Service
	planning *planning.Service
	billing  *billing.Service
}

// build makes every part and hands each what it needs of the others. It asks
// Telegram who the bot is, and touches nothing else outside.
func build(ctx context.Context, a *App) (*parts, error) {
	p := &parts{registry: queue.NewRegistry()}
	me, err := p.buildTelegram(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := p.buildFeatures(a); err != nil {
		return nil, err
	}
	_ = me
	p.buildOperations(a)
	p.engine = queue.New(queue.Config{
		Pool: a.db.Pool, Registry: p.registry, Logger: a.log, Metrics: a.metrics, Hints: a.db.Hints,
		ListenDSN: a.db.DirectURL, Build: a.process.Version,
		Workers: map[queue.Tier]int{
			queue.Critical: a.cfg.WorkersCritical, queue.Default: a.cfg.WorkersDefault, queue.Bulk: a.cfg.WorkersBulk,
		},
	})
	return p, nil
}

// buildTelegram makes the client and checks the token with getMe.
func (p *parts) buildTelegram(ctx context.Context, a *App) (*telegram.User, error) {
	calls := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "postonce_telegram_call_seconds",
		Help:    "Calls of the Bot API by method and by what is known of their outcome.",
		Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120},
	}, []string{"method", "outcome"})
	a.metrics.MustRegister(calls)
	client, err := telegram.New(telegram.Config{
		Token: telegram.Token(a.cfg.BotToken), BaseURL: a.cfg.APIURL, Logger: a.log,
		Observe: func(method, outcome string, took time.Duration) {
			calls.WithLabelValues(method, outcome).Observe(took.Seconds())
		},
	})
	if err != nil {
		return nil, &config.Error{Variable: "TELEGRAM_BOT_TOKEN", Problem: err.Error()}
	}
	p.telegram = client
	me, out := client.GetMe(ctx)
	if telegram.RefusedAs(telegram.AsError(out), telegram.Unauthorized) || telegram.RefusedAs(telegram.AsError(out), telegram.ChatNotFound) {
		return nil, &config.Error{Variable: "TELEGRAM_BOT_TOKEN", Problem: "is not known to Telegram: copy it from @BotFather again"}
	}
	if err := telegram.AsError(out); err != nil {
		return nil, &unreachableError{what: "TELEGRAM_API_URL " + a.cfg.APIURL, err: err}
	}
	return me, nil
}

// unreachableError is something outside that does not answer at the start.
type unreachableError struct {
	what string
	err  error
}

func (e *unreachableError) Error() string {
	return e.what + " does not answer: " + e.err.Error() + ": check the network and the address"
}

func (e *unreachableError) Unwrap() error { return e.err }

// buildFeatures makes what the product consists of and registers its jobs.
func (p *parts) buildFeatures(a *App) error {
	pool := a.db.Pool
	web := fetch.New(fetch.Config{AllowNets: a.cfg.AllowNets, UserAgent: "postonce/" + a.process.Version})
	p.channels = channels.New(channels.Config{Pool: pool, Rights: channels.TelegramRights{Client: p.telegram}})
	p.planning = planning.New(planning.Config{Pool: pool, Now: time.Now})
	p.sources = sources.New(sources.Config{
		Pool: pool, Reader: sources.NewReader(web, a.cfg.PreviewURL, time.Now), Logger: a.log,
		MinInterval: a.cfg.PollMin, MaxInterval: a.cfg.PollMax, FullText: true,
		OnMerged: p.channels.MergeSource,
	})
	p.sources.Register(p.registry)
	plans, err := loadPlans(a.cfg)
	if err != nil {
		return err
	}
	p.billing = billing.New(billing.Config{
		Pool: pool, Plans: plans, Now: time.Now, Logger: a.log,
		Providers: []billing.Provider{billing.Stars{Telegram: p.telegram}},
	})
	p.billing.Register(p.registry)
	return nil
}

func loadPlans(cfg config.Config) (billing.Catalogue, error) {
	if cfg.Billing == "off" {
		return billing.Catalogue{}, nil
	}
	if cfg.BillingPlans == "" {
		return billing.Catalogue{}, &config.Error{Variable: "BILLING_PLANS", Problem: "is empty: BILLING=stars needs the file that names the plans"}
	}
	plans, err := billing.LoadCatalogue(cfg.BillingPlans)
	if err != nil {
		return plans, &config.Error{Variable: "BILLING_PLANS", Problem: "names " + cfg.BillingPlans + ": " + err.Error()}
	}
	return plans, nil
}

// buildOperations adds what operators look at.
func (p *parts) buildOperations(a *App) {
	a.metrics.MustRegister(watch.NewCollector(a.db.Pool, a.cfg.BudgetDay))
}

// start begins to work: the queue first, then the intake that fills it.
func (p *parts) start(ctx context.Context) error {
	if err := p.engine.Start(ctx); err != nil {
		return err
	}
	if p.intake == nil {
		return nil
	}
	return p.intake.Start(ctx)
}

// stop ends the intake first, so that nothing new comes, then the queue.
func (p *parts) stop(ctx context.Context) {
	if p.intake != nil {
		_ = p.intake.Stop(ctx) // what was stored is handled after the next start
	}
	_ = p.engine.Stop(ctx) // leases of what was left behind expire
}

func (a *App) publicFace(rest http.Handler) httpd.Public {
	face := httpd.Public{
		Checks: []httpd.Check{
			{Name: "database", Run: func(ctx context.Context) error {
				if err := a.db.Pool.Ping(ctx); err != nil {
					return errors.New("cannot be reached")
				}
				return nil
			}},
			{Name: "schema", Run: a.db.current},
		},
		Rest: rest,
	}
	if a.cfg.Updates == "webhook" {
		face.Webhook = a.parts.intake
	}
	return face
}
