package app

import (
	"context"
	"errors"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/billing"
	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/chat"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/miniapp"
	"github.com/postonce/postonce/internal/telegram"
)

// usePlan counts n of a meter against the plan of a channel's payer; false when
// the plan does not reach that far.
func (p *parts) usePlan(ctx context.Context, tx pgx.Tx, channelID int64, meter string, n int64) (bool, error) {
	if !p.billing.Enabled() {
		return true, nil
	}
	payer, err := channels.Payer(ctx, tx, channelID)
	if err != nil {
		return false, err
	}
	if n < 0 {
		return true, p.billing.GiveBack(ctx, tx, payer, meter, -n)
	}
	err = p.billing.Use(ctx, tx, payer, meter, n)
	if _, full := errors.AsType[*billing.LimitError](err); full {
		return false, nil
	}
	return err == nil, err
}

// mayLink begins a person's trial with his first channel, and counts his
// channels against his plan.
func (p *parts) mayLink(ctx context.Context, tx pgx.Tx, personID int64) error {
	if _, err := p.billing.Trial(ctx, tx, personID); err != nil {
		return err
	}
	return p.billing.Allow(ctx, tx, personID, billing.MeterChannels, func(ctx context.Context, tx pgx.Tx) (int64, error) {
		n, _, err := channels.Holdings(ctx, tx, personID)
		return n, err
	})
}

// planChanged lets rest what exceeds a person's plan, the newest first, wakes
// what fits again, and says so. Nothing is deleted.
func (p *parts) planChanged(ctx context.Context, tx pgx.Tx, personID int64, plan billing.Plan) error {
	fit, err := p.channels.FitPlan(ctx, tx, personID, plan.Channels, plan.Sources)
	if err != nil {
		return err
	}
	for _, id := range fit.Woken {
		if err := p.publishing.ResumeTx(ctx, tx, id); err != nil {
			return err
		}
	}
	return notifyFit(ctx, tx, personID, fit)
}

// shop is billing in the chat's words.
type shop struct{ parts *parts }

// Account implements chat.Billing.
func (s shop) Account(ctx context.Context, person int64, language string) (chat.Account, error) {
	b, pool := s.parts.billing, s.parts.pool
	st, err := b.StandingOf(ctx, pool, person)
	if err != nil {
		return chat.Account{}, err
	}
	meters, err := b.Meters(ctx, pool, person, st.Plan)
	if err != nil {
		return chat.Account{}, err
	}
	out := chat.Account{ID: st.Plan.ID, Plan: st.Plan.Name(language), Until: st.Until(), Renews: st.Renews, Trial: st.Trial()}
	for _, m := range meters {
		out.Usage = append(out.Usage, chat.Usage{Meter: m.Code, Used: m.Used, Limit: m.Limit})
	}
	for _, plan := range b.OnSale() {
		out.Offers = append(out.Offers, chat.Offer{ID: plan.ID, Title: plan.Name(language), Price: b.Price(plan), Days: plan.Days, Limits: []chat.Usage{
			{Meter: billing.MeterChannels, Limit: plan.Channels},
			{Meter: billing.MeterSources, Limit: plan.Sources},
			{Meter: billing.MeterDrafts, Limit: plan.Drafts},
			{Meter: billing.MeterModelDrafts, Limit: plan.ModelDrafts},
		}})
	}
	return out, nil
}

// Checkout implements chat.Billing.
func (s shop) Checkout(ctx context.Context, person int64, plan, language string) (string, error) {
	return s.parts.checkout(ctx, person, plan, language)
}

// checkout makes an invoice in the person's language.
func (p *parts) checkout(ctx context.Context, person int64, plan, language string) (string, error) {
	code := "billing.about"
	if !p.billing.Renewing() {
		code = "billing.about_once"
	}
	days := func(n int) string {
		return p.chat.Text(language, code, map[string]any{"Days": p.chat.Text(language, "billing.days", map[string]any{"Count": n})})
	}
	link, err := p.billing.Checkout(ctx, person, plan, language, days)
	if errors.Is(err, billing.ErrNoPlan) {
		err = &desk.Error{Code: "error.no_plan", Cause: err}
	}
	return link, err
}

// Receipts implements chat.Billing.
func (s shop) Receipts(ctx context.Context, person int64, language string) ([]chat.Receipt, error) {
	list, err := billing.Receipts(ctx, s.parts.pool, person, receiptsShown)
	out := make([]chat.Receipt, len(list))
	for i, r := range list {
		out[i] = chat.Receipt{
			Charge: r.ChargeID, Plan: s.parts.billing.Title(r.Plan, language), Price: billing.Money(r.Amount, r.Currency), At: r.At, Refunded: r.Refunded,
		}
	}
	return out, err
}

