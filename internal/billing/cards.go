package billing

import (
	"context"
	"errors"

	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/telegram"
)

// Cards sells through a payment provider of Telegram's, by the provider token
// that @BotFather issues. Such payments do not renew and have no list in the
// Bot API; refunds are made in the provider's own cabinet.
type Cards struct {
	Telegram *telegram.Client
	Token    string // provider token
	Money    string // ISO 4217
}

// errByHand sends an operator to the provider's cabinet.
var errByHand = errors.New("billing: card payments are given back in the payment provider's own cabinet")

// Name implements Provider.
func (Cards) Name() string { return "cards" }

// Currency implements Provider.
func (p Cards) Currency() string { return p.Money }

// Renews implements Provider.
func (Cards) Renews() bool { return false }

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
	return queue.Refused{Err: errByHand, Permanent: true}
}

// SetRenewal implements Provider: there is nothing that renews.
func (Cards) SetRenewal(context.Context, int64, string, bool) error { return ErrNotSubscribed }

// Charges implements Provider.
func (Cards) Charges(context.Context, int, int) ([]Charge, bool, error) { return nil, false, ErrNoList }
