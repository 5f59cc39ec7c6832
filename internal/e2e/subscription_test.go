package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/sandbox/play"
)

// paidThere is a payment as the stand-in keeps it.
type paidThere struct {
	Charge   string `json:"charge_id"`
	Refunded bool   `json:"refunded"`
	Renewal  bool   `json:"renewal"`
	Canceled bool   `json:"canceled"`
}

// there lists what a person paid, as Telegram has it, the newest first.
func (s *shop) there(p *play.Person) (list []paidThere) {
	s.t.Helper()
	if err := s.stage.Do(s.t.Context(), http.MethodGet, fmt.Sprintf("/sandbox/api/people/%d/payments", p.ID), nil, &list); err != nil {
		s.t.Fatal(err)
	}
	return list
}

// play lets something happen to a payment apart from the bot.
func (s *shop) play(charge, act string, silent bool) {
	s.t.Helper()
	s.order("/sandbox/api/payments/"+charge+"/"+act, map[string]any{"silent": silent})
}

// customer is a new person who took the plan.
func (s *shop) customer(name string) (*play.Person, string) {
	s.t.Helper()
	p, err := s.stage.NewPerson(s.t.Context(), name, "en")
	if err != nil {
		s.t.Fatal(err)
	}
	say(s.t, p, "/start")
	if c, err := s.pay(p, s.invoice(p)); err != nil || !c.OK {
		s.t.Fatalf("%s may not pay: %+v, %v", name, c, err)
	}
	waitBot(s.t, s.stage, p, 0, says("Your plan Pro lasts until"))
	return p, s.there(p)[0].Charge
}

// hears waits until the person was told something n times, and no more often.
func (s *shop) hears(p *play.Person, text string, n int) {
	s.t.Helper()
	s.await(func() bool { return s.count(p, text) >= n }, fmt.Sprintf("%q to %s, %d times", text, p.Name, n))
	if got := s.count(p, text); got != n {
		s.t.Errorf("%s was told %q %d times, want %d", p.Name, text, got, n)
	}
}

// archived are the open rows of the archive of a kind.
func (s *shop) archived(kind string) (keys []string) {
	s.t.Helper()
	dec := json.NewDecoder(strings.NewReader(string(s.run("jobs", "list", "--state", "archived", "--kind", kind, "--json"))))
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			s.t.Fatal(err)
		}
		var list []struct{ Key, Status string }
		if json.Unmarshal(raw, &list) != nil {
			var one struct{ Key, Status string }
			if err := json.Unmarshal(raw, &one); err != nil {
				s.t.Fatal(err)
			}
			list = append(list, one)
		}
		for _, row := range list {
			if row.Status == "open" {
				keys = append(keys, row.Key)
			}
		}
	}
	return keys
}

// tally checks the books against what the stand-in keeps of the people.
func (s *shop) tally(people ...*play.Person) {
	s.t.Helper()
	var payments, refunds int64
	for _, p := range people {
		for _, one := range s.there(p) {
			payments++
			if one.Refunded {
				refunds++
			}
		}
	}
	b := s.books()
	if !b.Balanced || len(b.Balances) != 1 || b.Balances[0].Payments != payments || b.Balances[0].Refunds != refunds {
		s.t.Errorf("Telegram has %d payments and %d refunds; the books say %+v", payments, refunds, b)
	}
}

