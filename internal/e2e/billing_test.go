package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/sandbox"
	"github.com/postonce/postonce/internal/sandbox/play"
)

const plansFile = `{"free": {"channels": 1, "sources": 3},
 "plans": [{"id": "pro", "title": "Pro", "price": 250, "days": 30, "channels": 3, "sources": 50}]}`

// shop is the built program selling plans, with a stand-in and a database that
// outlive its kills.
type shop struct {
	t     *testing.T
	stage *play.Stage
	stand *sandbox.Sandbox
	db    string
	env   []string
	cmd   *exec.Cmd
	log   *syncBuffer
	kills int
	offer string // the button of the plan on sale
}

func openShop(t *testing.T) *shop {
	t.Helper()
	stand, err := sandbox.New(sandbox.Config{Logger: zerolog.Nop()})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(stand)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close(); _ = stand.Close() })
	plans := filepath.Join(t.TempDir(), "plans.json")
	if err := os.WriteFile(plans, []byte(plansFile), 0o600); err != nil {
		t.Fatal(err)
	}
	db := dbtest.URL(t)
	s := &shop{t: t, stand: stand, stage: play.New(srv.URL), db: db, log: &syncBuffer{}, offer: "Pro · 250 ⭐ / 30 days", env: []string{
		"BILLING=stars", "BILLING_PLANS=" + plans, "DATABASE_URL=" + db, "TELEGRAM_API_URL=" + srv.URL,
		"TELEGRAM_BOT_TOKEN=" + string(sandbox.DefaultToken), "HTTP_ADDR=127.0.0.1:0", "OPS_ADDR=127.0.0.1:0",
		"ACCESS=open", "DATA_DIR=" + t.TempDir(), "LOG_LEVEL=warn", "LOG_FORMAT=json",
	}}
	t.Cleanup(func() {
		s.kill()
		if t.Failed() {
			t.Logf("the program said:\n%s", tail(s.log.String(), 8000))
		}
	})
	return s
}

// open starts the program; what it does next shows that it runs.
func (s *shop) open() {
	s.t.Helper()
	path, err := binary()
	if err != nil {
		s.t.Fatal(err)
	}
	s.cmd = exec.Command(path, "serve")
	s.cmd.Env = append(os.Environ(), s.env...)
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
}

// shorten gives every kind the lease that a week of measuring would come to: what
// a killed process held comes back after ten seconds, not sixty.
func (s *shop) shorten() {
	s.t.Helper()
	conn := s.connect()
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(s.t.Context(), `UPDATE job_kinds SET measured_lease = '10 s'`); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) kill() {
	if s.cmd != nil && s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Signal(syscall.SIGKILL)
		_ = s.cmd.Wait()
		s.kills++
	}
}

// strike kills the program and starts it again.
func (s *shop) strike() { s.t.Helper(); s.kill(); s.open() }

