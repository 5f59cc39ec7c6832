// Package simulate loads the real schema to a given size and measures what one
// item costs on it: the real poll over HTTP, the real placing into stories and
// the real scoring, through the real queue. The same at one per cent of the
// size and at the whole of it shows what grows.
//
// It owns no table and works on a database of its own, which it creates and
// drops; it must never be pointed at one that somebody uses.
package simulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/migrations"
)

// Size is how much there is.
type Size struct {
	Channels int `json:"channels"`
	Sources  int `json:"sources"`
	Items    int `json:"items"`
}

// Config says what to simulate and where.
type Config struct {
	// URL is the server, as a superuser or an owner of databases. For each
	// share a database Name_share is created on it; it must not exist.
	URL  string
	Name string // default postonce_simulation
	Size Size
	// ADay is how many of the items come on a day; 0: as many as make a year.
	ADay int
	// Shares are the parts of Size at which is measured, in per cent, rising.
	Shares []int
	// Polled is how many sources are really polled, over HTTP; default 100.
	// Rounds is how often; default 5.
	Polled, Rounds int
	// Settle is how long is waited before pages are counted: connections hand
	// in their counters within eleven seconds. 0: pages are not counted.
	Settle time.Duration
	Keep   bool // leave the databases behind
	Again  bool // measure those that an earlier run left behind, load nothing
	Say    func(format string, args ...any)
	Now    func() time.Time
}

// Cost is what was measured at one share.
type Cost struct {
	Share    int           `json:"share_percent"`
	Size     Size          `json:"size"`
	Load     time.Duration `json:"load"`
	Bytes    int64         `json:"bytes"`
	Idle     time.Duration `json:"poll_nothing_new"`     // a poll of 30 known entries
	Fresh    time.Duration `json:"poll_one_new"`         // a poll of 30 known entries and a new one
	Chain    time.Duration `json:"item_to_scores"`       // of one item through the queue, placed and scored for its channels
	Through  float64       `json:"items_a_second"`       // polled, placed and scored, one process
	Figures  time.Duration `json:"operators_figures"`    // what /metrics and the watch read
	Pages    float64       `json:"pages_an_item"`        // asked of tables and indexes for one item and two polls; 0: not counted
	PerItem  int64         `json:"bytes_an_item"`        //
	Headroom float64       `json:"items_a_day_headroom"` // at half of the throughput
}

// ErrExists means that the database of that name is there already.
var ErrExists = errors.New("the database exists already: drop it, or choose another name")

// ErrMissing means that there is no database to measure again.
var ErrMissing = errors.New("there is no such database: load it first, with --keep")

// Run loads and measures. It returns the costs in the order of Shares.
func Run(ctx context.Context, cfg Config) ([]Cost, error) {
	if cfg.Name == "" {
		cfg.Name = "postonce_simulation"
	}
	if cfg.Rounds == 0 {
		cfg.Rounds = 5
	}
	if cfg.Polled == 0 {
		cfg.Polled = 100
	}
	if cfg.ADay == 0 {
		cfg.ADay = max(cfg.Size.Items/365, 1)
	}
	var worlds []*world
	for _, share := range cfg.Shares {
		pool, drop, err := scratch(ctx, cfg, share)
		if err != nil {
			return nil, err
		}
		defer drop()
		w := newWorld(cfg, pool, share)
		defer w.close()
		worlds = append(worlds, w)
		if cfg.Again {
			continue
		}
		cfg.Say("loading %d %%", share)
		if err := w.load(ctx); err != nil {
			return nil, fmt.Errorf("at %d %%: %w", share, err)
		}
		w.loaded = w.now().Sub(w.began)
	}
	if cfg.Rounds < 0 {
		return nil, nil
	}
	cfg.Say("measuring")
	return measure(ctx, cfg, worlds)
}

// scratch creates the database of one share, or finds it, and returns how to drop it.
func scratch(ctx context.Context, cfg Config, share int) (*pgxpool.Pool, func(), error) {
	admin, err := pgx.Connect(ctx, cfg.URL)
	if err != nil {
		return nil, nil, fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = admin.Close(ctx) }()
	database := fmt.Sprintf("%s_%d", cfg.Name, share)
	name := pgx.Identifier{database}.Sanitize()
	var exists bool
	if err := admin.QueryRow(ctx, databaseExistsSQL, database).Scan(&exists); err != nil {
		return nil, nil, err
	}
	switch {
	case exists && !cfg.Again:
		return nil, nil, fmt.Errorf("%s: %w", database, ErrExists)
	case !exists && cfg.Again:
		return nil, nil, fmt.Errorf("%s: %w", database, ErrMissing)
	case !exists:
		if _, err := admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
			return nil, nil, fmt.Errorf("create %s: %w", database, err)
		}
	}
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, nil, err
	}
	pc.ConnConfig.Database = database
	pc.MaxConns = 20
	drop := func() {
		if cfg.Keep {
			return
		}
		conn, err := pgx.Connect(context.WithoutCancel(ctx), cfg.URL)
		if err == nil {
			_, _ = conn.Exec(context.WithoutCancel(ctx), "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}
	url := fmt.Sprintf("host=%s port=%d user=%s password='%s' dbname=%s sslmode=%s",
		pc.ConnConfig.Host, pc.ConnConfig.Port, pc.ConnConfig.User, pc.ConnConfig.Password, database, sslMode(pc))
	m, err := postgres.NewMigrator(url, migrations.FS)
	if err == nil {
		_, err = m.Up(ctx)
		_ = m.Close()
	}
	if err != nil {
		drop()
		return nil, nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		drop()
		return nil, nil, err
	}
	return pool, func() { pool.Close(); drop() }, nil
}

func sslMode(pc *pgxpool.Config) string {
	if pc.ConnConfig.TLSConfig == nil {
		return "disable"
	}
	return "require"
}

const databaseExistsSQL = `
SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`
