package main

import (
	"context"
	"slices"
	"strings"

	"github.com/postonce/postonce/internal/app"
	"github.com/postonce/postonce/internal/app/config"
)

func (p *program) demo(ctx context.Context, args []string) error {
	fs := p.flags("demo")
	addr := fs.String("addr", "127.0.0.1:8080", "where the chat page listens")
	dir := fs.String("data-dir", "", "where the demo keeps its data (default: DATA_DIR, or ./data/demo)")
	quiet := fs.Bool("no-browser", false, "do not open the page in a browser")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("demo takes no arguments but flags; got %q", rest[0])
	}
	cfg, err := config.Load(p.environ)
	if err != nil {
		return err
	}
	version, revision := build()
	return app.Demo(ctx, cfg, app.DemoOptions{Addr: *addr, DataDir: *dir, Browser: !*quiet},
		app.Process{Log: logger(p.stderr, demoLogging(cfg, p.environ)), Say: p.stdout, Version: version, Commit: revision})
}

// demoLogging keeps the terminal for the one address unless somebody asked for more.
func demoLogging(cfg config.Config, environ []string) config.Config {
	asked := func(name string) bool {
		return slices.ContainsFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	}
	if !asked("LOG_LEVEL") {
		cfg.LogLevel = "warn"
	}
	if !asked("LOG_FORMAT") {
		cfg.LogFormat = "console"
	}
	return cfg
}
