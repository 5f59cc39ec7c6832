// Package jobdesk is the operator's recovery desk on the command line, the
// command `postonce jobs`: it lists and shows jobs, live and archived, and
// takes decisions about archived ones. The rules are the queue's; this package
// reads arguments and prints answers, as text or as JSON.
//
// It owns no table. It must never decide anything by itself.
package jobdesk

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/queue"
)

// Usage is the command's help.
const Usage = `usage: postonce jobs list [--state S] [--kind K] [--limit N] [--json]
       postonce jobs show ID [--json]
       postonce jobs confirm ID --by NAME             it happened: the doubt is over
       postonce jobs replay ID --by NAME [--outside done|not_done]
       postonce jobs dismiss ID --by NAME             leave it as it is
       postonce jobs replay-all --by NAME [--state REASON] [--kind K] [--rate N]
states: ready leased archived · unconfirmed lease_lost_twice permanent exhausted cancelled · open reconciled replayed closed`

// UsageError is a mistake on the command line.
type UsageError struct{ Text string }

func (e *UsageError) Error() string { return e.Text }

// Desk is one invocation's surroundings.
type Desk struct {
	Pool     *pgxpool.Pool
	Registry *queue.Registry // every kind of the program: a decision tells the kind
	Out      io.Writer
	// DefaultBy signs decisions when --by is not given; empty demands --by.
	DefaultBy string
	// Sleep waits between bulk replays; nil sleeps.
	Sleep func(time.Duration)
}

// options are the flags of all subcommands; each takes those that it knows.
type options struct {
	state, kind, by, outside string
	limit, rate              int
	json                     bool
	id                       int64
}

// Run executes `jobs ARGS`. It returns a *UsageError for a wrong command line.
func (d *Desk) Run(ctx context.Context, args []string) error {
	opts, err := read(args)
	if err != nil {
		return err
	}
	verb := args[0]
	if opts.by == "" {
		opts.by = d.DefaultBy
	}
	switch verb {
	case "list":
		return d.list(ctx, opts)
	case "show":
		return d.show(ctx, opts)
	case "confirm", "replay", "dismiss":
		return d.decide(ctx, verb, opts)
	}
	return d.replayAll(ctx, opts)
}

// Check returns the *UsageError that Run would return, without a database.
func Check(args []string) error {
	_, err := read(args)
	return err
}

func read(args []string) (options, error) {
	if len(args) == 0 {
		return options{}, &UsageError{Usage}
	}
	if verb := args[0]; !slices.Contains([]string{"list", "show", "confirm", "replay", "dismiss", "replay-all"}, verb) {
		return options{}, &UsageError{fmt.Sprintf("jobs: no such thing as %q\n%s", verb, Usage)}
	}
	return parse(args[0], args[1:])
}

// parse takes flags before and after the number.
func parse(verb string, args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("jobs "+verb, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&o.state, "state", "", "")
	fs.StringVar(&o.kind, "kind", "", "")
	fs.StringVar(&o.by, "by", "", "")
	fs.StringVar(&o.outside, "outside", "", "")
	fs.IntVar(&o.limit, "limit", 100, "")
	fs.IntVar(&o.rate, "rate", 10, "")
	fs.BoolVar(&o.json, "json", false, "")
	var rest []string
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			return o, &UsageError{"jobs: " + err.Error() + "\n" + Usage}
		}
		args = fs.Args()
		if len(args) > 0 {
			rest, args = append(rest, args[0]), args[1:]
		}
	}
	wantID := verb == "show" || verb == "confirm" || verb == "replay" || verb == "dismiss"
	switch {
	case wantID && len(rest) != 1:
		return o, &UsageError{fmt.Sprintf("jobs %s needs one job number\n%s", verb, Usage)}
	case !wantID && len(rest) > 0:
		return o, &UsageError{fmt.Sprintf("jobs %s takes no %q\n%s", verb, rest[0], Usage)}
	case !wantID:
		return o, nil
	}
	id, err := strconv.ParseInt(rest[0], 10, 64)
	if err != nil || id < 1 {
		return o, &UsageError{fmt.Sprintf("jobs: %q is no job number", rest[0])}
	}
	o.id = id
	return o, nil
}

func (d *Desk) list(ctx context.Context, o options) error {
	rows, err := queue.List(ctx, d.Pool, queue.Filter{State: o.state, Kind: o.kind, Limit: o.limit})
	if err != nil {
		return err
	}
	if o.json {
		if rows == nil {
			rows = []queue.Row{}
		}
		return d.json(rows)
	}
	return printRows(d.Out, rows)
}

