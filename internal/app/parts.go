package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/billing"
	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/chat"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/httpd"
	"github.com/postonce/postonce/internal/miniapp"
	"github.com/postonce/postonce/internal/ops/restore"
	"github.com/postonce/postonce/internal/ops/watch"
	"github.com/postonce/postonce/internal/planning"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/scoring"
	"github.com/postonce/postonce/internal/sources"
	"github.com/postonce/postonce/internal/stories"
	"github.com/postonce/postonce/internal/telegram"
)

// parts are the built components of the program.
type parts struct {
	pool     *pgxpool.Pool
	registry *queue.Registry
	engine   *queue.Engine
	counters *counters
	telegram *telegram.Client
	botName  string // whose the token is, without @
	intake   *telegram.Intake

	channels   *channels.Service
	sources    *sources.Service
	stories    *stories.Service
	scoring    *scoring.Service
	drafting   *drafting.Service
	planning   *planning.Service
	publishing *publishing.Service
	billing    *billing.Service
	desk       *desk.Desk
	chat       *chat.Chat
	miniapp    *miniapp.Server
	restores   *restore.Service
}

// build makes every part and hands each what it needs of the others. It
// touches nothing outside.
func build(a *App, bot *identity) (*parts, error) {
	p := &parts{
		pool: a.db.Pool, registry: queue.NewRegistry(), counters: newCounters(a.metrics),
		telegram: bot.client, botName: bot.name,
	}
	for _, step := range []func() error{
		func() error { return p.buildFeatures(a) },
		func() error { return p.buildEdges(a) },
		func() error { return p.buildOperations(a) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	p.engine = queue.New(queue.Config{
		Pool: a.db.Pool, Registry: p.registry, Logger: a.log, Metrics: a.metrics, Hints: a.db.Hints,
		ListenDSN: a.db.DirectURL, Build: a.process.Version,
		Workers: map[queue.Tier]int{
			queue.Critical: a.cfg.WorkersCritical, queue.Default: a.cfg.WorkersDefault, queue.Bulk: a.cfg.WorkersBulk,
		},
	})
	return p, nil
}

// buildEdges makes the desk, the chat that calls it, and the intake that feeds
// the chat.
func (p *parts) buildEdges(a *App) error {
	p.desk = desk.New(desk.Config{
		Pool: a.db.Pool, Now: a.db.Clock.Now, Logger: a.log,
		Channels: p.channels, Planning: p.planning, Sources: p.sources, Stories: p.stories, Scoring: p.scoring,
		Drafting: p.drafting, Publishing: p.publishing, Billing: p.billing, Registry: p.registry, Packs: a.process.Packs,
		OnDecided: chat.DraftDecidedTx, OnMissed: notifyMissed, OnImported: notifyImported, OnPilot: notifyPilot, OnRecap: notifyRecap,
		OnRelease: releaseChannel,
		Open:      a.cfg.Access == "open", Operators: a.cfg.OperatorIDs,
	})
	p.desk.RegisterImports(p.registry)
	p.desk.RegisterPlans(p.registry)
	cfg := chat.Config{
		Pool: a.db.Pool, Desk: p.desk, Telegram: p.telegram, Username: p.botName, Now: a.db.Clock.Now, Logger: a.log,
	}
	if a.cfg.PublicURL != "" {
		cfg.AppURL = a.cfg.PublicURL + "/app/"
	}
	if p.billing.Enabled() {
		cfg.Billing = shop{p}
	}
	var err error
	if p.chat, err = chat.New(cfg); err != nil {
		return err
	}
	p.chat.Register(p.registry)
	if err := p.buildMiniApp(a); err != nil {
		return err
	}
	p.intake, err = telegram.NewIntake(telegram.IntakeConfig{
		Client: p.telegram, Pool: a.db.Pool, Mode: telegram.Mode(a.cfg.Updates), WebhookURL: webhookURL(a.cfg),
		Handle: p.chat.Handle, PreCheckout: p.preCheckout, Logger: a.log,
		Sorry:   func(language string) string { return p.chat.Text(language, "billing.checkout.failed") },
		Observe: telegram.CountUpdates(a.metrics),
	})
	if err != nil {
		return err
	}
	p.intake.Register(p.registry)
	return nil
}

// buildMiniApp makes the page and its API.
func (p *parts) buildMiniApp(a *App) error {
	cfg := miniapp.Config{
		Desk: p.desk, Pool: a.db.Pool, Token: a.cfg.BotToken, Now: a.db.Clock.Now, Logger: a.log,
		InviteLink: p.startLink, As: asPerson,
	}
	if p.billing.Enabled() {
		cfg.Billing = counter{p}
	}
	var err error
	p.miniapp, err = miniapp.New(cfg)
	return err
}

// startLink opens the chat with the bot and hands it a token.
func (p *parts) startLink(token string) string {
	return "https://t.me/" + p.botName + "?start=" + token
}

// buildOperations adds what operators look at.
func (p *parts) buildOperations(a *App) error {
	figures := watch.NewCollector(a.db.Pool, a.cfg.BudgetDay)
	figures.Trouble = p.intake.Trouble
	a.metrics.MustRegister(figures)
	p.restores = newRestore(a, p.publishing, p.planning, notifyRestored)
	registerRestore(p.registry, p.restores)
	watch.New(watch.Config{Pool: a.db.Pool, ModelBudget: a.cfg.BudgetDay, Notify: notifyIncident}).Register(p.registry)
	return nil
}

// start begins to work: the queue first, then the intake that fills it.
func (p *parts) start(ctx context.Context, a *App) error {
	// A restored backup is noticed before anything may be published.
	if err := p.restores.Check(ctx); err != nil {
		return err
	}
	if err := p.engine.Start(ctx); err != nil {
		return err
	}
	if err := p.offerClaim(ctx, a); err != nil {
		return err
	}
	p.registerMenu(ctx, a)
	return p.intake.Start(ctx)
}

// menuTime bounds what a start spends on the menu while Telegram is silent.
const menuTime = 20 * time.Second

func (p *parts) registerMenu(ctx context.Context, a *App) {
	ctx, cancel := context.WithTimeout(ctx, menuTime)
	defer cancel()
	if err := p.chat.RegisterMenu(ctx, a.cfg.OperatorIDs); err != nil {
		a.log.Warn().Err(err).Msg("the bot's menu is not up to date")
	}
}

// claimLasts is how long the printed link works; the next start prints a new one.
const claimLasts = 24 * time.Hour

// offerClaim prints the one-time link that makes the first person an operator,
// where nobody is one and only invited people may use the bot.
func (p *parts) offerClaim(ctx context.Context, a *App) error {
	if a.cfg.Access == "open" || len(a.cfg.OperatorIDs) > 0 {
		return nil
	}
	var token string
	err := postgres.InTx(ctx, p.pool, func(tx pgx.Tx) (err error) {
		token, err = p.channels.ClaimToken(ctx, tx, claimLasts)
		return err
	})
	if err != nil || token == "" {
		return err
	}
	fmt.Fprintf(a.process.Say, "Nobody runs this bot yet. Open this link within a day to become its operator:\n  %s\n", p.startLink(token))
	return nil
}

// stop ends the intake first, so that nothing new comes, then the queue.
func (p *parts) stop(ctx context.Context, log zerolog.Logger) {
	p.miniapp.Close() // ends the event streams, which would outlast any grace
	if err := p.intake.Stop(ctx); err != nil {
		log.Warn().Err(err).Msg("updates that were stored are handled after the next start")
	}
	if err := p.engine.Stop(ctx); err != nil {
		log.Warn().Err(err).Msg("jobs were left behind; their leases expire")
	}
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
			{Name: "workers", Run: a.working},
		},
		App:  a.parts.miniapp.Page(),
		API:  traced(a.parts.miniapp.API(), a.log),
		Rest: rest,
	}
	if a.cfg.Updates == "webhook" {
		face.Webhook = a.parts.intake
	}
	return face
}

// working fails until the workers run, and after they were stopped.
func (a *App) working(context.Context) error {
	if !a.started.Load() {
		return errors.New("not started")
	}
	return nil
}
