package billing

import (
	"time"

	"github.com/postonce/postonce/internal/telegram"
)

// FromTelegram reads a successful_payment of a person. Telegram gives no time
// of its own: the payment counts from now, and lasts as long as it says.
func FromTelegram(person int64, p *telegram.SuccessfulPayment, now time.Time) Payment {
	out := Payment{
		ChargeID: p.TelegramPaymentChargeID, PersonID: person, Payload: p.InvoicePayload, Currency: p.Currency,
		Amount: int64(p.TotalAmount), Recurring: p.IsRecurring && !p.IsFirstRecurring, PaidAt: now, Source: "update",
	}
	if p.SubscriptionExpirationDate > 0 {
		out.Until = time.Unix(int64(p.SubscriptionExpirationDate), 0)
	}
	return out
}
