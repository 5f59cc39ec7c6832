package billing_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/billing"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/queue"
)

func TestRefundIsMadeOnceAndADoubtIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		outcome queue.Outcome
		kept    int64
	}{
		{"confirmed", nil, 0},
		{"in doubt", queue.Unknown{Err: errors.New("the answer was lost")}, 250},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			pool := dbtest.New(t)
			l := &ledger{outcome: tt.outcome}
			s := service(pool, l)
			payload := invoice(t, s, l, 4)
			if _, err := credit(t.Context(), pool, s, billing.Payment{ChargeID: "c", PersonID: 4, Payload: payload, Currency: "XTR", Amount: 250, PaidAt: time.Now(), Source: "update"}); err != nil {
				t.Fatal(err)
			}
			registry := queue.NewRegistry()
			s.Register(registry)
			engine := queue.New(queue.Config{Pool: pool, Registry: registry, Logger: zerolog.Nop(), PollEvery: 20 * time.Millisecond})
			if err := engine.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = engine.Stop(context.Background()) }()
			for range 3 { // asked for three times
				err := postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
					_, err := s.RefundTx(t.Context(), tx, "c", "ann")
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			waitEmpty(t, pool)
			balances, _, err := billing.Report(t.Context(), pool)
			if err != nil {
				t.Fatal(err)
			}
			if len(l.refunds) != 1 || balances[0].Kept != tt.kept || !balances[0].Balanced() {
				t.Errorf("asked the provider %d times, balance %+v", len(l.refunds), balances)
			}
			// The provider's list shows it: booked, and nothing is in doubt any more.
			l.list = []billing.Charge{
				{ID: "c", PersonID: 4, Payload: payload, Amount: 250, At: time.Now()},
				{ID: "c", PersonID: 4, Payload: payload, Amount: 250, At: time.Now(), Refund: true},
			}
			if _, err := s.Reconcile(t.Context(), l); err != nil {
				t.Fatal(err)
			}
			var open int
			if err := pool.QueryRow(t.Context(), "SELECT count(*) FROM job_archive WHERE kind = 'refund' AND status = 'open'").Scan(&open); err != nil {
				t.Fatal(err)
			}
			if balances, _, err = billing.Report(t.Context(), pool); err != nil || open != 0 || balances[0].Kept != 0 || !balances[0].Balanced() {
				t.Errorf("after the list showed the refund: %d open, %+v, %v", open, balances, err)
			}
		})
	}
}

// waitEmpty waits until no refund may still run.
func waitEmpty(t *testing.T, db postgres.Querier) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		var n int
		if err := db.QueryRow(t.Context(), "SELECT count(*) FROM jobs WHERE kind = 'refund'").Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
	t.Fatal("the refund never ended")
}
