package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/app/config"
	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/sources"
)

// inspect prints what the program sees in an address; it needs no database.
func (p *program) inspect(ctx context.Context, args []string) error {
	fs := p.flags("inspect")
	asJSON := fs.Bool("json", false, "print one JSON object")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usagef("want `postonce inspect URL [--json]`")
	}
	cfg, err := config.Load(p.environ)
	if err != nil {
		return err
	}
	web := fetch.New(fetch.Config{AllowNets: cfg.AllowNets})
	report := sources.Inspect(ctx, sources.NewReader(web, cfg.PreviewURL, time.Now), rest[0])
	if *asJSON {
		if err := printJSON(p.stdout, report); err != nil {
			return err
		}
	} else {
		printReport(p.stdout, report)
	}
	if report.Error != nil {
		if *asJSON {
			return errSaid
		}
		return fmt.Errorf("%s (%s)", report.Error.Message, report.Error.Code)
	}
	return nil
}

func printReport(w io.Writer, r sources.Report) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-10s %s\n", name, value)
		}
	}
	line("address", r.URL)
	if r.FinalURL != r.URL {
		line("leads to", r.FinalURL)
	}
	line("kind", strings.TrimSuffix(r.Kind+", "+r.Format, ", "))
	line("title", r.Title)
	line("repaired", strings.Join(r.Repairs, "; "))
	line("offers", strings.Join(r.Candidates, " "))
	if r.Error != nil {
		line("in detail", r.Error.Detail)
		return
	}
	count := "entries"
	if len(r.Entries) == 1 {
		count = "entry"
	}
	fmt.Fprintf(w, "%d %s\n", len(r.Entries), count)
	for i, e := range r.Entries {
		published := e.Published
		if published == "" {
			published = "undated"
		}
		title := e.Title
		if title == "" {
			title = "(no title)"
		}
		fmt.Fprintf(w, "\n%3d. %s\n     %s  %s\n", i+1, title, published, e.URL)
		fmt.Fprintf(w, "     known by %s\n", strings.Join(e.Keys, ", "))
	}
}
