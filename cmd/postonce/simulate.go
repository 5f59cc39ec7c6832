package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/app"
	"github.com/postonce/postonce/internal/app/config"
	"github.com/postonce/postonce/internal/simulate"
)

// simulate works on a database of its own: on the configured server, or on a
// private one under DATA_DIR.
func (p *program) simulate(ctx context.Context, args []string) error {
	fs := p.flags("simulate")
	sim := simulate.Config{Now: time.Now, Say: func(format string, args ...any) {
		fmt.Fprintf(p.stderr, format+"\n", args...)
	}}
	fs.IntVar(&sim.Size.Channels, "channels", 1000, "channels")
	fs.IntVar(&sim.Size.Sources, "sources", 100_000, "sources")
	fs.IntVar(&sim.Size.Items, "items", 5_000_000, "items")
	fs.IntVar(&sim.Rounds, "rounds", 5, "rounds at each share, with a new item of each polled source")
	fs.IntVar(&sim.Polled, "polled", 100, "sources that are really polled, over HTTP")
	fs.IntVar(&sim.ADay, "a-day", 0, "items on a day; 0: as many as make a year")
	fs.BoolVar(&sim.Keep, "keep", false, "leave the databases behind")
	fs.BoolVar(&sim.Again, "again", false, "measure the databases that an earlier --keep left behind")
	load := fs.Bool("load-only", false, "load and keep, measure later with --again")
	shares := fs.String("shares", "1,10,100", "per cent of the size, rising")
	asJSON := fs.Bool("json", false, "print JSON")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	for part := range strings.SplitSeq(*shares, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 || n > 100 {
			return usagef("--shares is %q: want numbers from 1 to 100 separated by commas", *shares)
		}
		sim.Shares = append(sim.Shares, n)
	}
	if len(rest) > 0 || sim.Size.Channels < 1 || sim.Size.Sources < 1 || sim.Size.Items < 100 || sim.Rounds < 1 || sim.Polled < 1 || sim.ADay < 0 {
		return usagef("want `postonce simulate [--channels N] [--sources N] [--items N] [--a-day N] [--shares 1,10,100]`, at least 100 items")
	}
	if sim.Settle = 11 * time.Second; *load {
		sim.Keep, sim.Rounds = true, -1
	}
	cfg, err := config.Load(p.environ)
	if err != nil {
		return err
	}
	db, err := app.AttachDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	sim.URL = db.DirectURL
	costs, err := simulate.Run(ctx, sim)
	if err != nil {
		return err
	}
	if *asJSON {
		return printJSON(p.stdout, costs)
	}
	return simulate.Print(p.stdout, costs)
}