// TestASubscriptionLives plays renewals, a renewal that no update told of, its
// end in Telegram's settings and by the bot's button, its failure, and refunds
// by the operator, by Telegram and by both, against the built program.
func TestASubscriptionLives(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	people, err := s.stage.People(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	operator := people[0]
	s.env = append(s.env, fmt.Sprintf("OPERATOR_IDS=%d", operator.ID))
	s.open()
	say(t, operator, "/start")

	p, charge := s.customer("Rena")
	s.play(charge, "renew", false)
	s.hears(p, "was renewed until", 1)
	s.play(charge, "renew", true) // the update never comes
	s.run("billing", "reconcile")
	s.hears(p, "was renewed until", 2)
	s.tally(p)

	s.play(charge, "cancel", false)
	s.hears(p, "Pro does not renew", 1)
	s.play(charge, "resume", false)
	s.hears(p, "Pro renews again", 1)
	asked := say(t, p, "/subscribe")
	m := waitBot(t, s.stage, p, asked, func(m play.Message) bool { _, ok := m.Button("End the renewal"); return ok })
	tap(t, p, m, "End the renewal")
	s.hears(p, "Pro does not renew", 2)
	if there := s.there(p); !there[0].Canceled {
		t.Error("the button did not end the renewal at Telegram")
	}
	s.play(charge, "resume", false)
	s.hears(p, "Pro renews again", 2)
	s.play(charge, "fail", false)
	s.hears(p, "Telegram could not renew your plan Pro", 1)

	refunds(t, s, p)
	finding(t, s, operator)
}

// refunds gives payments back in each way that there is.
func refunds(t *testing.T, s *shop, p *play.Person) {
	t.Helper()
	q, byTelegram := s.customer("Quinn")
	s.play(byTelegram, "renew", false)
	s.hears(q, "was renewed until", 1)
	s.play(byTelegram, "refund", false) // told at once
	s.hears(q, "was given back", 1)
	// Who got the money back is not charged again.
	s.await(func() bool { return s.there(q)[0].Canceled }, "the end of the renewal")

	list := s.there(p) // two renewals and the first
	s.play(list[0].Charge, "refund", true)
	s.run("billing", "reconcile")
	s.hears(p, "was given back", 1)
	s.play(list[1].Charge, "refund", true)
	s.run("refund", list[1].Charge) // given back before: that is done
	s.hears(p, "was given back", 2)
	s.run("refund", list[2].Charge)
	s.run("refund", list[2].Charge)
	s.hears(p, "was given back", 3)

	// The answer of a refund is lost: in doubt, until Telegram's list shows it.
	d, doubtful := s.customer("Dora")
	s.order("/sandbox/api/faults", map[string]any{"kind": "lost", "method": "refundStarPayment", "apply": true})
	s.run("refund", doubtful)
	s.hears(d, "was given back", 1) // its update came
	s.await(func() bool {
		s.run("billing", "reconcile")
		return len(s.archived("refund")) == 0 && !strings.Contains(string(s.run("jobs", "list", "--kind", "refund", "--json")), `"leased"`)
	}, "the end of the doubt")
	s.tally(p, q, d)
	if calls := len(s.stand.Calls(0, "refundstarpayment")); calls != 3 {
		t.Errorf("three refunds were asked for %d times", calls)
	}
}

// finding tells of a payment that nobody asked for; the operator settles it once.
func finding(t *testing.T, s *shop, operator *play.Person) {
	t.Helper()
	s.order("/sandbox/api/updates", map[string]any{"message": map[string]any{
		"message_id": 900001, "date": time.Now().Unix(), "chat": map[string]any{"id": operator.ID, "type": "private", "first_name": "Ann"},
		"from": map[string]any{"id": operator.ID, "is_bot": false, "first_name": "Ann"},
		"successful_payment": map[string]any{
			"currency": "XTR", "total_amount": 7, "invoice_payload": "forged", "telegram_payment_charge_id": "nobody's", "provider_payment_charge_id": "",
		},
	}})
	told := waitBot(t, s.stage, operator, 0, says("A payment does not match"))
	tap(t, operator, told, "Payments")
	m := waitBot(t, s.stage, operator, 0, says("Payments that do not match"))
	if !strings.Contains(m.Says(), "7 ⭐") || !strings.Contains(m.Says(), "nobody's") {
		t.Errorf("the finding says:\n%s", m.Says())
	}
	var list []struct{ ID int64 }
	if err := json.Unmarshal(s.run("billing", "findings", "--json"), &list); err != nil || len(list) != 1 {
		t.Fatalf("findings %v, %v", list, err)
	}
	number := fmt.Sprint(list[0].ID)
	tap(t, operator, m, number+" is settled")
	if said := string(s.run("billing", "settle", number, "--by", "bob")); !strings.Contains(said, fmt.Sprintf("was settled by person:%d", operator.ID)) {
		t.Errorf("settled again: %s", said)
	}
	if said := string(s.run("billing", "findings")); !strings.Contains(said, "every payment matches") {
		t.Errorf("after that: %s", said)
	}
}

const cardsFile = `{"currency": "EUR", "free": {"channels": 1, "sources": 3},
 "plans": [{"id": "pro", "title": "Pro", "price": 499, "days": 30, "channels": 3, "sources": 50}]}`

// TestCardsAreSold takes the same way as Stars through the second provider.
func TestCardsAreSold(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	plans := filepath.Join(t.TempDir(), "plans.json")
	if err := os.WriteFile(plans, []byte(cardsFile), 0o600); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "BILLING=cards", "BILLING_PLANS="+plans)
	if code, _, said := run(t, s.env, "serve"); code != 2 || !strings.HasPrefix(said, "postonce: PAYMENT_PROVIDER_TOKEN is not set") || strings.Count(said, "\n") != 1 {
		t.Errorf("without a token serve ended with %d:\n%s", code, said)
	}
	s.env = append(s.env, "PAYMENT_PROVIDER_TOKEN=284685063:TEST:NjUxNzQ4")
	s.offer = "Pro · 4.99 EUR / 30 days"
	s.open()
	p, charge := s.customer("Carla")
	if c, err := s.pay(p, s.invoice(p)); err != nil || !c.OK { // early: it is added
		t.Fatalf("a second payment: %+v, %v", c, err)
	}
	s.hears(p, "Your plan Pro lasts until", 2)
	var until time.Time
	s.look(`SELECT paid_until FROM accounts WHERE person_id = $1`, &until, p.ID)
	if left := time.Until(until); left < 59*24*time.Hour || left > 61*24*time.Hour {
		t.Errorf("two payments of 30 days last %s", left)
	}
	asked := say(t, p, "/subscribe")
	m := waitBot(t, s.stage, p, asked, says("Ends"))
	if _, renews := m.Button("End the renewal"); renews {
		t.Error("a payment by card claims to renew")
	}
	if code, _, said := run(t, s.env, "refund", charge); code != 1 || !strings.Contains(said, "provider's own dashboard") {
		t.Errorf("a refund by card: %d %s", code, said)
	}
	s.play(charge, "refund", false)
	for _, want := range []string{"booked; the person hears of it", "was booked before"} {
		if said := string(s.run("billing", "refunded", charge, "--by", "ann")); !strings.Contains(said, want) {
			t.Errorf("booked: %s, want %s", said, want)
		}
	}
	s.hears(p, "was given back", 1)
	s.tally(p)
	if said := string(s.run("report")); !strings.Contains(said, "EUR  2 payments 9.98 EUR, 1 refunds -4.99 EUR, sum 4.99 EUR: balances") {
		t.Errorf("the report says:\n%s", said)
	}
}

