package sources

import (
	"testing"
	"time"

	"github.com/postonce/postonce/internal/sources/decode"
)

func TestNextPollFollowsTheFormula(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)
	base := wish{interval: 30 * time.Minute, floor: 5 * time.Minute, ceiling: 6 * time.Hour}
	with := func(f func(*wish)) wish { w := base; f(&w); return w }
	for name, tc := range map[string]struct {
		w         wish
		low, high time.Duration
	}{
		"adaptive":                {base, 28 * time.Minute, time.Hour},
		"the feed's ttl":          {with(func(w *wish) { w.ttl = 2 * time.Hour }), 114 * time.Minute, 4 * time.Hour},
		"the server's max-age":    {with(func(w *wish) { w.maxAge = time.Hour }), 57 * time.Minute, 2 * time.Hour},
		"the ceiling":             {with(func(w *wish) { w.ttl = 100 * time.Hour }), 5 * time.Hour, 12 * time.Hour},
		"the floor":               {with(func(w *wish) { w.interval = time.Second }), 4 * time.Minute, 10 * time.Minute},
		"retry-after binds":       {with(func(w *wish) { w.retryAfter = 10 * time.Hour }), 10 * time.Hour, 10*time.Hour + 2*time.Minute},
		"retry-after is no sleep": {with(func(w *wish) { w.retryAfter = 10000 * time.Hour }), 24 * time.Hour, 25 * time.Hour},
		"failures double":         {with(func(w *wish) { w.failures = 3 }), 114 * time.Minute, 4 * time.Hour},
		"failures end at a day":   {with(func(w *wish) { w.failures = 60 }), 22 * time.Hour, 48 * time.Hour},
	} {
		for id := range int64(50) {
			if d := tc.w.next(now, id).Sub(now); d < tc.low || d > tc.high {
				t.Errorf("%s: source %d in %v, want %v to %v", name, id, d, tc.low, tc.high)
			}
		}
	}
	first := base.next(now, 7)
	if again := base.next(first.Add(3*time.Second), 7); again.Sub(first) > 31*time.Minute {
		t.Errorf("a source leaves its place on the grid: %v after %v", again, first)
	}
}

func TestSourcesAreSpreadOverTheirInterval(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)
	perSecond := map[time.Time]int{}
	for id := range int64(600) {
		perSecond[(wish{interval: 10 * time.Minute, ceiling: time.Hour}).next(now, id+1)]++
	}
	for at, n := range perSecond {
		if n > 3 {
			t.Errorf("%d polls at %v", n, at)
		}
	}
}

func TestRhythmFollowsTheSource(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)
	every := func(d, ago time.Duration) []decode.Entry {
		var es []decode.Entry
		for i := range 20 {
			es = append(es, decode.Entry{Published: now.Add(-ago - time.Duration(i)*d)})
		}
		return es
	}
	if got := rhythm(every(time.Hour, time.Minute), 0, time.Hour, now); got != 15*time.Minute {
		t.Errorf("hourly source: %v", got)
	}
	if got := rhythm(every(time.Hour, 30*24*time.Hour), 0, time.Hour, now); got < 24*time.Hour {
		t.Errorf("silent source: %v", got)
	}
	if got := rhythm(nil, 3, time.Hour, now); got != 30*time.Minute {
		t.Errorf("undated source with news: %v", got)
	}
}
