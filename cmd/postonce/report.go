package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/postonce/postonce/internal/app"
	"github.com/postonce/postonce/internal/app/config"
	"github.com/postonce/postonce/internal/billing"
)

// books are what `postonce report --json` prints.
type books struct {
	Balanced bool              `json:"balanced"`
	Balances []billing.Balance `json:"balances"`
	Findings []billing.Finding `json:"findings"`
}

var errUnbalanced = errors.New("the books do not balance: what moved is not what was paid and kept")

// report balances the money. Findings wait for an operator and are listed, but
// only sums that disagree fail the command.
func (p *program) report(ctx context.Context, args []string) error {
	fs := p.flags("report")
	asJSON := fs.Bool("json", false, "print one JSON object")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usagef("want `postonce report [--json]`")
	}
	cfg, err := config.Load(p.environ)
	if err != nil {
		return err
	}
	b := books{Balanced: true}
	if b.Balances, b.Findings, err = app.Books(ctx, cfg); err != nil {
		return err
	}
	for _, one := range b.Balances {
		b.Balanced = b.Balanced && one.Balanced()
	}
	if *asJSON {
		err = printJSON(p.stdout, b)
	} else {
		printBooks(p.stdout, b)
	}
	if err == nil && !b.Balanced {
		err = errUnbalanced
		if *asJSON {
			err = errSaid
		}
	}
	return err
}

func printBooks(w io.Writer, b books) {
	if len(b.Balances) == 0 {
		fmt.Fprintln(w, "no money has moved")
	}
	for _, one := range b.Balances {
		says := "balances"
		if !one.Balanced() {
			says = fmt.Sprintf("DOES NOT BALANCE: the payments kept sum up to %d", one.Kept)
		}
		fmt.Fprintf(w, "%s  %d payments %s, %d refunds %s, sum %s: %s\n", one.Currency, one.Payments, billing.Money(one.In, one.Currency),
			one.RefundCount, billing.Money(one.Out, one.Currency), billing.Money(one.Sum, one.Currency), says)
	}
	printFindings(w, b.Findings)
}

func printFindings(w io.Writer, list []billing.Finding) {
	for _, f := range list {
		fmt.Fprintf(w, "finding %d  %s  %s  %s: %s\n", f.ID, f.At.UTC().Format(time.RFC3339), f.ChargeID, f.Finding, f.Detail)
	}
}

// refund asks for a payment to be given back, by the charge id of its receipt.
func (p *program) refund(ctx context.Context, args []string) error {
	fs := p.flags("refund")
	by := fs.String("by", account(), "who asks for it")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return usagef("want `postonce refund CHARGE [--by NAME]`")
	}
	cfg, err := config.Load(p.environ)
	if err != nil {
		return err
	}
	fresh, err := app.Refund(ctx, cfg, rest[0], *by)
	if err != nil {
		return err
	}
	said := "asked for: the running bot gives it back; `postonce report` counts it then"
	if !fresh {
		said = "was asked for or given back before: `postonce jobs list --kind refund` shows it if it waits"
	}
	_, err = fmt.Fprintln(p.stdout, said)
	return err
}
