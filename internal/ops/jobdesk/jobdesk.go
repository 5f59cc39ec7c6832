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
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/queue"
)

// Usage is the command's help.
const Usage = `usage: postonce jobs list [--state S] [--kind K] [--limit N] [--before ID] [--json]
       postonce jobs show ID [--json]
       postonce jobs confirm ID --by NAME             it happened: the doubt is over
       postonce jobs replay ID --by NAME [--outside done|not_done]
       postonce jobs dismiss ID --by NAME             leave it as it is
       postonce jobs pause KIND --by NAME             none of the kind is begun, in any process; what waits stays
       postonce jobs resume KIND --by NAME
       postonce jobs replay-all --by NAME [--state REASON] [--kind K] [--rate N] [--limit N]
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
	// Sleep waits between bulk replays, and no longer than ctx; nil sleeps.
	Sleep func(ctx context.Context, d time.Duration)
}

// options are the flags of all subcommands; each takes those that it knows.
type options struct {
	state, kind, by, outside string
	limit, rate              int
	before                   int64
	json                     bool
	id                       int64
	about                    string // the kind to pause or resume
}

const (
	listed = 100  // rows of a list, unless --limit says otherwise
	page   = 1000 // rows that replay-all reads at once
)

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
	case "pause", "resume":
		return d.pause(ctx, verb, opts)
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
	if verb := args[0]; !slices.Contains([]string{"list", "show", "confirm", "replay", "dismiss", "pause", "resume", "replay-all"}, verb) {
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
	fs.IntVar(&o.limit, "limit", 0, "")
	fs.IntVar(&o.rate, "rate", 10, "")
	fs.Int64Var(&o.before, "before", 0, "")
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
	if err := check(verb, o, fs); err != nil {
		return o, err
	}
	if verb == "pause" || verb == "resume" {
		if len(rest) != 1 {
			return o, &UsageError{fmt.Sprintf("jobs %s needs one kind of job\n%s", verb, Usage)}
		}
		o.about = rest[0]
		return o, nil
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

// check refuses what would be ignored in silence: a word that is no state, a flag that another verb takes.
func check(verb string, o options, fs *flag.FlagSet) error {
	states := queue.States()
	if verb == "replay-all" {
		states = []string{string(queue.StatusOpen)}
		for _, r := range queue.Reasons() {
			states = append(states, string(r))
		}
	}
	takes := map[string][]string{"outside": {"replay"}, "rate": {"replay-all"}, "before": {"list"}, "limit": {"list", "replay-all"}}
	var err error
	fs.Visit(func(f *flag.Flag) {
		if by, limited := takes[f.Name]; limited && !slices.Contains(by, verb) {
			err = &UsageError{fmt.Sprintf("jobs %s takes no --%s\n%s", verb, f.Name, Usage)}
		}
		if f.Name == "limit" && o.limit < 1 || f.Name == "before" && o.before < 1 {
			err = &UsageError{fmt.Sprintf("jobs %s: --%s is %s: want 1 or more", verb, f.Name, f.Value)}
		}
	})
	if err == nil && o.state != "" && !slices.Contains(states, o.state) {
		err = &UsageError{fmt.Sprintf("jobs %s: --state is %q: want one of %s", verb, o.state, strings.Join(states, ", "))}
	}
	return err
}

func (d *Desk) list(ctx context.Context, o options) error {
	if o.limit == 0 {
		o.limit = listed
	}
	// One more than is shown: whether there is another page.
	rows, err := queue.List(ctx, d.Pool, queue.Filter{State: o.state, Kind: o.kind, Limit: o.limit + 1, Before: o.before})
	if err != nil {
		return err
	}
	if err := d.knows(ctx, o.kind, rows); err != nil {
		return err
	}
	more := len(rows) > o.limit
	rows = rows[:min(len(rows), o.limit)]
	if o.json {
		if rows == nil {
			rows = []queue.Row{}
		}
		return d.json(rows)
	}
	if err := printRows(d.Out, rows); err != nil || !more {
		return err
	}
	_, err = fmt.Fprintf(d.Out, "these are %d; older ones: --before %d\n", len(rows), rows[len(rows)-1].JobID)
	return err
}

// knows refuses a kind that nobody has: no process registered it, and no row is of it.
func (d *Desk) knows(ctx context.Context, kind string, rows []queue.Row) error {
	if kind == "" || len(rows) > 0 {
		return nil
	}
	kinds, err := queue.KindNames(ctx, d.Pool)
	if err != nil || slices.Contains(kinds, kind) {
		return err
	}
	return &UsageError{fmt.Sprintf("jobs: no job is of the kind %q; there are %s", kind, strings.Join(kinds, ", "))}
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
	if errors.Is(err, queue.ErrNotFound) {
		return d.whereabouts(ctx, o.id)
	}
	if err != nil {
		return explain(o.id, err)
	}
	if o.json {
		return d.json(decision)
	}
	return printDecision(d.Out, o.id, decision)
}

// pause stops a kind in all processes, or starts it again; repeating it changes nothing.
func (d *Desk) pause(ctx context.Context, verb string, o options) error {
	if o.by == "" {
		return &UsageError{fmt.Sprintf("jobs %s needs --by NAME: every decision has an author", verb)}
	}
	err := pgx.BeginFunc(ctx, d.Pool, func(tx pgx.Tx) error {
		return queue.PauseTx(ctx, tx, o.about, verb == "pause", o.by)
	})
	if errors.Is(err, queue.ErrNotFound) {
		return d.knows(ctx, o.about, nil)
	}
	if err != nil {
		return err
	}
	if o.json {
		return d.json(map[string]any{"kind": o.about, "paused": verb == "pause", "by": o.by})
	}
	said := "runs"
	if verb == "pause" {
		said = "is paused: what waits stays, what runs goes on"
	}
	_, err = fmt.Fprintf(d.Out, "%s %s\n", o.about, said)
	return err
}

func evidence(s string) (queue.Evidence, error) {
	switch says := queue.Evidence(s); says {
	case queue.NoEvidence, queue.EvidenceDone, queue.EvidenceNotDone:
		return says, nil
	}
	return "", &UsageError{fmt.Sprintf("jobs replay: --outside is %q: want done or not_done, as the outside world shows", s)}
}

// whereabouts says why a job has nothing to decide.
func (d *Desk) whereabouts(ctx context.Context, id int64) error {
	t, err := queue.Show(ctx, d.Pool, id)
	switch {
	case errors.Is(err, queue.ErrNotFound):
		return explain(id, err)
	case err != nil:
		return err
	case t.State == "completed":
		return fmt.Errorf("job %d: it completed at %s: there is nothing to decide", id, stamp(t.EndedAt))
	case t.State == "gone":
		return fmt.Errorf("job %d: it ended longer ago than is kept, and not in the archive: there is nothing to decide", id)
	}
	return fmt.Errorf("job %d: it is in the queue (%s) and decides by itself: only what lies in the archive waits for a person", id, t.State)
}

// replayAll replays what is open and certain, at most rate jobs a second: what
// is in doubt is left out, each of those needs a person's word of its own. It
// goes through all pages, newest first; one that somebody else decided meanwhile
// is his. When it is stopped it says how far it came.
func (d *Desk) replayAll(ctx context.Context, o options) error {
	if o.by == "" {
		return &UsageError{"jobs replay-all needs --by NAME: every decision has an author"}
	}
	if o.rate < 1 {
		return &UsageError{fmt.Sprintf("jobs replay-all: --rate is %d: want 1 or more jobs a second", o.rate)}
	}
	if o.limit == 0 {
		o.limit = math.MaxInt
	}
	var sum summary
	err := d.replayPages(ctx, o, &sum)
	if ctx.Err() != nil {
		err = errors.New("jobs replay-all: stopped; the same command goes on with the rest")
	}
	var wrong *UsageError
	if errors.As(err, &wrong) {
		return err
	}
	if o.json {
		return errors.Join(err, d.json(sum))
	}
	text := fmt.Sprintf("%d replayed, %d left because they are in doubt", sum.Replayed, sum.InDoubt)
	if sum.Decided > 0 {
		text += fmt.Sprintf(", %d decided by somebody else meanwhile", sum.Decided)
	}
	_, werr := fmt.Fprintln(d.Out, text)
	return errors.Join(err, werr)
}

func (d *Desk) replayPages(ctx context.Context, o options, sum *summary) error {
	for before := int64(0); ; {
		rows, err := queue.List(ctx, d.Pool, queue.Filter{State: o.state, Kind: o.kind, Limit: page, Before: before, Open: true})
		if err != nil {
			return err
		}
		if before == 0 {
			if err := d.knows(ctx, o.kind, rows); err != nil {
				return err
			}
		}
		for _, r := range rows {
			if sum.Replayed >= o.limit {
				return nil
			}
			if err := d.replayOne(ctx, r, o, sum); err != nil {
				return err
			}
		}
		if len(rows) < page {
			return nil
		}
		before = rows[len(rows)-1].JobID
	}
}

func (d *Desk) replayOne(ctx context.Context, r queue.Row, o options, sum *summary) error {
	if r.NeedsReconcile {
		sum.InDoubt++
		return nil
	}
	desk := &queue.Desk{Pool: d.Pool, Registry: d.Registry}
	decision, err := desk.Replay(ctx, r.JobID, o.by, queue.NoEvidence)
	switch {
	case errors.Is(err, queue.ErrUnsettled):
		sum.InDoubt++
	case errors.Is(err, queue.ErrDecided), err == nil && !decision.Fresh:
		sum.Decided++
	case err != nil:
		return explain(r.JobID, err)
	default:
		sum.Replayed++
		d.sleep(ctx, time.Second/time.Duration(o.rate))
	}
	return ctx.Err()
}

func (d *Desk) sleep(ctx context.Context, pause time.Duration) {
	if d.Sleep != nil {
		d.Sleep(ctx, pause)
		return
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

type summary struct {
	Replayed int `json:"replayed"`
	InDoubt  int `json:"in_doubt"`
	Decided  int `json:"decided_meanwhile"`
}

// explain turns the queue's refusals into what an operator can do.
func explain(id int64, err error) error {
	var underWay *queue.InFlightError
	switch {
	case errors.As(err, &underWay):
		return fmt.Errorf("job %d: its request may still be under way until %s: what is not there yet may still come. Look again after that, then say --outside not_done", id, stamp(&underWay.Until))
	case errors.Is(err, queue.ErrUnsettled):
		return fmt.Errorf("job %d: an outside effect is in doubt, so it is not run again blindly: look outside (`postonce jobs show %d` says where), then say --outside done or --outside not_done, or confirm it", id, id)
	case errors.Is(err, queue.ErrDecided):
		return fmt.Errorf("job %d: an effect of it was settled otherwise meanwhile: %w", id, err)
	case errors.Is(err, queue.ErrNotFound):
		return fmt.Errorf("job %d: not in the archive: there never was such a job, or its number is not kept any more: `postonce jobs list`", id)
	}
	return err
}

func (d *Desk) json(v any) error {
	e := json.NewEncoder(d.Out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
