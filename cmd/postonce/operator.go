package main

import (
	"context"
	"encoding/json"
	"errors"
	"os/user"
	"slices"
	"strconv"

	"github.com/postonce/postonce/internal/app"
	"github.com/postonce/postonce/internal/app/config"
	"github.com/postonce/postonce/internal/doctor"
	"github.com/postonce/postonce/internal/ops/jobdesk"
)

// jobs is the recovery desk; its own package reads the arguments.
func (p *program) jobs(ctx context.Context, args []string) error {
	cfg, err := config.Load(p.environ)
	if err != nil {
		return err
	}
	if err := jobdesk.Check(args); err != nil {
		return usageOf(err)
	}
	return usageOf(app.Jobs(ctx, cfg, p.stdout, account(), args))
}

func usageOf(err error) error {
	if u, ok := errors.AsType[*jobdesk.UsageError](err); ok {
		return usagef("%s", u.Text)
	}
	return err
}

// account names who decides when --by does not: the account at the terminal.
// Root is anybody, and in the image there are no accounts: there --by is needed.
func account() string {
	u, err := user.Current()
	if err != nil || u.Uid == "0" || u.Username == "" || u.Username == "nonroot" {
		return ""
	}
	return u.Username
}

func (p *program) doctor(ctx context.Context, args []string) error {
	fs := p.flags("doctor")
	asJSON := fs.Bool("json", false, "print one JSON object a line")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("doctor takes no arguments")
	}
	cfg, err := config.Load(p.environ)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(p.stdout)
	enc.SetEscapeHTML(false)
	healthy, err := app.Doctor(ctx, cfg, func(f doctor.Finding) {
		if *asJSON {
			_ = enc.Encode(f)
		} else {
			doctor.Print(p.stdout, f)
		}
	})
	if err == nil && !healthy {
		err = errSaid
	}
	return err
}

func (p *program) restored(ctx context.Context, args []string) error {
	const usage = "want `postonce restored status [--json]`, `postonce restored begin --by NAME` or `postonce restored release CHANNEL|all --by NAME`"
	fs := p.flags("restored")
	asJSON := fs.Bool("json", false, "print JSON")
	by := fs.String("by", account(), "who says so")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) == 0 || !slices.Contains([]string{"begin", "status", "release"}, rest[0]) {
		return usagef("%s", usage)
	}
	verb, channel := rest[0], int64(0)
	if verb == "release" && len(rest) == 2 && rest[1] != "all" {
		channel, err = strconv.ParseInt(rest[1], 10, 64)
	}
	if err != nil || (verb == "release") != (len(rest) == 2) || verb != "status" && *by == "" {
		return usagef("%s", usage)
	}
	cfg, err := config.Load(p.environ)
	if err != nil {
		return err
	}
	return app.Restored(ctx, cfg, p.stdout, verb, channel, *by, *asJSON)
}
