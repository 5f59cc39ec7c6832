package planning_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/planning"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/dbtest"
)

type fixture struct {
	pool *pgxpool.Pool
	plan *planning.Service
	ch   editorial.Channel
	now  time.Time
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{pool: dbtest.New(t), now: time.Date(2026, 6, 1, 7, 0, 0, 0, time.UTC)} // a Monday
	f.ch = editorial.Channel{TimeZone: "UTC"}
	for i := range f.ch.Week {
		f.ch.Week[i] = []editorial.Clock{9 * 60, 18 * 60}
	}
	if err := f.pool.QueryRow(t.Context(), `INSERT INTO channels (chat_id, created_by) VALUES (-1001, 1) RETURNING id`).Scan(&f.ch.ID); err != nil {
		t.Fatal(err)
	}
	f.plan = planning.New(func() time.Time { return f.now })
	return f
}

func (f *fixture) next(ctx context.Context, draftID int64) (at time.Time, err error) {
	err = postgres.InTx(ctx, f.pool, func(tx pgx.Tx) error {
		at, err = f.plan.TakeNext(ctx, tx, f.ch, draftID, 1, time.Time{})
		return err
	})
	return at, err
}

func (f *fixture) at(ctx context.Context, draftID int64, at time.Time) error {
	return postgres.InTx(ctx, f.pool, func(tx pgx.Tx) error {
		_, err := f.plan.TakeAt(ctx, tx, f.ch, draftID, 1, at)
		return err
	})
}

func TestTwoDraftsNeverHoldOneSlot(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx := t.Context()
	const drafts = 24
	got := make([]time.Time, drafts)
	var wg sync.WaitGroup
	for i := range drafts {
		wg.Go(func() {
			var err error
			if got[i], err = f.next(ctx, int64(i+1)); err != nil {
				t.Errorf("draft %d: %v", i+1, err)
			}
		})
	}
	wg.Wait()
	seen := map[time.Time]bool{}
	for i, at := range got {
		if seen[at] {
			t.Errorf("draft %d: %s is held twice", i+1, at)
		}
		seen[at] = true
	}
	// Twelve days with two slots each: not one was left out.
	last := time.Date(2026, 6, 12, 18, 0, 0, 0, time.UTC)
	for at := range seen {
		if at.After(last) {
			t.Errorf("%s was taken while an earlier slot was free", at)
		}
	}
}

// TestASlotThatIsBeingTakenIsNotTakenAgain: the second approval comes while the first has not committed.
func TestASlotThatIsBeingTakenIsNotTakenAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx := t.Context()
	first, err := f.pool.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = first.Rollback(context.WithoutCancel(ctx)) }()
	held, err := f.plan.TakeNext(ctx, first, f.ch, 1, 1, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	var second time.Time
	done := make(chan error, 1)
	go func() {
		var err error
		second, err = f.next(ctx, 2)
		done <- err
	}()
	const waitingSQL = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
	for waits := 0; waits == 0 && len(done) == 0; {
		if err := f.pool.QueryRow(ctx, waitingSQL).Scan(&waits); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Commit(ctx); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || second.Equal(held) {
		t.Errorf("%v, %s is held twice", err, held)
	}
}

func TestTheCapHoldsAmongConcurrentApprovals(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.ch.DailyCap = 1
	ctx := t.Context()
	var mu sync.Mutex
	days := map[string]int{}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			at, err := f.next(ctx, int64(i+1))
			if err != nil {
				t.Errorf("draft %d: %v", i+1, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			days[at.Format(time.DateOnly)]++
		})
	}
	wg.Wait()
	for day, n := range days {
		if n != 1 {
			t.Errorf("%s has %d posts, the cap is 1", day, n)
		}
	}
}

func TestChosenTimes(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx := t.Context()
	at := f.now.Add(90 * time.Minute)
	if err := f.at(ctx, 1, at); err != nil {
		t.Fatal(err)
	}
	if err := f.at(ctx, 2, at); !errors.Is(err, planning.ErrSlotTaken) {
		t.Errorf("a held instant: got %v, want ErrSlotTaken", err)
	}
	if err := f.at(ctx, 2, f.now.Add(-time.Hour)); !errors.Is(err, planning.ErrPast) {
		t.Errorf("a time that is over: got %v, want ErrPast", err)
	}
	// A draft that moves lets go of what it held.
	if err := f.at(ctx, 1, at.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := f.at(ctx, 2, at); err != nil {
		t.Errorf("the slot that draft 1 left: %v", err)
	}
	slots, err := planning.Taken(ctx, f.pool, f.ch.ID, f.now, f.now.Add(24*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(len(slots), slots[0].DraftID, slots[1].DraftID); got != "2 2 1" {
		t.Errorf("the plan holds %s, want drafts 2 and 1", got)
	}
}

func TestAWeekWithoutSlotsSaysSo(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.ch.Week = editorial.Week{}
	if _, err := f.next(t.Context(), 1); !errors.Is(err, planning.ErrNoSlot) {
		t.Errorf("got %v, want ErrNoSlot", err)
	}
}

func TestThePlanShowsGapsAndHowLongItLasts(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx := t.Context()
	for id := range int64(3) {
		if _, err := f.next(ctx, id+1); err != nil {
			t.Fatal(err)
		}
	}
	chosen := time.Date(2026, 6, 3, 12, 0, 0, 0, time.UTC)
	if err := f.at(ctx, 9, chosen); err != nil {
		t.Fatal(err)
	}
	plan, err := f.plan.Plan(ctx, f.pool, f.ch, f.now, f.now.Add(72*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, p := range plan.Slots {
		got += fmt.Sprintf("%s %d %t\n", p.At.Format("02 15:04"), p.DraftID, p.Extra)
	}
	want := "01 09:00 1 false\n01 18:00 2 false\n02 09:00 3 false\n02 18:00 0 false\n03 09:00 0 false\n03 12:00 9 true\n03 18:00 0 false\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if want := time.Date(2026, 6, 2, 9, 0, 0, 0, time.UTC); !plan.LastsUntil.Equal(want) {
		t.Errorf("the queue lasts until %s, want %s", plan.LastsUntil, want)
	}
}
