package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/postonce/postonce/internal/app"
	"github.com/postonce/postonce/internal/app/config"
	"github.com/postonce/postonce/internal/sources"
)

// poll polls a followed source outside its schedule.
func (p *program) poll(ctx context.Context, args []string) error {
	fs := p.flags("poll")
	asJSON := fs.Bool("json", false, "print one JSON object")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usagef("want `postonce poll URL [--json]`")
	}
	cfg, err := config.Load(p.environ)
	if err != nil {
		return err
	}
	version, revision := build()
	report, err := app.Poll(ctx, cfg, app.Process{Log: logger(p.stderr, cfg), Version: version, Commit: revision}, rest[0])
	if err != nil {
		return err
	}
	if *asJSON {
		err = printJSON(p.stdout, report)
	} else {
		printPoll(p.stdout, report)
	}
	if err == nil && report.Error != "" {
		err = errors.New(report.Error)
		if *asJSON {
			err = errSaid
		}
	}
	return err
}

func printPoll(w io.Writer, r sources.PollReport) {
	fmt.Fprintf(w, "source     %d, %s\n", r.SourceID, r.URL)
	fmt.Fprintf(w, "result     %s\n", r.Result)
	if r.Note != "" {
		fmt.Fprintf(w, "note       %s\n", r.Note)
	}
	if !r.NextPoll.IsZero() {
		fmt.Fprintf(w, "next poll  %s\n", r.NextPoll.UTC().Format(time.RFC3339))
	}
	for _, e := range r.Entries {
		fmt.Fprintf(w, "\n%-9s  %s\n           %s\n", e.Why, e.Title, e.URL)
	}
}
