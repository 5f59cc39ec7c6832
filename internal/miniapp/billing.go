package miniapp

import (
	"context"
	"net/http"
	"time"
)

// Billing is what the plan's tab asks for. An error that is meant for people is a *desk.Error.
type Billing interface {
	// View says which plan a person has, what it allows and what was paid.
	View(ctx context.Context, person int64) (BillingView, error)
	// Checkout returns the link of an invoice for a plan.
	Checkout(ctx context.Context, person int64, plan string) (string, error)
	// Cancel ends the renewal; the plan lasts until it was paid for. False when it was ended before.
	Cancel(ctx context.Context, person int64) (bool, error)
}

// BillingView is a person's plan.
type BillingView struct {
	Enabled  bool      `json:"enabled"` // false: nothing is sold here and nothing is limited by a plan
	Plan     string    `json:"plan"`    // id; "free" without one
	Title    string    `json:"title"`   // in the person's language; empty where nothing is sold
	Until    time.Time `json:"until,omitzero"`
	Renews   bool      `json:"renews"`
	Trial    bool      `json:"trial"` // nothing was paid for it
	Quotas   []Quota   `json:"quotas"`
	Plans    []Plan    `json:"plans"`
	Payments []Payment `json:"payments"` // the newest first
}

// Quota is how much of something is used; Limit 0 is unlimited.
type Quota struct {
	Code  string `json:"code"` // channels, sources, drafts, model_drafts
	Used  int    `json:"used"`
	Limit int    `json:"limit"`
}

// Plan is something on sale.
type Plan struct {
	ID     string         `json:"id"`
	Title  string         `json:"title"` // in the person's language
	Price  string         `json:"price"` // in words: "250 ⭐", "4.99 EUR"
	Days   int            `json:"days"`
	Limits map[string]int `json:"limits"`
}

// Payment is one payment or refund.
type Payment struct {
	At    time.Time `json:"at"`
	Price string    `json:"price"` // in words
	Plan  string    `json:"plan"`  // its title
	State string    `json:"state"` // paid, refunded
}

func (s *Server) billing(c *call) (reply, error) {
	if s.cfg.Billing == nil {
		return ok(BillingView{Plan: "free", Quotas: []Quota{}, Plans: []Plan{}, Payments: []Payment{}}), nil
	}
	v, err := s.cfg.Billing.View(c.Context(), c.by)
	v.Quotas, v.Plans, v.Payments = list(v.Quotas), list(v.Plans), list(v.Payments)
	return ok(v), err
}

func billingOff() problem {
	return problem{Status: http.StatusConflict, Code: "billing.off", Title: "Nothing is sold here.", Detail: "Everything is free: there is nothing to buy or to end."}
}

func (s *Server) checkout(c *call) (reply, error) {
	in, err := decode[struct {
		Plan string `json:"plan"`
	}](c)
	if err != nil {
		return reply{}, err
	}
	if s.cfg.Billing == nil {
		return reply{}, billingOff()
	}
	link, err := s.cfg.Billing.Checkout(c.Context(), c.by, in.Plan)
	return ok(map[string]string{"link": link}), err
}

func (s *Server) cancelPlan(c *call) (reply, error) {
	if s.cfg.Billing == nil {
		return reply{}, billingOff()
	}
	changed, err := s.cfg.Billing.Cancel(c.Context(), c.by)
	return ok(map[string]bool{"changed": changed}), err
}
