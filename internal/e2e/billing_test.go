package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/sandbox/play"
)

const plansFile = `{"free": {"channels": 1, "sources": 3},
 "plans": [{"id": "pro", "title": "Pro", "price": 250, "days": 30, "channels": 3, "sources": 50}]}`

const proOffer = "Pro · 250 ⭐ a month"

// books are what `postonce report --json` prints.
type books struct {
	Balanced bool
	Balances []struct{ Payments, In, Refunds, Sum int64 }
	Findings []struct{ Finding, Detail string }
}

// TestPayment plays a subscription through chat and stand-in: offered, paid,
// told of twice with a kill -9 in between, ended, and given back.
func TestPayment(t *testing.T) {
	t.Parallel()
	dir := dataDir(t)
	plans := filepath.Join(dir, "plans.json")
	if err := os.WriteFile(plans, []byte(plansFile), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"BILLING=stars", "BILLING_PLANS=" + plans, "DATA_DIR=" + dir}
	d := startDemo(t, dir, "127.0.0.1:0", env...)
	stage, ann := stageOf(t, d)

	link := invoiceOf(t, stage, ann)
	order(t, stage, "/sandbox/api/faults/updates", map[string]any{"kind": "duplicate", "times": 2})
	order(t, stage, "/sandbox/api/faults/updates", map[string]any{"kind": "redeliver", "times": 4})
	var checkout struct {
		Done, OK bool
		Error    string
	}
	if err := stage.Do(t.Context(), http.MethodPost, person(ann, "pay"), map[string]any{"url": link, "wait_ms": 10000}, &checkout); err != nil {
		t.Fatal(err)
	}
	if !checkout.OK {
		t.Fatalf("the payment was not let through: %+v", checkout)
	}
	d.kill()

	d = startDemo(t, dir, "127.0.0.1:0", env...)
	stage, ann = stageOf(t, d)
	waitBot(t, stage, ann, 0, func(m play.Message) bool { return strings.Contains(m.Says(), "Your plan Pro lasts until") })
	time.Sleep(3 * time.Second) // what would be credited twice has time to
	b := report(t, env)
	if !b.Balanced || len(b.Balances) != 1 || b.Balances[0].Payments != 1 || b.Balances[0].In != 250 || len(b.Findings) != 0 {
		t.Errorf("after one payment the books say %+v", b)
	}
	thanks := 0
	list, _, err := stage.Messages(t.Context(), ann.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	charge, payload := "", ""
	for _, m := range list {
		if strings.Contains(m.Says(), "Your plan Pro lasts until") {
			thanks++
		}
		if m.Payment != nil {
			charge, payload = m.Payment.Charge, m.Payment.Payload
		}
	}
	if thanks != 1 {
		t.Errorf("thanked %d times", thanks)
	}

	// Telegram tells that the renewal failed; then an operator gives the money back.
	order(t, stage, "/sandbox/api/updates", map[string]any{"subscription": map[string]any{
		"user":            map[string]any{"id": ann.ID, "is_bot": false, "first_name": "Ann"},
		"invoice_payload": payload, "state": "failed",
	}})
	waitBot(t, stage, ann, 0, func(m play.Message) bool { return strings.Contains(m.Says(), "Pro does not renew") })
	for range 2 {
		operate(t, env, "refund", charge)
	}
	waitBot(t, stage, ann, 0, func(m play.Message) bool {
		return strings.Contains(m.Says(), "Your payment for Pro was given back")
	})
	b = report(t, env)
	if !b.Balanced || b.Balances[0].Sum != 0 || b.Balances[0].Refunds != 1 || len(b.Findings) != 0 {
		t.Errorf("after the refund the books say %+v", b)
	}
}

func stageOf(t *testing.T, d *demo) (*play.Stage, *play.Person) {
	t.Helper()
	stage := play.New(d.base)
	people, err := stage.People(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return stage, people[0]
}

// invoiceOf asks for the plans and takes the one on sale.
func invoiceOf(t *testing.T, stage *play.Stage, p *play.Person) string {
	t.Helper()
	say(t, p, "/start")
	asked := say(t, p, "/subscribe")
	offer := waitBot(t, stage, p, asked, func(m play.Message) bool { _, ok := m.Button(proOffer); return ok })
	tap(t, p, offer, proOffer)
	var link string
	waitBot(t, stage, p, asked, func(m play.Message) bool {
		b, ok := m.Button("Pay")
		link = b.URL
		return ok
	})
	return link
}

func person(p *play.Person, what string) string {
	return "/sandbox/api/people/" + strconv.FormatInt(p.ID, 10) + "/" + what
}

func order(t *testing.T, stage *play.Stage, path string, in any) {
	t.Helper()
	if err := stage.Do(t.Context(), http.MethodPost, path, in, nil); err != nil {
		t.Fatal(err)
	}
}

// operate runs a command beside the running program.
func operate(t *testing.T, env []string, args ...string) []byte {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("postonce %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func report(t *testing.T, env []string) books {
	t.Helper()
	var b books
	if err := json.Unmarshal(operate(t, env, "report", "--json"), &b); err != nil {
		t.Fatal(err)
	}
	return b
}
