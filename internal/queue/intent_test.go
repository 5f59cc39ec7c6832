package queue

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestAnIntentTakesTheLaterOfTwoLeases is R2 where a renewal commits while the intent waits for the job's row. The
// intent's snapshot shows the old lease; the row that it then locks has the new one.
func TestAnIntentTakesTheLaterOfTwoLeases(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ renewed, timeout, want time.Duration }{
		"the renewal's": {renewed: time.Hour, timeout: time.Minute, want: time.Hour},
		"the call's":    {renewed: time.Minute, timeout: time.Hour, want: time.Hour + time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := newQuiet(t)
			q.enqueue("a")
			r := q.claim(1)[0]
			renewal, err := q.pool.Begin(t.Context())
			q.ok(err)
			defer func() { _ = renewal.Rollback(context.Background()) }()
			_, err = renewal.Exec(t.Context(), jobRenewIfLeasedSQL, []int64{r.token}, []time.Duration{tt.renewed})
			q.ok(err)
			answered := make(chan error, 1)
			go func() {
				granted, err := r.writeIntent(t.Context(), Effect{Key: "fx:a", Timeout: tt.timeout}, []byte("a"))
				if err == nil && !granted {
					err = errors.New("the lease is held, and the intent was refused")
				}
				answered <- err
			}()
			for waits := "0"; waits == "0"; {
				select {
				case err := <-answered:
					t.Fatalf("the intent did not wait for the renewal: %v", err)
				default:
				}
				waits = q.text(`SELECT count(*)::text FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`)
			}
			q.ok(renewal.Commit(t.Context()))
			q.ok(next(t, "the intent is answered", answered))
			got := q.text(`SELECT CASE WHEN lease_until - clock_timestamp() BETWEEN $1::interval - interval '1 minute' AND $1 THEN 'as wanted' ELSE (lease_until - clock_timestamp())::text END FROM jobs`, tt.want)
			if got != "as wanted" {
				t.Errorf("the lease lasts %s, want %s", got, tt.want)
			}
		})
	}
}
