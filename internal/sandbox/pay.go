package sandbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// callbackAge is how long a tap can be answered.
const callbackAge = 15 * time.Minute

func (s *Sandbox) answerCallbackQuery(a args) (any, *apiError) {
	const tooOld = "query is too old and response timeout expired or query ID is invalid"
	cb := s.w.Callbacks[a.str("callback_query_id")]
	if cb == nil || cb.Answered || s.unix()-cb.Date > int64(callbackAge.Seconds()) {
		return nil, badRequest(tooOld)
	}
	if len([]rune(a.str("text"))) > 200 {
		return nil, badRequest("MESSAGE_TOO_LONG")
	}
	cb.Answered, cb.Text, cb.Alert, cb.URL = true, a.str("text"), a.boolean("show_alert"), a.str("url")
	s.touch(cb.ChatID)
	return true, nil
}

const stars = "XTR"

// readInvoice checks what Telegram demands. Stars: no provider token, exactly
// one price, a subscription of 30 days. Another currency: a provider's token
// and no subscription. At most 128 bytes of payload.
func readInvoice(a args) (*invoice, *apiError) {
	for _, f := range []string{"title", "description", "payload", "currency"} {
		if a.str(f) == "" {
			return nil, badRequest("parameter \"" + f + "\" is required")
		}
	}
	if a.str("prices") == "" {
		return nil, badRequest("can't parse prices JSON object")
	}
	var prices []struct {
		Label  string
		Amount int
	}
	if err := json.Unmarshal([]byte(a.str("prices")), &prices); err != nil {
		return nil, badRequest("can't parse prices JSON object")
	}
	currency, sum := a.str("currency"), 0
	for _, p := range prices {
		if p.Label == "" {
			return nil, badRequest("can't parse labeled price: LabeledPrice label must be non-empty")
		}
		sum += p.Amount
	}
	period := int(a.integer("subscription_period", 0, 0, 1<<31))
	switch {
	case len(a.str("payload")) > 128:
		return nil, badRequest("INVOICE_PAYLOAD_INVALID")
	case len([]rune(a.str("title"))) > 32:
		return nil, badRequest("TITLE_INVALID")
	case len([]rune(a.str("description"))) > 255:
		return nil, badRequest("DESCRIPTION_INVALID")
	case len(currency) != 3:
		return nil, badRequest("CURRENCY_INVALID")
	case (currency == stars) != (a.str("provider_token") == ""), currency != stars && strings.Count(a.str("provider_token"), ":") < 2:
		return nil, badRequest("PAYMENT_PROVIDER_INVALID")
	case len(prices) == 0:
		return nil, badRequest("there must be at least one price")
	case currency == stars && (len(prices) != 1 || sum <= 0):
		return nil, badRequest("STARS_INVOICE_INVALID")
	case sum <= 0:
		return nil, badRequest("CURRENCY_TOTAL_AMOUNT_INVALID")
	case period != 0 && (currency != stars || period != 2592000):
		return nil, badRequest("SUBSCRIPTION_PERIOD_INVALID")
	}
	return &invoice{Title: a.str("title"), Description: a.str("description"), Payload: a.str("payload"), Currency: currency, Amount: sum, Period: period}, nil
}

// price writes a sum as a client does.
func (i *invoice) price() string {
	if i.Currency == stars {
		return "⭐️" + itoa(i.Amount)
	}
	return fmt.Sprintf("%d.%02d %s", i.Amount/100, i.Amount%100, i.Currency)
}

func (s *Sandbox) sendInvoice(a args) (any, *apiError) {
	c, e := s.target(a)
	if e != nil {
		return nil, e
	}
	inv, e := readInvoice(a)
	if e != nil {
		return nil, e
	}
	m, mk, e := s.draft(a, c)
	if e != nil {
		return nil, e
	}
	if m.Markup == nil {
		m.Markup = raw(obj{"inline_keyboard": [][]obj{{{"text": "Pay " + inv.price(), "pay": true}}}})
	}
	m.Invoice = inv
	return s.post(c, m, mk), nil
}

func (s *Sandbox) createInvoiceLink(a args) (any, *apiError) {
	inv, e := readInvoice(a)
	if e != nil {
		return nil, e
	}
	slug := randomID(8)
	s.w.Links[slug] = inv
	s.dirty = true
	return "https://t.me/$" + slug, nil
}

// startCheckout is a person's tap on Pay: the bot has ten seconds to agree.
func (s *Sandbox) startCheckout(p *person, inv invoice, chatID int64, msg int) *checkout {
	co := &checkout{ID: strconv.FormatInt(p.ID, 10) + randomID(5), Person: p.ID, Invoice: inv, ChatID: chatID, Message: msg, Date: s.unix()}
	s.w.Checkouts[co.ID], s.dirty = co, true
	s.enqueue("pre_checkout_query", p.ID, obj{
		"id": co.ID, "from": s.showUser(p.ID), "currency": inv.Currency, "total_amount": inv.Amount, "invoice_payload": inv.Payload,
	})
	return co
}

func (s *Sandbox) answerPreCheckoutQuery(a args) (any, *apiError) {
	co := s.w.Checkouts[a.str("pre_checkout_query_id")]
	if co == nil || co.Done || s.unix()-co.Date > 10 {
		return nil, badRequest("query is too old and response timeout expired or query ID is invalid")
	}
	if a.str("ok") == "" {
		return nil, badRequest("parameter \"ok\" is required")
	}
	ok := a.boolean("ok")
	if !ok && a.str("error_message") == "" {
		return nil, badRequest("error_message is required when ok is False")
	}
	co.Done, co.OK, co.Error = true, ok, a.str("error_message")
	s.touch(co.Person)
	if ok {
		s.settle(co)
	}
	return true, nil
}

