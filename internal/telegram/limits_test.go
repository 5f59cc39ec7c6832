package telegram_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/postonce/postonce/internal/telegram"
)

// spread sends n calls to one chat at once and returns when each had its turn.
func spread(t *testing.T, l *telegram.Limits, chat string, lane telegram.Lane, n int) (turns []time.Duration, refused int) {
	t.Helper()
	began := time.Now()
	var mu sync.Mutex
	var wait sync.WaitGroup
	for range n {
		wait.Go(func() {
			_, err := l.Wait(t.Context(), chat, lane)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refused++
				return
			}
			turns = append(turns, time.Since(began))
		})
	}
	wait.Wait()
	return turns, refused
}

func TestAChatGetsOneASecondAfterABurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns, refused := spread(t, telegram.NewLimits(nil), "42", telegram.Cards, 12)
		// Three at once, then one a second for the five seconds that a call waits at most.
		if len(turns) != 8 || refused != 4 {
			t.Errorf("%d had a turn, %d were refused: %v", len(turns), refused, turns)
		}
		late := 0
		for _, d := range turns {
			if d > 500*time.Millisecond {
				late++
			}
		}
		if late != 5 {
			t.Errorf("%d of them had to wait, want 5: %v", late, turns)
		}
	})
}

// TestAFastTapperDoesNotWait: a card edited for each of ten taps within five
// seconds, and the cards that come by themselves give way.
func TestAFastTapperDoesNotWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := telegram.NewLimits(nil)
		for range 10 {
			began := time.Now()
			if _, err := l.Wait(t.Context(), "42", telegram.Taps); err != nil || time.Since(began) > 0 {
				t.Errorf("a tap waited %s, %v", time.Since(began), err)
			}
			time.Sleep(500 * time.Millisecond)
		}
		began := time.Now()
		if _, err := l.Wait(t.Context(), "42", telegram.Cards); err != nil || time.Since(began) < time.Second {
			t.Errorf("a card did not give way: %s, %v", time.Since(began), err)
		}
		// A 429 takes the long burst away.
		time.Sleep(time.Minute)
		l.Learn("42", time.Second)
		time.Sleep(2 * time.Second)
		began = time.Now()
		for range 5 {
			_, _ = l.Wait(t.Context(), "42", telegram.Taps)
		}
		if time.Since(began) < time.Second {
			t.Errorf("five taps after a 429 took %s", time.Since(began))
		}
	})
}

func TestAChannelGetsTwentyAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, sent := telegram.NewLimits(nil), 0
		for end := time.Now().Add(time.Minute); time.Now().Before(end); { // as fast as it lets us
			if _, err := l.Wait(t.Context(), "-1001", telegram.Posts); err == nil {
				sent++
			}
		}
		if sent < 20 || sent > 27 {
			t.Errorf("%d in a minute and its burst, want 20 to 27", sent)
		}
	})
}

func TestTapsGoFirstWhenTheBotIsBusy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := telegram.NewLimits(nil)
		for i := range 22 { // cards to many people use up what cards may use
			if _, err := l.Wait(t.Context(), string(rune('a'+i)), telegram.Cards); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if _, err := l.Wait(t.Context(), "tap", telegram.Taps); err != nil || time.Since(began) > time.Millisecond {
			t.Errorf("a tap waited %s, %v", time.Since(began), err)
		}
		if _, err := l.Wait(t.Context(), "card", telegram.Cards); err != nil || time.Since(began) < 20*time.Millisecond {
			t.Errorf("a card did not wait: %s, %v", time.Since(began), err)
		}
	})
}

func TestA429IsLearnedAndForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := telegram.NewLimits(nil)
		l.Learn("-1001", 20*time.Second)
		if after, err := l.Wait(t.Context(), "-1001", telegram.Posts); err == nil || after < 19*time.Second {
			t.Errorf("the chat is open: %s %v", after, err)
		}
		if _, err := l.Wait(t.Context(), "-1002", telegram.Posts); err != nil {
			t.Errorf("another chat is closed: %v", err)
		}
		time.Sleep(21 * time.Second)
		if _, err := l.Wait(t.Context(), "-1001", telegram.Posts); err != nil {
			t.Errorf("the chat stays closed: %v", err)
		}
		if l.ClosedFor("-1001") != 0 {
			t.Error("the chat is said to be closed")
		}
	})
}
