package sandbox

import (
	"net/http"
	"strings"
)

// What people and Telegram do with payments apart from the bot: renewals, their
// end and their failure, refunds by others. Every function holds mu by its caller.

// subscriptionOf is the first payment of the subscription that a payment belongs to.
func (s *Sandbox) subscriptionOf(p *payment) *payment {
	for _, first := range s.w.Payments {
		if first.Charge == p.First {
			return first
		}
	}
	return p
}

func (s *Sandbox) paymentByCharge(charge string) *payment {
	for _, p := range s.w.Payments {
		if p.Charge == charge {
			return p
		}
	}
	return nil
}

// paidUntil is until when a subscription was paid, by its renewals too.
func (s *Sandbox) paidUntil(first *payment) int64 {
	until := first.Until
	for _, p := range s.w.Payments {
		if p.First == first.Charge {
			until = max(until, p.Until)
		}
	}
	return until
}

// renew charges a subscription once more, for another period; told says whether
// the bot hears of it.
func (s *Sandbox) renew(first *payment, told bool) (*payment, string) {
	if no := s.renewable(first); no != "" {
		return nil, no
	}
	next := &payment{
		Charge: "stx" + randomID(16), First: first.Charge, Person: first.Person, Invoice: first.Invoice, Date: s.unix(),
		Until: s.paidUntil(first) + int64(first.Invoice.Period),
	}
	s.personByID(first.Person).Stars -= first.Invoice.Amount
	s.w.Payments = append(s.w.Payments, next)
	s.announce(next, told)
	return next, ""
}

func (s *Sandbox) renewable(first *payment) string {
	switch {
	case first.Invoice.Period == 0:
		return "that is no subscription"
	case first.Canceled:
		return "its renewal was ended"
	case first.Failed:
		return "its renewal failed"
	}
	return ""
}

// tellSubscription tells the bot what became of a subscription.
func (s *Sandbox) tellSubscription(first *payment, state string, told bool) {
	s.touch(first.Person)
	if told {
		s.enqueue("subscription", first.Person, obj{
			"user": s.showUser(first.Person), "invoice_payload": first.Invoice.Payload, "state": state,
		})
	}
}

// postPayment plays renew, cancel, resume, fail or refund on a payment of the
// path. With silent the bot is told nothing: it has to find out.
func (s *Sandbox) postPayment(r *http.Request, in *request) (any, error) {
	defer s.lock()()
	p := s.paymentByCharge(r.PathValue("id"))
	if p == nil {
		return nil, errNoSuch
	}
	first, told := s.subscriptionOf(p), !in.Silent
	switch r.PathValue("act") {
	case "renew":
		next, no := s.renew(first, told)
		if no != "" {
			return nil, cannot(no)
		}
		return s.describePayment(next), nil
	case "cancel", "resume":
		if first.Invoice.Period == 0 || first.Failed {
			return nil, cannot("that does not renew")
		}
		first.Canceled = r.PathValue("act") == "cancel"
		s.tellSubscription(first, map[bool]string{true: "canceled", false: "active"}[first.Canceled], told)
	case "fail":
		if no := s.renewable(first); no != "" {
			return nil, cannot(no)
		}
		first.Failed = true
		s.tellSubscription(first, "failed", told)
	case "refund":
		if p.Refunded {
			return nil, cannot("it was given back before")
		}
		s.giveBack(p, told)
	default:
		return nil, cannot("want renew, cancel, resume, fail or refund")
	}
	return s.describePayment(p), nil
}

func (s *Sandbox) describePayment(p *payment) obj {
	first := s.subscriptionOf(p)
	return obj{
		"charge_id": p.Charge, "title": p.Invoice.Title, "price": p.Invoice.price(), "date": p.Date, "refunded": p.Refunded,
		"subscription": p.Invoice.Period > 0, "renewal": p.First != "", "until": s.paidUntil(first),
		"canceled": first.Canceled, "failed": first.Failed, "payload": p.Invoice.Payload,
	}
}

// getPayments lists what a person paid, the newest first.
func (s *Sandbox) getPayments(r *http.Request, _ *request) (any, error) {
	defer s.lock()()
	who, err := s.who(r)
	if err != nil {
		return nil, err
	}
	list := []obj{}
	for i := len(s.w.Payments) - 1; i >= 0; i-- {
		if p := s.w.Payments[i]; p.Person == who.ID {
			list = append(list, s.describePayment(p))
		}
	}
	return list, nil
}

// getInvoice shows what an invoice link asks for.
func (s *Sandbox) getInvoice(r *http.Request, _ *request) (any, error) {
	defer s.lock()()
	inv := s.w.Links[strings.TrimPrefix(r.PathValue("slug"), "$")]
	if inv == nil {
		return nil, errNoSuch
	}
	return obj{
		"title": inv.Title, "description": inv.Description, "currency": inv.Currency, "total_amount": inv.Amount,
		"price": inv.price(), "subscription": inv.Period > 0,
	}, nil
}