// Renews implements chat.Billing.
func (s shop) Renews() bool { return s.parts.billing.Renewing() }

// Refunded implements chat.Billing.
func (s shop) Refunded(ctx context.Context, tx pgx.Tx, p *models.RefundedPayment) error {
	_, err := s.parts.billing.Refunded(ctx, tx, p.TelegramPaymentChargeID)
	return err
}

// Cancel implements chat.Billing.
func (s shop) Cancel(ctx context.Context, person int64) (bool, error) {
	return s.parts.billing.Cancel(ctx, person)
}

// Paid implements chat.Billing.
func (s shop) Paid(ctx context.Context, tx pgx.Tx, person int64, p *models.SuccessfulPayment) error {
	_, err := s.parts.billing.Credit(ctx, tx, billing.FromTelegram(person, p, time.Now()))
	return err
}

// Subscription implements chat.Billing.
func (s shop) Subscription(ctx context.Context, tx pgx.Tx, u *models.BotSubscriptionUpdated) error {
	_, err := s.parts.billing.Subscription(ctx, tx, u.User.ID, u.InvoicePayload, billing.SubscriptionState(u.State))
	return err
}

// preCheckout decides about a payment ahead of every queue.
func (p *parts) preCheckout(ctx context.Context, q *telegram.PreCheckoutQuery) (string, error) {
	if q.From == nil {
		return p.chat.Text("", billing.RefusedUnknown), nil
	}
	if !p.billing.Enabled() {
		return p.chat.Text(q.From.LanguageCode, "billing.checkout.off"), nil
	}
	code, err := p.billing.PreCheckout(ctx, q.From.ID, q.InvoicePayload, q.Currency, int64(q.TotalAmount))
	if err != nil || code == "" {
		return "", err
	}
	language := q.From.LanguageCode
	if known, err := channels.Person(ctx, p.pool, q.From.ID); err == nil {
		language = known.Language
	}
	return p.chat.Text(language, code), nil
}

// counter is billing in the Mini App's words.
type counter struct{ parts *parts }

const receiptsShown = 20

// View implements miniapp.Billing.
func (c counter) View(ctx context.Context, person int64) (miniapp.BillingView, error) {
	b, pool := c.parts.billing, c.parts.pool
	st, err := b.StandingOf(ctx, pool, person)
	if err != nil {
		return miniapp.BillingView{}, err
	}
	language := c.language(ctx, person)
	v := miniapp.BillingView{Enabled: true, Plan: st.Plan.ID, Title: st.Plan.Name(language), Until: st.Until(), Renews: st.Renews, Trial: st.Trial()}
	meters, err := b.Meters(ctx, pool, person, st.Plan)
	if err != nil {
		return v, err
	}
	for _, m := range meters {
		v.Quotas = append(v.Quotas, miniapp.Quota{Code: m.Code, Used: int(m.Used), Limit: int(m.Limit)})
	}
	for _, plan := range b.OnSale() {
		v.Plans = append(v.Plans, miniapp.Plan{ID: plan.ID, Title: plan.Name(language), Price: b.Price(plan), Days: plan.Days, Limits: map[string]int{
			billing.MeterChannels: int(plan.Channels), billing.MeterSources: int(plan.Sources),
			billing.MeterDrafts: int(plan.Drafts), billing.MeterModelDrafts: int(plan.ModelDrafts),
		}})
	}
	receipts, err := billing.Receipts(ctx, pool, person, receiptsShown)
	for _, r := range receipts {
		state := "paid"
		if r.Refunded {
			state = "refunded"
		}
		v.Payments = append(v.Payments, miniapp.Payment{At: r.At, Price: billing.Money(r.Amount, r.Currency), Plan: b.Title(r.Plan, language), State: state})
	}
	return v, err
}

func (c counter) language(ctx context.Context, person int64) string {
	known, err := channels.Person(ctx, c.parts.pool, person)
	if err != nil {
		return ""
	}
	return known.Language
}

// Checkout implements miniapp.Billing.
func (c counter) Checkout(ctx context.Context, person int64, plan string) (string, error) {
	return c.parts.checkout(ctx, person, plan, c.language(ctx, person))
}

// Cancel implements miniapp.Billing.
func (c counter) Cancel(ctx context.Context, person int64) (bool, error) {
	return c.parts.billing.Cancel(ctx, person)
}
