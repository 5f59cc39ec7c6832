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
	// URL is the server, as a superuser or an owner of databases. A database
	// Name is created on it; it must not exist.
	URL  string
	Name string // default postonce_simulation
	Size Size
	// Shares are the parts of Size at which is measured, in per cent, rising.
	Shares []int
	// Polled is how many sources are really polled, over HTTP; default 100.
	// Rounds is how often; default 5.
	Polled, Rounds int
	Keep           bool // leave the database behind
	Say            func(format string, args ...any)
	Now            func() time.Time
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
	PerItem  int64         `json:"bytes_an_item"`        //
	Headroom float64       `json:"items_a_day_headroom"` // at half of the throughput
}

// ErrExists means that the database of that name is there already.
var ErrExists = errors.New("the database exists already: drop it, or choose another name")

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
	pool, drop, err := scratch(ctx, cfg)
	if err != nil {
		return nil, err
	}
	defer drop()
	w, err := newWorld(ctx, cfg, pool)
	if err != nil {
		return nil, err
	}
	defer w.close()
	var out []Cost
	for _, share := range cfg.Shares {
		c, err := w.measureAt(ctx, share)
		if err != nil {
			return out, fmt.Errorf("at %d %%: %w", share, err)
		}
		out = append(out, c)
	}
	return out, nil
}

// scratch creates the database and returns how to drop it.
func scratch(ctx context.Context, cfg Config) (*pgxpool.Pool, func(), error) {
	admin, err := pgx.Connect(ctx, cfg.URL)
	if err != nil {
		return nil, nil, fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = admin.Close(ctx) }()
	name := pgx.Identifier{cfg.Name}.Sanitize()
	var exists bool
	if err := admin.QueryRow(ctx, databaseExistsSQL, cfg.Name).Scan(&exists); err != nil {
		return nil, nil, err
	}
	if exists {
		return nil, nil, fmt.Errorf("%s: %w", cfg.Name, ErrExists)
	}
	if _, err := admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, nil, fmt.Errorf("create %s: %w", cfg.Name, err)
	}
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, nil, err
	}
	pc.ConnConfig.Database = cfg.Name
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
		pc.ConnConfig.Host, pc.ConnConfig.Port, pc.ConnConfig.User, pc.ConnConfig.Password, cfg.Name, sslMode(pc))
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
