package billing

import (
	"context"
	"errors"
	"fmt"

	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/telegram"
)

// Cards sells through a payment provider of Telegram's, by the provider token
// that @BotFather issues (core.telegram.org/bots/payments). A payment lasts as
// long as its plan says and renews nothing; taken again early, it adds to what
// was paid for. The Bot API has neither a list of such payments nor a refund.
type Cards struct {
	Telegram *telegram.Client
	Token    string // provider token
	Money    string // ISO 4217, the plans file's
}

// ErrByHand means that a charge can be given back only at its provider.
var ErrByHand = errors.New("billing: card payments are given back in the payment provider's own dashboard")

// maxCardDays bounds how long one payment by card lasts.
const maxCardDays = 366

// maxCardAmount keeps a typing error from being sold. Telegram's own bounds follow
// the exchange rate (about 1 to 10,000 US dollars); it refuses what exceeds them.
const maxCardAmount = 99_999_999_99

// Name implements Provider.
func (Cards) Name() string { return "cards" }

// Currency implements Provider.
func (p Cards) Currency() string { return p.Money }

// Renews implements Provider.
func (Cards) Renews() bool { return false }

// Refunds implements Provider.
func (Cards) Refunds() bool { return false }

// Check implements Provider.
func (Cards) Check(currency string, p Plan) error {
	_, known := minorDigits(currency)
	switch {
	case currency == "":
		return errors.New("\"currency\" is missing: BILLING=cards wants one such as \"EUR\", and prices in its smallest unit (499 is 4.99 EUR)")
	case !known:
		return fmt.Errorf("\"currency\" is %q: want one that Telegram's payment providers take, such as \"EUR\" or \"USD\"", currency)
	case p.Price > maxCardAmount:
		return fmt.Errorf("plan %q costs %s: that is more than anybody pays by card", p.ID, Money(p.Price, currency))
	case p.Days < 1 || p.Days > maxCardDays:
		return fmt.Errorf("plan %q lasts %d days: want 1 to %d", p.ID, p.Days, maxCardDays)
	}
	return nil
}

// Link implements Provider.
func (p Cards) Link(ctx context.Context, in Invoice) (string, error) {
	link, out := p.Telegram.CreateInvoiceLink(ctx, &telegram.CreateInvoiceLinkParams{
		Title: in.Title, Description: in.About, Payload: in.Payload, Currency: in.Currency,
		ProviderToken: p.Token, Prices: []telegram.LabeledPrice{{Label: in.Title, Amount: int(in.Amount)}},
	})
	return link, telegram.AsError(out)
}

// Refund implements Provider: it never reaches anybody, so it certainly did not happen.
func (Cards) Refund(context.Context, int64, string) queue.Outcome {
	return queue.Refused{Err: ErrByHand, Permanent: true}
}

// EndRenewal implements Provider: there is nothing that renews.
func (Cards) EndRenewal(context.Context, int64, string) error { return ErrNotSubscribed }

// Charges implements Provider.
func (Cards) Charges(context.Context, int, int) ([]Charge, bool, error) { return nil, false, ErrNoList }
