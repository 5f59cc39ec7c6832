package chat

import (
	"context"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
)

// Billing is what the chat needs of the shop. app makes it out of billing; nil
// where nothing is sold.
type Billing interface {
	// Account is the person's plan and what is on sale, in his language.
	Account(ctx context.Context, person int64, language string) (Account, error)
	// Checkout is the link of an invoice for a plan.
	Checkout(ctx context.Context, person int64, plan, language string) (string, error)
	// Cancel ends the renewal; false when it had ended before.
	Cancel(ctx context.Context, person int64) (bool, error)
	// Paid credits a payment in the transaction that completes its update.
	Paid(ctx context.Context, tx pgx.Tx, person int64, p *models.SuccessfulPayment) error
	// Refunded books that a payment was given back, whoever did it.
	Refunded(ctx context.Context, tx pgx.Tx, p *models.RefundedPayment) error
	// Receipts are the person's newest payments, for who has trouble with one.
	Receipts(ctx context.Context, person int64, language string) ([]Receipt, error)
	// Renews says whether what is on sale renews by itself.
	Renews() bool
	// Subscription records that a subscription renews, was ended, or was not
	// renewed, in the transaction that completes its update.
	Subscription(ctx context.Context, tx pgx.Tx, s *models.BotSubscriptionUpdated) error
}

// Account is a person's standing in the shop.
type Account struct {
	ID     string    // of the plan
	Plan   string    // its title
	Until  time.Time // it lasts until then; zero: free
	Renews bool
	Trial  bool // nothing was paid for it
	Usage  []Usage
	Offers []Offer
}

// Usage is one meter: its code, what was used, and the limit (0: none).
type Usage struct {
	Meter       string
	Used, Limit int64
}

// Offer is a plan on sale; Price is in words ("250 ⭐", "4.99 EUR"), for Days.
type Offer struct {
	ID, Title, Price string
	Days             int
	Limits           []Usage // Used is 0
}

// Receipt is one payment; Charge is its name at Telegram.
type Receipt struct {
	Charge, Plan, Price string
	At                  time.Time
	Refunded            bool
}

// subscribe answers /subscribe.
func (c *Chat) subscribe(ctx context.Context, t *turn) error {
	if !c.desk.Admitted(t.person) {
		return &desk.Error{Code: desk.CodeNoAccess}
	}
	if c.billing == nil {
		return t.say(ctx, "billing.off")
	}
	a, err := c.billing.Account(ctx, t.by(), t.Language)
	if err != nil {
		return err
	}
	lines := []texts.HTML{t.HTML("billing.plan", texts.Args{"Plan": a.Plan})}
	if !a.Until.IsZero() {
		code := "billing.ends"
		switch {
		case a.Renews:
			code = "billing.renews"
		case a.Trial:
			code = "billing.trial"
		}
		lines = append(lines, t.HTML(code, texts.Args{"When": t.When(a.Until, t.now, time.UTC)}))
	}
	for _, u := range a.Usage {
		args := texts.Args{"Meter": t.Plain("meter." + u.Meter), "Used": u.Used, "Limit": u.Limit}
		if u.Limit > 0 {
			lines = append(lines, t.HTML("usage."+u.Meter, args))
		} else {
			lines = append(lines, t.HTML("billing.usage", args))
		}
	}
	m := message{}
	for _, o := range a.Offers {
		limits := make([]string, len(o.Limits))
		for i, l := range o.Limits {
			limit := t.Plain("cap.none")
			if l.Limit > 0 {
				limit = fmtInt(int(l.Limit))
			}
			limits[i] = strings.ToLower(t.Plain("meter."+l.Meter)) + " " + limit
		}
		args := texts.Args{"Title": o.Title, "Price": o.Price, "Days": t.Plain("billing.days", texts.Args{"Count": o.Days}), "Limits": strings.Join(limits, ", ")}
		lines = append(lines, t.HTML("billing.offered", args))
		if o.ID == a.ID && a.Renews {
			continue // nobody pays twice for what renews by itself
		}
		m.rows = append(m.rows, row(button{text: t.Plain("billing.offer", args), data: data("by", o.ID)}))
	}
	m.text = joinHTML("\n", lines...)
	if a.Renews {
		m.rows = append(m.rows, row(button{text: t.Plain("billing.cancel"), data: data("bx")}))
	}
	return t.show(ctx, m)
}

// buy makes an invoice's link. Tap: by:<plan>.
func (c *Chat) buy(ctx context.Context, t *turn, d tapped) error {
	if c.billing == nil {
		return t.toast(ctx, "tap.unknown")
	}
	link, err := c.billing.Checkout(ctx, t.by(), d.text(0), t.Language)
	if err != nil {
		return err
	}
	code := "billing.invoice"
	if !c.billing.Renews() {
		code = "billing.invoice_once"
	}
	return t.show(ctx, message{text: t.HTML(code), rows: [][]button{row(button{text: t.Plain("billing.pay"), url: link})}})
}

// renewalEnded ends the renewal. Tap: bx.
func (c *Chat) renewalEnded(ctx context.Context, t *turn, _ tapped) error {
	if c.billing == nil {
		return t.toast(ctx, "tap.unknown")
	}
	if _, err := c.billing.Cancel(ctx, t.by()); err != nil {
		return err
	}
	if err := t.toast(ctx, "billing.cancelled"); err != nil {
		return err
	}
	return c.subscribe(ctx, t)
}

const receiptsShown = 3

// paySupport answers /paysupport, which Telegram demands of every bot that
// sells: with the payments by the names that an operator finds them by.
func (c *Chat) paySupport(ctx context.Context, t *turn) error {
	if c.billing == nil {
		return t.say(ctx, "billing.off")
	}
	list, err := c.billing.Receipts(ctx, t.by(), t.Language)
	if err != nil {
		return err
	}
	lines := []texts.HTML{t.HTML("billing.support")}
	for _, r := range first(list, receiptsShown) {
		code := "billing.receipt"
		if r.Refunded {
			code = "billing.receipt_refunded"
		}
		lines = append(lines, t.HTML(code, texts.Args{"When": t.When(r.At, t.now, time.UTC), "Plan": r.Plan, "Price": r.Price, "Charge": r.Charge}))
	}
	return t.show(ctx, message{text: joinHTML("\n", lines...)})
}

// terms answers /terms.
func (c *Chat) terms(ctx context.Context, t *turn) error {
	switch {
	case c.billing == nil:
		return t.say(ctx, "billing.terms_free")
	case c.billing.Renews():
		return t.say(ctx, "billing.terms")
	}
	return t.say(ctx, "billing.terms_once")
}
