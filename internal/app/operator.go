package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/app/config"
	"github.com/postonce/postonce/internal/doctor"
	"github.com/postonce/postonce/internal/ops/jobdesk"
	"github.com/postonce/postonce/internal/ops/restore"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/embedded"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sources"
	"github.com/postonce/postonce/internal/telegram"
)

// AttachDatabase is OpenDatabase for commands beside a running program: the
// private server that another process runs on DATA_DIR is used, not fought
// over. It does not migrate.
func AttachDatabase(ctx context.Context, cfg config.Config) (*Database, error) {
	if cfg.DatabaseURL == "" {
		if url, ok := embedded.Running(filepath.Join(cfg.DataDir, "postgres")); ok {
			pool, err := postgres.Open(ctx, postgres.Config{URL: url, MaxConns: 4, Name: "postonce operator"})
			if err != nil {
				return nil, fmt.Errorf("DATA_DIR %s: %w", cfg.DataDir, err)
			}
			clock := postgres.NewClock(pool, nil)
			if err := clock.Set(ctx); err != nil {
				pool.Close()
				return nil, fmt.Errorf("DATA_DIR %s: %w", cfg.DataDir, err)
			}
			return &Database{Pool: pool, DirectURL: url, Clock: clock}, nil
		}
	}
	return OpenDatabase(ctx, cfg)
}

// attachCurrent is AttachDatabase for commands that need this release's schema.
func attachCurrent(ctx context.Context, cfg config.Config) (*Database, error) {
	db, err := AttachDatabase(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := db.current(ctx); err != nil {
		db.Close()
		return nil, fmt.Errorf("the schema %w: run `postonce migrate up`", err)
	}
	return db, nil
}

// Poll polls a followed source at once, with everything that follows from it,
// and says what became of each entry. A mistake in the address, or one that
// nobody follows, is an error that names the mend.
func Poll(ctx context.Context, cfg config.Config, process Process, raw string) (sources.PollReport, error) {
	db, err := attachCurrent(ctx, cfg)
	if err != nil {
		return sources.PollReport{}, err
	}
	defer db.Close()
	p, err := operatorParts(cfg, db, process)
	if err != nil {
		return sources.PollReport{}, err
	}
	report, err := p.sources.PollNow(ctx, raw)
	if errors.Is(err, sources.ErrUnknown) {
		err = fmt.Errorf("nobody follows %s: send it to the bot to follow it, or look at it with `postonce inspect`", raw)
	}
	return report, err
}

// Doctor checks everything around the program, reports each finding, and
// returns whether none failed.
func Doctor(ctx context.Context, cfg config.Config, report func(doctor.Finding)) (bool, error) {
	schema, err := SchemaVersion()
	if err != nil {
		return false, err
	}
	var db *Database
	defer func() {
		if db != nil {
			db.Close()
		}
	}()
	return doctor.Run(ctx, doctor.Config{
		Open: func(ctx context.Context) (*pgxpool.Pool, error) {
			var err error
			if db, err = AttachDatabase(ctx, cfg); err != nil {
				return nil, err
			}
			return db.Pool, nil
		},
		SchemaWanted: schema, Pooled: cfg.DatabaseDirectURL != "",
		Token: cfg.BotToken, APIURL: cfg.APIURL, Updates: cfg.Updates, PublicURL: cfg.PublicURL,
		WebhookURL: webhookURL(cfg), LogChatID: cfg.LogChatID,
		ModelURL: cfg.LLMBaseURL, ModelKey: cfg.LLMAPIKey, ModelName: cfg.LLMModel, ModelAPI: cfg.LLMAPI,
	}, report), nil
}

// webhookURL is where Telegram delivers updates; empty with polling.
func webhookURL(cfg config.Config) string {
	if cfg.Updates != "webhook" {
		return ""
	}
	return strings.TrimRight(cfg.PublicURL, "/") + "/telegram/webhook"
}

// Jobs runs `postonce jobs ARGS`.
func Jobs(ctx context.Context, cfg config.Config, out io.Writer, by string, args []string) error {
	db, err := attachCurrent(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	kinds, err := operatorKinds(cfg, db)
	if err != nil {
		return err
	}
	desk := &jobdesk.Desk{Pool: db.Pool, Registry: kinds, Out: out, DefaultBy: by}
	return desk.Run(ctx, args)
}

// nobodysToken has the form of a token: the desk builds the features, so that
// each hears of decisions about its jobs, and asks Telegram nothing.
const nobodysToken = "1:unused-unused-unused-unused"

// operatorKinds are all kinds of the program, for decisions in the archive.
func operatorKinds(cfg config.Config, db *Database) (*queue.Registry, error) {
	p, err := operatorParts(cfg, db, Process{Log: zerolog.Nop()})
	if err != nil {
		return nil, err
	}
	return p.registry, nil
}

// operatorParts are the features without an engine, an intake or a face.
func operatorParts(cfg config.Config, db *Database, process Process) (*parts, error) {
	token := cfg.BotToken
	if token == "" {
		token = nobodysToken
	}
	client, err := telegram.New(telegram.Config{Token: telegram.Token(token), BaseURL: cfg.APIURL})
	if err != nil {
		return nil, &config.Error{Variable: "TELEGRAM_BOT_TOKEN", Problem: err.Error()}
	}
	metrics := prometheus.NewRegistry()
	p := &parts{pool: db.Pool, registry: queue.NewRegistry(), telegram: client, counters: newCounters(metrics)}
	return p, p.buildFeatures(&App{cfg: cfg, db: db, log: process.Log, process: process, metrics: metrics})
}

// Restored runs `postonce restored VERB`: begin, status, or release with a
// channel's number (0: all).
func Restored(ctx context.Context, cfg config.Config, out io.Writer, verb string, channelID int64, by string, asJSON bool) error {
	db, err := AttachDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Migrate(ctx); err != nil { // the backup may be of an older release
		return err
	}
	switch verb {
	case "begin":
		if err := restore.Declare(ctx, db.Pool, by); err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, "noted: nothing is published from now on; a running postonce begins within half a minute, another one when it starts")
		return err
	case "release":
		released, waiting, err := restore.Release(ctx, db.Pool, channelID, by, notifyReleased)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%d released\n", released)
		if waiting > 0 {
			return fmt.Errorf("%d channels were not read yet and stay held: try again in a few minutes", waiting)
		}
		return err
	}
	holds, err := restore.Open(ctx, db.Pool)
	if err != nil {
		return err
	}
	return restore.Print(out, holds, asJSON)
}
