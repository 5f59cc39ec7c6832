package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/telegram"
)

// Invoice is what a provider turns into a link.
type Invoice struct {
	Payload  string
	Title    string
	About    string
	Amount   int64
	Currency string
	Days     int
}

// Charge is one line of a provider's own list.
type Charge struct {
	ID       string
	PersonID int64
	Payload  string
	Amount   int64
	At       time.Time
	Refund   bool
}

// Provider takes payments. Adding one is a file with these methods.
type Provider interface {
	// Name is stored with invoices and payments.
	Name() string
	// Currency is the provider's: XTR for Stars, else ISO 4217.
	Currency() string
	// Renews says whether a payment begins a subscription that renews by itself.
	Renews() bool
	// Check says in words for an operator why a plan cannot be sold here. currency
	// is the plans file's; empty where it names none.
	Check(currency string, p Plan) error
	// Refunds says whether Refund can give anything back; where not, an operator
	// does it at the provider and books it with Booked.
	Refunds() bool
	// Link makes the address of an invoice. It moves no money.
	Link(ctx context.Context, in Invoice) (string, error)
	// Refund gives a charge back; one that was given back before is Confirmed.
	Refund(ctx context.Context, personID int64, chargeID string) queue.Outcome
	// EndRenewal lets a subscription run out; one that is over already is no error.
	EndRenewal(ctx context.Context, personID int64, chargeID string) error
	// Charges lists movements from the oldest on; more is false on the last page.
	// A provider without such a list returns ErrNoList.
	Charges(ctx context.Context, offset, limit int) (page []Charge, more bool, err error)
}

// Stars sells in Telegram Stars.
type Stars struct{ Telegram *telegram.Client }

// Name implements Provider.
func (Stars) Name() string { return "stars" }

// Currency implements Provider.
func (Stars) Currency() string { return "XTR" }

// Renews implements Provider.
func (Stars) Renews() bool { return true }

// Check implements Provider.
func (Stars) Check(currency string, p Plan) error {
	switch {
	case currency != "" && currency != "XTR":
		return fmt.Errorf("\"currency\" is %q, but Stars are sold: leave it out, or set BILLING=cards", currency)
	case p.Price > maxStars:
		return fmt.Errorf("plan %q costs %d: want 1 to %d Stars", p.ID, p.Price, maxStars)
	case p.Days != subscriptionDays:
		return fmt.Errorf("plan %q lasts %d days: Telegram renews every %d days only", p.ID, p.Days, subscriptionDays)
	}
	return nil
}

// Refunds implements Provider.
func (Stars) Refunds() bool { return true }

// Link implements Provider: a subscription has exactly one price and no provider token.
func (p Stars) Link(ctx context.Context, in Invoice) (string, error) {
	link, out := p.Telegram.CreateInvoiceLink(ctx, &telegram.CreateInvoiceLinkParams{
		Title: in.Title, Description: in.About, Payload: in.Payload, Currency: in.Currency,
		Prices:             []telegram.LabeledPrice{{Label: in.Title, Amount: int(in.Amount)}},
		SubscriptionPeriod: in.Days * 24 * 60 * 60,
	})
	return link, telegram.AsError(out)
}

// Refund implements Provider.
func (p Stars) Refund(ctx context.Context, personID int64, chargeID string) queue.Outcome {
	out := p.Telegram.RefundStarPayment(ctx, &telegram.RefundStarPaymentParams{UserID: personID, TelegramPaymentChargeID: chargeID})
	return telegram.ToQueue(out, chargeID, nil)
}

// EndRenewal implements Provider.
func (p Stars) EndRenewal(ctx context.Context, personID int64, chargeID string) error {
	err := telegram.AsError(p.Telegram.EditUserStarSubscription(ctx, &telegram.EditUserStarSubscriptionParams{
		UserID: personID, TelegramPaymentChargeID: chargeID, IsCanceled: true,
	}))
	if telegram.RefusedAs(err, telegram.SubscriptionOver) {
		return nil
	}
	return err
}

// Charges implements Provider. The list is chronological, and a transaction's
// id is the charge id; a source is money that came in, a receiver money that
// went out.
func (p Stars) Charges(ctx context.Context, offset, limit int) ([]Charge, bool, error) {
	list, out := p.Telegram.GetStarTransactions(ctx, &telegram.GetStarTransactionsParams{Offset: offset, Limit: limit})
	if err := telegram.AsError(out); err != nil {
		return nil, false, err
	}
	if list == nil {
		return nil, false, nil
	}
	var page []Charge
	for _, t := range list.Transactions {
		c := Charge{ID: t.ID, Amount: int64(t.Amount), At: time.Unix(int64(t.Date), 0)}
		partner := t.Source
		if partner == nil {
			partner, c.Refund = t.Receiver, true
		}
		if partner == nil || partner.User == nil {
			continue // with Fragment, advertising, other bots: no person's
		}
		c.PersonID, c.Payload = partner.User.User.ID, partner.User.InvoicePayload
		page = append(page, c)
	}
	return page, len(list.Transactions) == limit, nil
}
