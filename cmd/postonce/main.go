// Command postonce is a Telegram bot, with a Mini App, that finds, scores and
// drafts posts for a channel from the sources that its owner adds, plans them
// into slots and publishes what the owner approves. Nothing twice.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // slots are planned in IANA zones, also on machines without a zone database

	"github.com/postonce/postonce/internal/app/config"
)

// Exit codes.
const (
	exitFine   = 0
	exitFailed = 1
	exitUsage  = 2 // wrong usage or configuration
)

// program is what a command gets: never the process's globals, so that tests
// run commands side by side.
type program struct {
	environ []string
	stdout  io.Writer
	stderr  io.Writer
}

// command is one subcommand; run gets the arguments after its name.
type command struct {
	name, args, does string
	run              func(p *program, ctx context.Context, args []string) error
}

func commands() []command {
	return []command{
		{"demo", "[--addr 127.0.0.1:8080] [--data-dir DIR] [--no-browser]", "the whole product with nothing installed but Postgres", (*program).demo},
		{"serve", "", "the bot against Telegram, configured by the environment", (*program).serve},
		{"inspect", "URL [--json]", "what the program sees in an address: kind, format, entries, identities, repairs", (*program).inspect},
		{"poll", "URL [--json]", "polls a followed source now: what is new, and why the rest is not", (*program).poll},
		{"migrate", "up|status", "schema migrations", (*program).migrate},
		{"jobs", "list|show ID|replay ID|confirm ID|dismiss ID|replay-all|pause KIND|resume KIND [--state S] [--kind K] [--json] [--by NAME]", "the operator's recovery desk: live jobs and the archive", (*program).jobs},
		{"doctor", "[--json]", "checks database, token, rights, webhook, clock and model; exit 1 if any fails", (*program).doctor},
		{"report", "[--json]", "balances the money movements and lists findings; exit 1 if they do not balance", (*program).report},
		{"refund", "CHARGE [--by NAME]", "gives a payment back; the running bot does it, once", (*program).refund},
		{"billing", "findings|settle NUMBER|payments PERSON|refunded CHARGE|reconcile [--note TEXT] [--json] [--by NAME]", "payments that do not match and their end, what a person paid, refunds by card, a look at once", (*program).billing},
		{"restored", "begin|status|release CHANNEL|all [--json] [--by NAME]", "after a restored backup: which channels are held, and their release", (*program).restored},
		{"simulate", "[--channels N] [--sources N] [--items N] [--shares 1,10,100] [--keep] [--json]", "loads the real schema and measures what an item costs", (*program).simulate},
		{"health", "", "asks /readyz, for container health checks", (*program).health},
		{"version", "", "version, commit and schema version", (*program).version},
	}
}

// usageError is a mistake on the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	p := &program{environ: os.Environ(), stdout: os.Stdout, stderr: os.Stderr}
	code := p.main(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// main runs one command and turns its error into an exit code and one line.
func (p *program) main(ctx context.Context, args []string) int {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		p.usage()
		if len(args) > 0 {
			return exitFine
		}
		return exitUsage
	}
	for _, c := range commands() {
		if c.name != args[0] {
			continue
		}
		err := c.run(p, ctx, args[1:])
		if err == nil || errors.Is(err, flag.ErrHelp) {
			return exitFine
		}
		if !errors.Is(err, errSaid) {
			fmt.Fprintln(p.stderr, "postonce:", err)
		}
		return exitCode(err)
	}
	fmt.Fprintf(p.stderr, "postonce: there is no command %q; `postonce help` lists them\n", args[0])
	return exitUsage
}

// printJSON writes one value for programs, indented for people.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// errSaid is returned by a command that has already told the person.
var errSaid = errors.New("already said")

func exitCode(err error) int {
	if _, ok := errors.AsType[*config.Error](err); ok {
		return exitUsage
	}
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	return exitFailed
}

func (p *program) usage() {
	fmt.Fprint(p.stdout, "postonce finds, scores and drafts posts for a Telegram channel, and publishes what you approve. Nothing twice.\n\n")
	for _, c := range commands() {
		fmt.Fprintf(p.stdout, "  postonce %s\n        %s\n", strings.TrimSpace(c.name+" "+c.args), c.does)
	}
	fmt.Fprint(p.stdout, "\nSettings come from the environment; config.example.env lists them.\n")
}

// flags makes a flag set that reports mistakes as usage errors and prints
// nothing by itself but help.
func (p *program) flags(name string) *flag.FlagSet {
	fs := flag.NewFlagSet("postonce "+name, flag.ContinueOnError)
	fs.SetOutput(p.stderr)
	return fs
}

// parse parses flags that may stand before and after the positional arguments.
func parse(fs *flag.FlagSet, args []string) ([]string, error) {
	var rest []string
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, &usageError{err.Error()}
		}
		if fs.NArg() == 0 {
			return rest, nil
		}
		rest = append(rest, fs.Arg(0))
		args = fs.Args()[1:]
	}
}
