package main

import (
	"context"
	"fmt"
	"time"

	"github.com/postonce/postonce/internal/app"
	"github.com/postonce/postonce/internal/app/config"
)

func (p *program) migrate(ctx context.Context, args []string) error {
	if len(args) != 1 || (args[0] != "up" && args[0] != "status") {
		return usagef("want `postonce migrate up` or `postonce migrate status`")
	}
	cfg, err := config.Load(p.environ)
	if err != nil {
		return err
	}
	db, err := app.OpenDatabase(ctx, cfg)
	if err != nil {
		return err
	}
	defer db.Close()
	if args[0] == "up" {
		n, err := db.Migrate(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(p.stdout, "%d migrations applied; the schema is current\n", n)
		return nil
	}
	list, err := db.Migrations(ctx)
	if err != nil {
		return err
	}
	for _, m := range list {
		when := "pending"
		if !m.AppliedAt.IsZero() {
			when = m.AppliedAt.UTC().Format(time.RFC3339)
		}
		fmt.Fprintf(p.stdout, "%04d  %-20s  %s\n", m.Version, when, m.Name)
	}
	return nil
}