// run runs a command beside the program.
func (s *shop) run(args ...string) []byte {
	s.t.Helper()
	path, err := binary()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.CommandContext(within(s.t, time.Minute), path, args...)
	cmd.Env = append(os.Environ(), s.env...)
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("postonce %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// books are what `postonce report --json` prints.
type books struct {
	Balanced bool
	Balances []struct{ Payments, In, Refunds, Sum int64 }
	Findings []struct{ Finding, Detail string }
}

func (s *shop) books() (b books) {
	s.t.Helper()
	if err := json.Unmarshal(s.run("report", "--json"), &b); err != nil {
		s.t.Fatal(err)
	}
	return b
}

type checkout struct {
	Done, OK bool
	Error    string
}

func (s *shop) pay(p *play.Person, link string) (c checkout, err error) {
	err = s.stage.Do(context.Background(), http.MethodPost, fmt.Sprintf("/sandbox/api/people/%d/pay", p.ID),
		map[string]any{"url": link, "wait_ms": 9000}, &c)
	return c, err
}

// invoice asks for the plans and takes the one on sale.
func (s *shop) invoice(p *play.Person) string {
	s.t.Helper()
	asked := say(s.t, p, "/subscribe")
	offer := waitBot(s.t, s.stage, p, asked, func(m play.Message) bool { _, ok := m.Button(s.offer); return ok })
	tap(s.t, p, offer, s.offer)
	var link string
	waitBot(s.t, s.stage, p, asked, func(m play.Message) bool {
		b, ok := m.Button("Pay")
		link = b.URL
		return ok
	})
	return link
}

func says(text string) func(play.Message) bool {
	return func(m play.Message) bool { return strings.Contains(m.Says(), text) }
}

// TestPaymentUnderKills pays for plans in the chat, with the program killed
// between each pair of steps: before the invoice, before the checkout is
// answered, after it, while the payment is credited, before and during the refund.
// Telegram tells of everything twice. What counts is that each charge is credited
// once, given back once, and that the books balance. POSTONCE_LONG adds moments.
func TestPaymentUnderKills(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.open()
	type payer struct {
		p       *play.Person
		charge  string
		payload string
	}
	var payers []payer
	pauses := []time.Duration{-1, 0}
	if os.Getenv("POSTONCE_LONG") != "" {
		pauses = append(pauses, 10*time.Millisecond, 25*time.Millisecond, 40*time.Millisecond, 80*time.Millisecond, 200*time.Millisecond)
	}
	for i, pause := range pauses {
		p, err := s.stage.NewPerson(t.Context(), fmt.Sprintf("Payer%d", i), "en")
		if err != nil {
			t.Fatal(err)
		}
		say(t, p, "/start")
		link := s.invoice(p)
		s.shorten()
		s.order("/sandbox/api/faults/updates", map[string]any{"kind": "duplicate", "times": 2})
		s.order("/sandbox/api/faults/updates", map[string]any{"kind": "redeliver", "times": 2})
		s.kill() // between the invoice and the checkout
		if pause >= 0 {
			s.open()
		}
		settled := make(chan checkout, 1)
		go func() {
			var c checkout
			for range 6 { // after a kill the successor waits for the poller's lease: Telegram declines, nothing is charged
				var err error
				if c, err = s.pay(p, link); err != nil {
					c.Error = err.Error()
				}
				if c.OK {
					break
				}
			}
			settled <- c
		}()
		if pause < 0 {
			time.Sleep(100 * time.Millisecond) // the question waits at Telegram before anybody reads it
			s.open()
		}
		c := <-settled
		if !c.OK {
			t.Fatalf("payment %d was not let through: %+v", i, c)
		}
		if pause >= 0 {
			time.Sleep(pause) // somewhere between the payment, its update, its credit and the thanks
			s.strike()
		}
		m := waitIn(t, s.stage, p.ID, 0, func(m play.Message) bool { return m.Payment != nil })
		waitBot(t, s.stage, p, 0, says("Your plan Pro lasts until"))
		payers = append(payers, payer{p, m.Payment.Charge, m.Payment.Payload})
	}
	n := int64(len(payers))
	if b := s.books(); !b.Balanced || len(b.Balances) != 1 || b.Balances[0].Payments != n || b.Balances[0].In != 250*n || len(b.Findings) != 0 {
		t.Errorf("after %d payments the books say %+v", n, b)
	}

	// A renewal that failed, told of twice around a kill.
	first := payers[0]
	for again := range 2 {
		s.order("/sandbox/api/updates", map[string]any{"subscription": map[string]any{
			"user":            map[string]any{"id": first.p.ID, "is_bot": false, "first_name": "Payer0"},
			"invoice_payload": first.payload, "state": "failed",
		}})
		if again == 0 {
			s.strike()
		}
	}
	waitBot(t, s.stage, first.p, 0, says("Telegram could not renew your plan Pro"))

	// Refunds: asked for twice while nothing runs, and killed at the call itself.
	s.kill()
	for range 2 {
		s.run("refund", payers[0].charge)
	}
	s.order("/sandbox/api/faults", map[string]any{"kind": "slow", "method": "refundStarPayment", "delay_ms": 400})
	s.open()
	s.await(func() bool { return len(s.stand.Calls(0, "refundstarpayment")) > 0 }, "the refund")
	s.strike()
	s.run("refund", payers[1].charge)
	waitBot(t, s.stage, payers[1].p, 0, says("Your payment for Pro was given back"))
	if calls := s.stand.Calls(0, "refundstarpayment"); len(calls) != 2 {
		t.Errorf("two refunds were called %d times", len(calls))
	}
	// The refund that was cut off is done or in doubt, and never silently lost.
	b := s.books()
	doubts := strings.Count(string(s.run("jobs", "list", "--kind", "refund", "--json")), payers[0].charge)
	if !b.Balanced || len(b.Findings) != 0 || b.Balances[0].Refunds == 1 && doubts == 0 {
		t.Errorf("after two refunds, of which one was cut off: %d doubts, books %+v", doubts, b)
	}
	for _, one := range payers {
		if got := s.count(one.p, "Your plan Pro lasts until"); got != 1 {
			t.Errorf("%s was thanked %d times", one.p.Name, got)
		}
		if got := s.count(one.p, "was given back"); got > 1 {
			t.Errorf("%s was told %d times of a refund", one.p.Name, got)
		}
	}
	t.Logf("%d kills", s.kills)
}

func (s *shop) order(path string, in any) {
	s.t.Helper()
	if err := s.stage.Do(s.t.Context(), http.MethodPost, path, in, nil); err != nil {
		s.t.Fatal(err)
	}
}

func (s *shop) count(p *play.Person, text string) (n int) {
	s.t.Helper()
	list, _, err := s.stage.Messages(s.t.Context(), p.ID, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range list {
		if m.FromBot() && strings.Contains(m.Says(), text) {
			n++
		}
	}
	return n
}

func (s *shop) await(ok func() bool, what string) {
	s.t.Helper()
	for ctx := within(s.t, 60*time.Second); ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		if ok() {
			return
		}
	}
	s.t.Fatalf("%s never came", what)
}
