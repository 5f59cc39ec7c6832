package billing

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
)

// The meters that plans limit. Channels and sources are what exists, drafts and
// model drafts are counted a calendar month (UTC).
const (
	MeterChannels    = "channels"
	MeterSources     = "sources"
	MeterDrafts      = "drafts"
	MeterModelDrafts = "model_drafts"
)

// FreePlan is the id of the plan without a payment.
const FreePlan = "free"

const (
	// subscriptionDays is the one period in which Telegram renews a subscription in
	// Stars (createInvoiceLink, subscription_period).
	subscriptionDays = 30
	// maxStars is Telegram's bound for the price of a subscription, in Stars.
	maxStars = 10000
)

// Plan is what a person may buy. A limit of 0 is none.
type Plan struct {
	ID     string            `json:"id"`
	Title  string            `json:"title"`
	Titles map[string]string `json:"titles,omitempty"` // per language; Title is the fallback
	Price  int64             `json:"price"`            // in the provider's smallest unit: Stars, cents
	Days   int               `json:"days"`             // how long a payment lasts; 30 for Stars: Telegram knows no other period

	Channels    int64 `json:"channels"`
	Sources     int64 `json:"sources"`
	Drafts      int64 `json:"drafts_month"`
	ModelDrafts int64 `json:"model_drafts_month"`
}

// Limit is what the plan allows of a meter; 0: no limit.
func (p Plan) Limit(meter string) int64 {
	switch meter {
	case MeterChannels:
		return p.Channels
	case MeterSources:
		return p.Sources
	case MeterDrafts:
		return p.Drafts
	case MeterModelDrafts:
		return p.ModelDrafts
	}
	return 0
}

// Name is the plan's title in a language.
func (p Plan) Name(language string) string {
	if t := p.Titles[language]; t != "" {
		return t
	}
	return p.Title
}

// Catalogue is the file that BILLING_PLANS names:
//
//	{"currency": "EUR", "trial_days": 7, "trial_plan": "pro",
//	 "free":  {"channels": 1, "sources": 3, "drafts_month": 30},
//	 "plans": [{"id": "pro", "title": "Pro", "price": 499, "days": 30, "channels": 3, "sources": 50}]}
type Catalogue struct {
	// Currency is ISO 4217, for cards; Stars name none.
	Currency  string `json:"currency,omitempty"`
	TrialDays int    `json:"trial_days"`
	TrialPlan string `json:"trial_plan"`
	Free      Plan   `json:"free"`
	Plans     []Plan `json:"plans"`
}

// LoadCatalogue reads and checks the file; its errors name the mend.
func LoadCatalogue(path string) (Catalogue, error) {
	f, err := os.Open(path)
	if err != nil {
		return Catalogue{}, err
	}
	defer func() { _ = f.Close() }()
	var c Catalogue
	dec := json.NewDecoder(f)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return Catalogue{}, fmt.Errorf("the plans cannot be read: %w", err)
	}
	c.Free.ID, c.Free.Price = FreePlan, 0
	if c.Free.Title == "" {
		c.Free.Title = "Free"
	}
	return c, c.check()
}

func (c Catalogue) check() error {
	if len(c.Plans) == 0 {
		return errors.New("the plans name none on sale: add one to \"plans\"")
	}
	seen := map[string]bool{FreePlan: true}
	for i, p := range c.Plans {
		switch {
		case !regexp.MustCompile(`^[a-z0-9_-]{1,32}$`).MatchString(p.ID):
			return fmt.Errorf("plan %d: its id is %q: want a-z, 0-9, - and _", i+1, p.ID)
		case seen[p.ID]:
			return fmt.Errorf("plan %q is named twice", p.ID)
		case p.Title == "":
			return fmt.Errorf("plan %q has no title", p.ID)
		case p.Price < 1:
			return fmt.Errorf("plan %q costs %d: want 1 or more", p.ID, p.Price)
		case min(p.Channels, p.Sources, p.Drafts, p.ModelDrafts) < 0:
			return fmt.Errorf("plan %q has a negative limit: 0 means none", p.ID)
		}
		seen[p.ID] = true
	}
	if c.TrialDays < 0 || c.TrialDays > 365 {
		return fmt.Errorf("trial_days is %d: want 0 to 365", c.TrialDays)
	}
	if c.TrialDays > 0 && (c.TrialPlan == FreePlan || !seen[c.TrialPlan]) {
		return fmt.Errorf("trial_plan is %q, which is no plan on sale", c.TrialPlan)
	}
	return nil
}

// SoldBy says why a provider cannot sell these plans; nil: it can.
func (c Catalogue) SoldBy(p Provider) error {
	for _, plan := range c.Plans {
		if err := p.Check(c.Currency, plan); err != nil {
			return err
		}
	}
	return nil
}

// find returns a plan by id; the free one for an id that is not on sale any more.
func (c Catalogue) find(id string) (Plan, bool) {
	if i := slices.IndexFunc(c.Plans, func(p Plan) bool { return p.ID == id }); i >= 0 {
		return c.Plans[i], true
	}
	return c.Free, id == FreePlan
}
