package billing_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"pgregory.net/rapid"

	"github.com/postonce/postonce/internal/billing"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/queue"
)

// ledger is a provider that remembers.
type ledger struct {
	mu      sync.Mutex
	refunds []string
	outcome queue.Outcome // of the next refunds; nil: confirmed
	list    []billing.Charge
	links   []billing.Invoice
}

func (l *ledger) Name() string     { return "stars" }
func (l *ledger) Currency() string { return "XTR" }
func (l *ledger) Renews() bool     { return true }
func (l *ledger) Refunds() bool    { return true }

func (l *ledger) Check(string, billing.Plan) error { return nil }

func (l *ledger) Link(_ context.Context, in billing.Invoice) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.links = append(l.links, in)
	return "https://t.me/$" + in.Payload, nil
}

func (l *ledger) Refund(_ context.Context, _ int64, charge string) queue.Outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refunds = append(l.refunds, charge)
	if l.outcome != nil {
		return l.outcome
	}
	return queue.Confirmed{ExternalID: charge}
}

func (l *ledger) EndRenewal(context.Context, int64, string) error { return nil }

func (l *ledger) Charges(_ context.Context, offset, limit int) ([]billing.Charge, bool, error) {
	end := min(offset+limit, len(l.list))
	if offset >= end {
		return nil, false, nil
	}
	return l.list[offset:end], end < len(l.list), nil
}

func catalogue() billing.Catalogue {
	return billing.Catalogue{
		TrialDays: 7, TrialPlan: "pro",
		Free:  billing.Plan{ID: "free", Title: "Free", Channels: 1, Sources: 3, Drafts: 10},
		Plans: []billing.Plan{{ID: "pro", Title: "Pro", Price: 250, Days: 30, Channels: 3, Sources: 50, Drafts: 1000}},
	}
}

func service(pool *pgxpool.Pool, l *ledger) *billing.Service {
	return billing.New(billing.Config{Pool: pool, Plans: catalogue(), Providers: []billing.Provider{l}})
}

// invoice issues one and returns its payload.
func invoice(tb testing.TB, s *billing.Service, l *ledger, person int64) string {
	tb.Helper()
	if _, err := s.Checkout(context.Background(), person, "pro", "en", func(int) string { return "about" }); err != nil {
		tb.Fatal(err)
	}
	return l.links[len(l.links)-1].Payload
}

func credit(ctx context.Context, pool *pgxpool.Pool, s *billing.Service, p billing.Payment) (ok bool, err error) {
	err = postgres.InTx(ctx, pool, func(tx pgx.Tx) (err error) {
		ok, err = s.Credit(ctx, tx, p)
		return err
	})
	return ok, err
}

