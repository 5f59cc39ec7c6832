package main

import (
	"context"
	"io"

	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/app"
	"github.com/postonce/postonce/internal/app/config"
)

func (p *program) serve(ctx context.Context, args []string) error {
	if len(args) > 0 {
		return usagef("serve takes no arguments: settings come from the environment")
	}
	cfg, err := config.Load(p.environ)
	if err != nil {
		return err
	}
	if err := cfg.NeedToken(); err != nil {
		return err
	}
	version, revision := build()
	return app.Serve(ctx, cfg, app.Process{Log: logger(p.stderr, cfg), Say: p.stdout, Version: version, Commit: revision})
}

// logger writes one JSON object a line, or lines for a terminal.
func logger(w io.Writer, cfg config.Config) zerolog.Logger {
	level, err := zerolog.ParseLevel(cfg.LogLevel)
	if err != nil {
		level = zerolog.InfoLevel
	}
	if cfg.LogFormat == "console" {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: "15:04:05"}
	}
	return zerolog.New(w).Level(level).With().Timestamp().Logger()
}
