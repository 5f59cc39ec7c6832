package desk_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/desk"
)

func TestEachPersonHasARateOfHisOwn(t *testing.T) {
	t.Parallel()
	r := desk.NewRate(3, 10*time.Second)
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for i := range 3 {
		if wait := r.Take(ann, now); wait != 0 {
			t.Errorf("the %d. of three at once waits %s", i+1, wait)
		}
	}
	if wait := r.Take(ann, now); wait != 10*time.Second {
		t.Errorf("the fourth waits %s, want 10s", wait)
	}
	if wait := r.Take(stranger, now); wait != 0 {
		t.Errorf("another person waits %s", wait)
	}
	if wait := r.Take(ann, now.Add(10*time.Second)); wait != 0 {
		t.Errorf("after the wait that was named: %s", wait)
	}
}

func TestDraftingTooFastIsRefusedWithTheWait(t *testing.T) {
	t.Parallel()
	at := time.Now()
	b := newBundle(t, func(c *desk.Config) { c.Now = func() time.Time { return at } })
	var err error
	n := 0
	for ; n < 100 && err == nil; n++ {
		_, err = b.desk.OwnDraft(t.Context(), ann, b.channel, desk.OwnInput{Text: fmt.Sprint("Ferry ", n)})
	}
	if desk.CodeOf(err) != desk.CodeTooFast || n != 61 {
		t.Fatalf("draft %d: %v, want the 61st to be too fast", n, err)
	}
	if got := b.count(`SELECT count(*) FROM jobs WHERE kind = 'own'`); got != 60 {
		t.Errorf("%d drafts were asked for", got)
	}
}