func (d *Desk) show(ctx context.Context, o options) error {
	t, err := queue.Show(ctx, d.Pool, o.id)
	if err != nil {
		return explain(o.id, err)
	}
	if o.json {
		return d.json(t)
	}
	return printTrace(d.Out, t)
}

func (d *Desk) decide(ctx context.Context, verb string, o options) error {
	if o.by == "" {
		return &UsageError{fmt.Sprintf("jobs %s needs --by NAME: every decision has an author", verb)}
	}
	desk := &queue.Desk{Pool: d.Pool, Registry: d.Registry}
	var decision queue.Decision
	var err error
	switch verb {
	case "confirm":
		decision, err = desk.Confirm(ctx, o.id, o.by)
	case "dismiss":
		decision, err = desk.Dismiss(ctx, o.id, o.by)
	case "replay":
		var says queue.Evidence
		if says, err = evidence(o.outside); err != nil {
			return err
		}
		decision, err = desk.Replay(ctx, o.id, o.by, says)
	}
	if errors.Is(err, queue.ErrDecided) && decision.Status != queue.StatusOpen {
		return fmt.Errorf("job %d: already decided otherwise: %s by %s at %s, and a decision stands: `postonce jobs show %d`",
			o.id, decision.Status, decision.By, stamp(&decision.At), o.id)
	}
	if err != nil {
		return explain(o.id, err)
	}
	if o.json {
		return d.json(decision)
	}
	return printDecision(d.Out, o.id, decision)
}

func evidence(s string) (queue.Evidence, error) {
	switch says := queue.Evidence(s); says {
	case queue.NoEvidence, queue.EvidenceDone, queue.EvidenceNotDone:
		return says, nil
	}
	return "", &UsageError{fmt.Sprintf("jobs replay: --outside is %q: want done or not_done, as the outside world shows", s)}
}

// replayAll replays what is open and certain, at most rate jobs a second: what
// is in doubt is left out, each of those needs a person's word of its own.
func (d *Desk) replayAll(ctx context.Context, o options) error {
	if o.by == "" {
		return &UsageError{"jobs replay-all needs --by NAME: every decision has an author"}
	}
	if o.rate < 1 {
		return &UsageError{fmt.Sprintf("jobs replay-all: --rate is %d: want 1 or more jobs a second", o.rate)}
	}
	if o.state == "" {
		o.state = string(queue.StatusOpen)
	}
	rows, err := queue.List(ctx, d.Pool, queue.Filter{State: o.state, Kind: o.kind, Limit: o.limit})
	if err != nil {
		return err
	}
	sleep := d.Sleep
	if sleep == nil {
		sleep = time.Sleep
	}
	desk := &queue.Desk{Pool: d.Pool, Registry: d.Registry}
	var sum summary
	for _, r := range rows {
		if r.State != "archived" || r.Status != queue.StatusOpen {
			continue
		}
		if r.NeedsReconcile {
			sum.InDoubt++
			continue
		}
		if _, err := desk.Replay(ctx, r.JobID, o.by, queue.NoEvidence); errors.Is(err, queue.ErrUnsettled) {
			sum.InDoubt++
			continue
		} else if err != nil {
			return explain(r.JobID, err)
		}
		sum.Replayed++
		sleep(time.Second / time.Duration(o.rate))
	}
	if o.json {
		return d.json(sum)
	}
	_, err = fmt.Fprintf(d.Out, "%d replayed, %d left because they are in doubt\n", sum.Replayed, sum.InDoubt)
	return err
}

type summary struct {
	Replayed int `json:"replayed"`
	InDoubt  int `json:"in_doubt"`
}

// explain turns the queue's refusals into what an operator can do.
func explain(id int64, err error) error {
	switch {
	case errors.Is(err, queue.ErrUnsettled):
		return fmt.Errorf("job %d: an outside effect is in doubt, so it is not run again blindly: look outside (`postonce jobs show %d` says where), then say --outside done or --outside not_done, or confirm it", id, id)
	case errors.Is(err, queue.ErrDecided):
		return fmt.Errorf("job %d: an effect of it was settled otherwise meanwhile: %w", id, err)
	case errors.Is(err, queue.ErrNotFound):
		return fmt.Errorf("job %d: not in the archive (a live job decides by itself; one past its retention is gone): `postonce jobs list`", id)
	}
	return err
}

func (d *Desk) json(v any) error {
	e := json.NewEncoder(d.Out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
