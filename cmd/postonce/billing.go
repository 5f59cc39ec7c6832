package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/app"
	"github.com/postonce/postonce/internal/app/config"
	"github.com/postonce/postonce/internal/billing"
)

const billingUsage = "want `postonce billing findings`, `settle NUMBER --by NAME [--note TEXT]`, `payments PERSON`, `refunded CHARGE --by NAME` or `reconcile`"

// billing is what an operator does about payments beside `report` and `refund`.
func (p *program) billing(ctx context.Context, args []string) error {
	fs := p.flags("billing")
	asJSON := fs.Bool("json", false, "print JSON")
	by := fs.String("by", account(), "who says so")
	note := fs.String("note", "", "what was found")
	rest, err := parse(fs, args)
	if err != nil {
		return err
	}
	cfg, err := config.Load(p.environ)
	if err != nil {
		return err
	}
	if len(rest) == 0 || len(rest) > 2 {
		return usagef("%s", billingUsage)
	}
	verb, about := rest[0], strings.Join(rest[1:], "")
	switch {
	case verb == "findings" && about == "":
		return p.findings(ctx, cfg, *asJSON)
	case verb == "reconcile" && about == "":
		if err := app.LookAtPayments(ctx, cfg); err != nil {
			return err
		}
		_, err := fmt.Fprintln(p.stdout, "asked for: the running bot compares with the provider's list now; `postonce report` shows what came of it")
		return err
	case verb == "payments" && about != "":
		return p.payments(ctx, cfg, about, *asJSON)
	case (verb == "settle" || verb == "refunded") && about != "":
		if *by == "" {
			return usagef("say who decides: --by NAME")
		}
		if verb == "settle" {
			return p.settleFinding(ctx, cfg, about, *by, *note, *asJSON)
		}
		return p.refunded(ctx, cfg, about, *by)
	}
	return usagef("%s", billingUsage)
}

func (p *program) findings(ctx context.Context, cfg config.Config, asJSON bool) error {
	_, list, err := app.Books(ctx, cfg)
	if err != nil {
		return err
	}
	if asJSON {
		if list == nil {
			list = []billing.Finding{}
		}
		return printJSON(p.stdout, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(p.stdout, "every payment matches")
	}
	printFindings(p.stdout, list)
	return nil
}

func (p *program) settleFinding(ctx context.Context, cfg config.Config, number, by, note string, asJSON bool) error {
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return usagef("settle wants the number of a finding; got %q", number)
	}
	s, err := app.SettleFinding(ctx, cfg, id, by, note)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(p.stdout, s)
	}
	said := "settled"
	if !s.Fresh {
		said = fmt.Sprintf("was settled by %s at %s", s.By, s.At.UTC().Format(time.RFC3339))
	}
	_, err = fmt.Fprintf(p.stdout, "finding %d (%s of %s) %s\n", id, s.Finding.Finding, s.Finding.ChargeID, said)
	return err
}

func (p *program) payments(ctx context.Context, cfg config.Config, person string, asJSON bool) error {
	id, err := strconv.ParseInt(person, 10, 64)
	if err != nil {
		return usagef("payments wants a person's Telegram id; got %q", person)
	}
	list, err := app.PaymentsOf(ctx, cfg, id)
	if err != nil {
		return err
	}
	if asJSON {
		if list == nil {
			list = []billing.Receipt{}
		}
		return printJSON(p.stdout, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(p.stdout, "nothing was paid")
	}
	for _, r := range list {
		state := "paid"
		if r.Refunded {
			state = "given back"
		}
		fmt.Fprintf(p.stdout, "%s  %s  %s  %s  %s\n", r.At.UTC().Format(time.RFC3339), r.Plan, billing.Money(r.Amount, r.Currency), state, r.ChargeID)
	}
	return nil
}

func (p *program) refunded(ctx context.Context, cfg config.Config, charge, by string) error {
	fresh, err := app.BookRefund(ctx, cfg, charge, by)
	if err != nil {
		return err
	}
	said := "booked; the person hears of it"
	if !fresh {
		said = "was booked before"
	}
	_, err = fmt.Fprintln(p.stdout, said)
	return err
}