func TestAThousandShuffledAndDoubledPaymentsCreditTheDistinctOnes(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	l := &ledger{}
	s := service(pool, l)
	const distinct = 100
	var updates []billing.Payment
	for i := range distinct {
		p := billing.Payment{
			ChargeID: fmt.Sprintf("charge-%d", i), PersonID: int64(1 + i%7), Currency: "XTR", Amount: 250,
			PaidAt: time.Now(), Source: "update", Recurring: i%3 == 0,
		}
		p.Payload = invoice(t, s, l, p.PersonID)
		for range 10 {
			updates = append(updates, p)
		}
	}
	rand.Shuffle(len(updates), func(i, j int) { updates[i], updates[j] = updates[j], updates[i] })
	var wg sync.WaitGroup
	var mu sync.Mutex
	credited := 0
	for part := range 8 {
		wg.Go(func() {
			for i := part; i < len(updates); i += 8 {
				ok, err := credit(t.Context(), pool, s, updates[i])
				if err != nil {
					t.Error(err)
				}
				if ok {
					mu.Lock()
					credited++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	balances, findings, err := billing.Report(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	want := []billing.Balance{{Currency: "XTR", Payments: distinct, In: distinct * 250, Sum: distinct * 250, Kept: distinct * 250}}
	if diff := cmp.Diff(want, balances); diff != "" || credited != distinct || len(findings) != 0 {
		t.Errorf("credited %d of %d, findings %v:\n%s", credited, distinct, findings, diff)
	}
}

func TestPreCheckoutLooksAtPayloadPersonAndPrice(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	l := &ledger{}
	s := service(pool, l)
	payload := invoice(t, s, l, 7)
	if len(payload) > 128 {
		t.Errorf("the payload has %d bytes", len(payload))
	}
	for _, tt := range []struct {
		name, payload, currency, want string
		person, amount                int64
	}{
		{"the right one", payload, "XTR", "", 7, 250},
		{"another person", payload, "XTR", billing.RefusedPerson, 8, 250},
		{"another price", payload, "XTR", billing.RefusedPrice, 7, 1},
		{"another currency", payload, "USD", billing.RefusedPrice, 7, 250},
		{"a payload never issued", "pro:forged", "XTR", billing.RefusedUnknown, 7, 250},
	} {
		got, err := s.PreCheckout(t.Context(), tt.person, tt.payload, tt.currency, tt.amount)
		if err != nil || got != tt.want {
			t.Errorf("%s: got %q, %v; want %q", tt.name, got, err, tt.want)
		}
	}
}

func TestAChargeNobodyAskedForIsAFinding(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	s := service(pool, &ledger{})
	ok, err := credit(t.Context(), pool, s, billing.Payment{ChargeID: "x", PersonID: 1, Payload: "forged", Currency: "XTR", Amount: 5, PaidAt: time.Now(), Source: "update"})
	if err != nil || ok {
		t.Fatalf("credited %t, %v", ok, err)
	}
	_, findings, err := billing.Report(t.Context(), pool)
	if err != nil || len(findings) != 1 || findings[0].Finding != "unknown_payload" {
		t.Errorf("findings %v, %v", findings, err)
	}
}

func TestReconciliationRecordsWhatNoUpdateToldOf(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	l := &ledger{}
	s := service(pool, l)
	for i := range 250 {
		p := invoice(t, s, l, int64(i))
		l.list = append(l.list, billing.Charge{ID: fmt.Sprint("c", i), PersonID: int64(i), Payload: p, Amount: 250, At: time.Now()})
		if i%2 == 0 {
			if _, err := credit(t.Context(), pool, s, billing.Payment{ChargeID: fmt.Sprint("c", i), PersonID: int64(i), Payload: p, Currency: "XTR", Amount: 250, PaidAt: time.Now(), Source: "update"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	l.list = append(l.list,
		billing.Charge{ID: "c3", PersonID: 3, Amount: 250, At: time.Now(), Refund: true},
		billing.Charge{ID: "gone", PersonID: 9, Amount: 10, At: time.Now(), Refund: true})
	got, err := s.Reconcile(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(billing.Reconciled{Seen: 252, Credited: 125, Refunded: 1, Findings: 1}, got); diff != "" {
		t.Error(diff)
	}
	again, err := s.Reconcile(t.Context(), l)
	if err != nil || again.Credited != 0 || again.Refunded != 0 {
		t.Errorf("a second reading changed something: %+v, %v", again, err)
	}
	st, err := s.StandingOf(t.Context(), pool, 3)
	if err != nil || st.Plan.ID != "free" {
		t.Errorf("after the refund person 3 has plan %q, %v", st.Plan.ID, err)
	}
}

func TestQuotaIsCountedInTheTransactionThatUsesIt(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	s := service(pool, &ledger{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	used, refused := 0, 0
	for range 40 {
		wg.Go(func() {
			err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error { return s.Use(t.Context(), tx, 1, billing.MeterDrafts, 1) })
			mu.Lock()
			defer mu.Unlock()
			if limit, ok := errors.AsType[*billing.LimitError](err); ok {
				refused++
				if limit.Limit != 10 {
					t.Errorf("limit %d", limit.Limit)
				}
				return
			}
			if err != nil {
				t.Error(err)
			}
			used++
		})
	}
	wg.Wait()
	if used != 10 || refused != 30 {
		t.Errorf("used %d, refused %d of 40 with a limit of 10", used, refused)
	}
}

func TestTrialIsGivenOnce(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	s := service(pool, &ledger{})
	for i, want := range []bool{true, false} {
		var got bool
		err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) (err error) {
			got, err = s.Trial(t.Context(), tx, 5)
			return err
		})
		if err != nil || got != want {
			t.Errorf("time %d: %t, %v", i+1, got, err)
		}
	}
	if st, err := s.StandingOf(t.Context(), pool, 5); err != nil || st.Plan.ID != "pro" {
		t.Errorf("on trial: %q, %v", st.Plan.ID, err)
	}
}

// TestBalanceIsTheSumOfMovements plays payments, doubles, refunds and
// reconciliations in any order.
func TestBalanceIsTheSumOfMovements(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	l := &ledger{}
	s := service(pool, l)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		ctx := context.Background()
		person := int64(run)
		payload := invoice(t, s, l, person)
		kept := map[string]int64{}
		seen := map[string]bool{}
		l.list = nil
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			id := fmt.Sprintf("r%d-%d", run, rapid.IntRange(0, 3).Draw(rt, "charge"))
			switch rapid.SampledFrom([]string{"pay", "listed", "refund"}).Draw(rt, "step") {
			case "pay":
				if _, err := credit(ctx, pool, s, billing.Payment{ChargeID: id, PersonID: person, Payload: payload, Currency: "XTR", Amount: 250, PaidAt: time.Now(), Source: "update"}); err != nil {
					rt.Fatal(err)
				}
				if !seen[id] {
					seen[id], kept[id] = true, 250
				}
			case "listed":
				l.list = []billing.Charge{{ID: id, PersonID: person, Payload: payload, Amount: 250, At: time.Now()}}
				if _, err := s.Reconcile(ctx, l); err != nil {
					rt.Fatal(err)
				}
				if !seen[id] {
					seen[id], kept[id] = true, 250
				}
			case "refund":
				l.list = []billing.Charge{{ID: id, PersonID: person, Payload: payload, Amount: 250, At: time.Now(), Refund: true}}
				if _, err := s.Reconcile(ctx, l); err != nil {
					rt.Fatal(err)
				}
				delete(kept, id)
			}
		}
		balances, _, err := billing.Report(ctx, pool)
		if err != nil {
			rt.Fatal(err)
		}
		for _, b := range balances {
			if !b.Balanced() {
				rt.Fatalf("does not balance: %+v", b)
			}
		}
		receipts, err := billing.Receipts(ctx, pool, person, 100)
		if err != nil {
			rt.Fatal(err)
		}
		var sum, want int64
		for _, r := range receipts {
			if !r.Refunded {
				sum += r.Amount
			}
		}
		for _, v := range kept {
			want += v
		}
		if sum != want {
			rt.Fatalf("kept %d, want %d", sum, want)
		}
	})
}

func TestPlansFileNamesTheMend(t *testing.T) {
	t.Parallel()
	stars, cards := billing.Provider(billing.Stars{}), billing.Provider(billing.Cards{})
	for _, tt := range []struct {
		name, file, want string
		sells            billing.Provider
	}{
		{"none", `{"plans":[]}`, "add one", stars},
		{"a wrong period", `{"plans":[{"id":"pro","title":"Pro","price":5,"days":31}]}`, "every 30 days only", stars},
		{"a price of nothing", `{"plans":[{"id":"pro","title":"Pro","price":0,"days":30}]}`, "want 1 or more", stars},
		{"too many Stars", `{"plans":[{"id":"pro","title":"Pro","price":10001,"days":30}]}`, "want 1 to 10000 Stars", stars},
		{"Stars with a currency", `{"currency":"EUR","plans":[{"id":"pro","title":"Pro","price":5,"days":30}]}`, "leave it out, or set BILLING=cards", stars},
		{"cards without a currency", `{"plans":[{"id":"pro","title":"Pro","price":499,"days":30}]}`, "\"currency\" is missing", cards},
		{"an unknown currency", `{"currency":"EURO","plans":[{"id":"pro","title":"Pro","price":499,"days":30}]}`, "is \"EURO\"", cards},
		{"cards for too long", `{"currency":"EUR","plans":[{"id":"pro","title":"Pro","price":499,"days":400}]}`, "want 1 to 366", cards},
		{"a fortune", `{"currency":"EUR","plans":[{"id":"pro","title":"Pro","price":999999999999,"days":30}]}`, "9999999999.99 EUR", cards},
		{"a word that is none", `{"plan":[]}`, "unknown field", stars},
		{"a trial of nothing", `{"trial_days":3,"plans":[{"id":"pro","title":"Pro","price":5,"days":30}]}`, "trial_plan", stars},
		{"twice", `{"plans":[{"id":"a","title":"A","price":5,"days":30},{"id":"a","title":"A","price":5,"days":30}]}`, "twice", stars},
		{"Stars", `{"plans":[{"id":"pro","title":"Pro","price":250,"days":30}]}`, "", stars},
		{"cards", `{"currency":"JPY","plans":[{"id":"pro","title":"Pro","price":499,"days":90}]}`, "", cards},
	} {
		path := filepath.Join(t.TempDir(), "plans.json")
		if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := billing.LoadCatalogue(path)
		if err == nil {
			err = c.SoldBy(tt.sells)
		}
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestMoneyIsWrittenByItsCurrency(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		amount         int64
		currency, want string
	}{
		{250, "XTR", "250 ⭐"}, {499, "EUR", "4.99 EUR"}, {-5, "EUR", "-0.05 EUR"}, {499, "JPY", "499 JPY"}, {100, "USD", "1.00 USD"},
	} {
		if got := billing.Money(tt.amount, tt.currency); got != tt.want {
			t.Errorf("%d %s: %q, want %q", tt.amount, tt.currency, got, tt.want)
		}
	}
}
