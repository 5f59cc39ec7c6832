// Package app is the wiring: it builds every part from the configuration,
// hands each what it needs of the others as plain functions, registers each
// job kind with its handler, and starts and stops all of it in order. It alone
// knows every package; it holds no rule of the product and owns no table.
//
// Order of the start: configuration, the token, database, migrations, queue
// workers, update intake, HTTP. The stop is the reverse: intake, claims, running
// handlers within the grace period, HTTP, database. A crash is the other way
// to stop, and the start is the only recovery path.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/app/config"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/httpd"
)

// Process is what the program as a whole lends to the App.
type Process struct {
	Log     zerolog.Logger
	Say     io.Writer // the person at the terminal: the address of the demo, the claim link
	Version string
	Commit  string
	// Packs are the suggested sources; nil: the built-in ones. The demo suggests its newsroom.
	Packs []desk.PackView
}

// App is one running program.
type App struct {
	cfg     config.Config
	process Process
	log     zerolog.Logger
	metrics *prometheus.Registry
	db      *Database
	parts   *parts
	public  *httpd.Server
	ops     *httpd.Server
	ready   func()      // told once everything runs; may be nil
	started atomic.Bool // workers run

	stopClock context.CancelFunc // nil before Start
	clock     sync.WaitGroup
}

const (
	startTimeout = time.Minute
	httpGrace    = 5 * time.Second
)

// New asks Telegram who the bot is, opens the database, migrates it and builds
// every part. Nothing works yet when it returns: Start begins.
func New(ctx context.Context, cfg config.Config, process Process) (*App, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	a := &App{cfg: cfg, process: process, log: process.Log, metrics: newRegistry(process)}
	bot, err := identify(ctx, a)
	if err != nil {
		return nil, err
	}
	if a.db, err = OpenDatabase(ctx, cfg); err != nil {
		return nil, err
	}
	if n, err := a.db.Migrate(ctx); err != nil {
		a.db.Close()
		return nil, err
	} else if n > 0 {
		a.log.Info().Int("migrations", n).Msg("the schema was brought up to date")
	}
	if err = bot.known(ctx, a); err == nil {
		a.parts, err = build(a, bot)
	}
	if err != nil {
		a.db.Close()
		return nil, err
	}
	return a, nil
}

func newRegistry(process Process) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "postonce_build_info",
		Help:        "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": process.Version, "commit": process.Commit},
	})
	info.Set(1)
	reg.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

// listen takes both addresses, so that a busy port is an error of the start.
func (a *App) listen(ctx context.Context, rest http.Handler) error {
	var err error
	if a.public, err = httpd.Listen(ctx, a.cfg.HTTPAddr, a.publicFace(rest).Handler(), a.log); err != nil {
		return explainListen("HTTP_ADDR", err)
	}
	if a.ops, err = httpd.Listen(ctx, a.cfg.OpsAddr, httpd.Ops(a.metrics), a.log); err != nil {
		a.public.Close()
		return explainListen("OPS_ADDR", err)
	}
	return nil
}

func explainListen(variable string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s: %w: stop the program that holds it, or choose another address", variable, err)
	}
	return fmt.Errorf("%s: %w", variable, err)
}

// Start begins to work: queue workers, then intake, then HTTP.
func (a *App) Start(ctx context.Context) error {
	a.followClock(ctx)
	if err := a.parts.start(ctx, a); err != nil {
		return err
	}
	a.started.Store(true)
	if !a.public.Serving() {
		a.public.Serve()
	}
	a.ops.Serve()
	if a.ready != nil {
		a.ready()
	}
	a.log.Info().Str("http", a.public.Addr()).Str("ops", a.ops.Addr()).Str("version", a.process.Version).Msg("started")
	return nil
}

// followClock keeps the calendar at the database's time, and says when the
// machine's own is another.
func (a *App) followClock(ctx context.Context) {
	ctx, a.stopClock = context.WithCancel(ctx)
	a.clock.Go(func() {
		a.db.Clock.Follow(ctx, func(ahead time.Duration) {
			if ahead == 0 {
				a.log.Info().Msg("this machine's clock and the database's agree again")
				return
			}
			a.log.Warn().Stringer("database_ahead", ahead.Round(time.Second)).
				Msg("this machine's clock and the database's differ; slots go by the database's: let NTP set both, `postonce doctor` says which is wrong")
		})
	})
}

// Stop ends in order and takes the grace period at most for running handlers.
func (a *App) Stop() {
	ctx, cancel := context.WithTimeout(context.Background(), a.cfg.ShutdownGrace+httpGrace)
	defer cancel()
	a.log.Info().Dur("grace", a.cfg.ShutdownGrace).Msg("stopping")
	a.started.Store(false)
	a.parts.stop(ctx, a.log)
	a.stopClock()
	a.clock.Wait()
	httpCtx, cancelHTTP := context.WithTimeout(context.Background(), httpGrace)
	defer cancelHTTP()
	a.public.Stop(httpCtx)
	a.ops.Stop(httpCtx)
	a.db.Close()
	a.log.Info().Msg("stopped")
}

// Serve runs the bot until ctx ends. Its errors are one line for a person.
func Serve(ctx context.Context, cfg config.Config, process Process) error {
	a, err := New(ctx, cfg, process)
	if err != nil {
		return err
	}
	if err := a.listen(ctx, nil); err != nil {
		a.db.Close()
		return err
	}
	return a.run(ctx)
}

// run starts, waits for the end and stops.
func (a *App) run(ctx context.Context) error {
	// What runs must not be cut off by the signal that asks for the stop: Stop ends it in order.
	if err := a.Start(context.WithoutCancel(ctx)); err != nil {
		a.Stop()
		return err
	}
	select {
	case <-ctx.Done():
		a.Stop()
		return nil
	case <-a.db.Lost():
		a.Stop()
		return errors.New("the private Postgres server ended: see postgres.log under DATA_DIR; a new start recovers")
	}
}