// TestKillsBetweenTheStepsOfMoney kills the program with -9 at each step of a
// payment, of a renewal and of a refund: where it waits for the named table, so
// after all that stands before, or with a call under way that Telegram makes or
// does not make. POSTONCE_LONG plays every moment; else some of each.
func TestKillsBetweenTheStepsOfMoney(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.open()
	// updates: told, not stored · payments: stored, not recorded · movements: recorded, not booked · accounts: booked,
	// nothing bought · effects: committed, and nobody told of it (of a refund: no intent yet)
	tables := []string{"updates", "payments", "movements", "accounts", "effects"}
	moments := map[string][]string{"payment": tables, "renewal": tables, "refund": {"effects", "not called", "called", "movements", "accounts"}}
	if os.Getenv("POSTONCE_LONG") == "" {
		moments = map[string][]string{"payment": {"payments", "accounts"}, "renewal": {"movements"}, "refund": {"effects", "called", "movements"}}
	}
	var people []*play.Person
	for _, act := range []string{"payment", "renewal", "refund"} {
		for i, at := range moments[act] {
			p := s.killedAt(fmt.Sprintf("%s%d", act, i), act, at)
			people = append(people, p)
		}
	}
	s.run("billing", "reconcile")
	s.await(func() bool {
		return !strings.Contains(string(s.run("jobs", "list", "--kind", "reconcile_payments", "--json")), `"ready"`)
	}, "the reconciliation")
	s.tally(people...)
	if b := s.books(); len(b.Findings) != 0 {
		t.Errorf("findings: %+v", b.Findings)
	}
	t.Logf("%d kills", s.kills)
}

// killedAt kills the program at one moment, starts it again and checks what came of it.
func (s *shop) killedAt(name, act, at string) *play.Person {
	s.t.Helper()
	told := map[string]string{"payment": "Your plan Pro lasts until", "renewal": "was renewed until", "refund": "was given back"}[act]
	var p *play.Person
	var do func()
	if act == "payment" {
		var err error
		if p, err = s.stage.NewPerson(s.t.Context(), name, "en"); err != nil {
			s.t.Fatal(err)
		}
		say(s.t, p, "/start")
		link := s.invoice(p)
		do = func() {
			if c, err := s.pay(p, link); err != nil || !c.OK {
				s.t.Fatalf("%s may not pay: %+v, %v", name, c, err)
			}
		}
	} else {
		var charge string
		p, charge = s.customer(name)
		do = func() { s.play(charge, "renew", false) }
		if act == "refund" {
			do = func() { s.run("refund", charge) }
		}
	}
	var release func()
	switch at {
	case "called", "not called":
		before := len(s.stand.Calls(0, "refundstarpayment"))
		s.order("/sandbox/api/faults", map[string]any{"kind": "hang", "method": "refundStarPayment", "apply": at == "called"})
		do()
		s.await(func() bool { return len(s.stand.Calls(0, "refundstarpayment")) > before }, "the call of the refund")
	default:
		var waits func() bool
		waits, release = s.hold(at)
		do()
		s.await(waits, "a writer of "+at)
	}
	s.kill()
	if release != nil {
		release()
	}
	s.forgetLeases()
	s.open()
	switch {
	case act == "refund" && (at == "effects" || at == "not called"):
		// The intent stands and nobody knows whether it was called: never again by itself.
		s.await(func() bool { return slices.Contains(s.archived("refund"), s.there(p)[0].Charge) }, "the refund in doubt")
		if s.there(p)[0].Refunded || s.count(p, told) != 0 {
			s.t.Error("a refund that was not made is told of")
		}
		return p
	case at == "effects":
		// Credited; the thanks are a courtesy, whose doubt closes by itself: the plan's page tells the same.
		asked := say(s.t, p, "/subscribe")
		waitBot(s.t, s.stage, p, asked, says("Your plan: Pro"))
		if got := s.count(p, told); got > 1 {
			s.t.Errorf("%s was thanked %d times", name, got)
		}
		return p
	}
	s.hears(p, told, 1)
	return p
}