// settle takes the money and tells the bot.
func (s *Sandbox) settle(co *checkout) {
	p := s.personByID(co.Person)
	if p == nil {
		return
	}
	pay := &payment{Charge: "stx" + randomID(16), Person: p.ID, Invoice: co.Invoice, Date: s.unix()}
	if co.Invoice.Currency == stars {
		p.Stars -= co.Invoice.Amount
	} else {
		pay.Charge, pay.Provider = strconv.FormatInt(p.ID, 10)+"_"+randomID(16), "card"+randomID(12)
	}
	if co.Invoice.Period > 0 {
		pay.Until = pay.Date + int64(co.Invoice.Period)
	}
	s.w.Payments = append(s.w.Payments, pay)
	s.announce(pay, true)
}

// announce writes the service message of a payment and tells the bot, unless the
// update was ordered to be lost.
func (s *Sandbox) announce(pay *payment, told bool) {
	body := obj{
		"currency": pay.Invoice.Currency, "total_amount": pay.Invoice.Amount, "invoice_payload": pay.Invoice.Payload,
		"telegram_payment_charge_id": pay.Charge, "provider_payment_charge_id": pay.Provider,
	}
	if pay.Invoice.Period > 0 {
		body["subscription_expiration_date"] = pay.Until
		body["is_recurring"] = true
		if pay.First == "" {
			body["is_first_recurring"] = true
		}
	}
	p := s.personByID(pay.Person)
	c := s.privateChat(p)
	m := s.add(c, &message{From: p.ID, Service: raw(obj{"successful_payment": body})})
	if s.queueing.losePayments > 0 {
		s.queueing.losePayments--
		told = false
	}
	if told {
		s.enqueue("message", c.ID, s.show(c, m))
	}
}

func (s *Sandbox) paymentArg(a args) (*payment, *apiError) {
	user := a.integer("user_id", 0, 0, 1<<62)
	if s.personByID(user) == nil {
		return nil, badRequest("user not found")
	}
	if a.str("telegram_payment_charge_id") == "" {
		return nil, badRequest("parameter \"telegram_payment_charge_id\" is required")
	}
	for _, p := range s.w.Payments {
		if p.Charge == a.str("telegram_payment_charge_id") && p.Person == user && p.Invoice.Currency == stars {
			return p, nil
		}
	}
	return nil, badRequest("CHARGE_ID_INVALID")
}

func (s *Sandbox) refundStarPayment(a args) (any, *apiError) {
	p, e := s.paymentArg(a)
	if e != nil {
		return nil, e
	}
	if p.Refunded {
		return nil, badRequest("CHARGE_ALREADY_REFUNDED")
	}
	s.giveBack(p, true)
	return true, nil
}

// giveBack returns the money of a payment. The bot is told of Stars alone; a
// refund by card happens at the provider, and no update tells of it.
func (s *Sandbox) giveBack(p *payment, told bool) {
	p.Refunded, p.Refund = true, s.unix()
	who := s.personByID(p.Person)
	s.touch(who.ID)
	if p.Invoice.Currency != stars {
		return
	}
	who.Stars += p.Invoice.Amount
	c := s.privateChat(who)
	m := s.add(c, &message{From: s.botID, Service: raw(obj{"refunded_payment": obj{
		"currency": stars, "total_amount": p.Invoice.Amount, "invoice_payload": p.Invoice.Payload, "telegram_payment_charge_id": p.Charge,
	}})})
	if told {
		s.enqueue("message", c.ID, s.show(c, m))
	}
}

func (s *Sandbox) editUserStarSubscription(a args) (any, *apiError) {
	p, e := s.paymentArg(a)
	if e != nil {
		return nil, e
	}
	if p.Invoice.Period == 0 {
		return nil, badRequest("SUBSCRIPTION_NOT_ACTIVE")
	}
	if a.str("is_canceled") == "" {
		return nil, badRequest("parameter \"is_canceled\" is required")
	}
	s.subscriptionOf(p).Canceled = a.boolean("is_canceled")
	s.touch(p.Person)
	return true, nil
}

// getStarTransactions lists oldest first; a payment's id is its charge id, a
// refund is a transaction of its own with the same id.
func (s *Sandbox) getStarTransactions(a args) (any, *apiError) {
	type entry struct {
		at int64
		o  obj
	}
	var all []entry
	for _, p := range s.w.Payments {
		if p.Invoice.Currency != stars {
			continue
		}
		partner := obj{"type": "user", "transaction_type": "invoice_payment", "user": s.showUser(p.Person), "invoice_payload": p.Invoice.Payload}
		if p.Invoice.Period > 0 {
			partner["subscription_period"] = p.Invoice.Period
		}
		all = append(all, entry{p.Date, obj{"id": p.Charge, "amount": p.Invoice.Amount, "date": p.Date, "source": partner}})
		if p.Refunded {
			all = append(all, entry{p.Refund, obj{"id": p.Charge, "amount": p.Invoice.Amount, "date": p.Refund, "receiver": partner}})
		}
	}
	slices.SortStableFunc(all, func(x, y entry) int { return int(x.at - y.at) })
	offset, limit := int(a.integer("offset", 0, 0, 1<<31)), int(a.integer("limit", 100, 1, 100))
	out := []obj{}
	for i := offset; i < len(all) && len(out) < limit; i++ {
		out = append(out, all[i].o)
	}
	return obj{"transactions": out}, nil
}

func (s *Sandbox) getMyStarBalance(args) (any, *apiError) {
	n := 0
	for _, p := range s.w.Payments {
		if !p.Refunded && p.Invoice.Currency == stars {
			n += p.Invoice.Amount
		}
	}
	return obj{"amount": n}, nil
}
