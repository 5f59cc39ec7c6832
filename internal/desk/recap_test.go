package desk

import (
	"testing"
	"time"
	_ "time/tzdata" // the tests know every zone wherever they run

	"pgregory.net/rapid"

	"github.com/postonce/postonce/internal/editorial"
)

// TestRecapsTileTheDays looks at the clock every five minutes around days on
// which zones change: each local day has one recap, at most once due by its
// key, and each begins where the one before ended.
func TestRecapsTileTheDays(t *testing.T) {
	t.Parallel()
	zones := []string{
		"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Pacific/Kiritimati",
		"America/Santiago", "Asia/Tehran", "Antarctica/Troll", "Asia/Beirut", "America/Havana",
	}
	rapid.Check(t, func(rt *rapid.T) {
		ch := editorial.Channel{
			ID: 7, TimeZone: rapid.SampledFrom(zones).Draw(rt, "zone"),
			Quiet: editorial.Quiet{From: editorial.Clock(rapid.IntRange(0, 1439).Draw(rt, "from")), To: editorial.Clock(rapid.IntRange(0, 1439).Draw(rt, "to"))},
		}
		now := time.Unix(rapid.Int64Range(1_760_000_000, 1_900_000_000).Draw(rt, "now"), 0)
		var seen []recapArgs
		for end := now.Add(5 * 24 * time.Hour); now.Before(end); now = now.Add(planEvery) {
			a, due := recapDue(ch, now)
			if !due {
				continue
			}
			if now.Before(a.Until) {
				rt.Fatalf("at %s the recap until %s is told", now, a.Until)
			}
			if len(seen) == 0 || seen[len(seen)-1].Date != a.Date {
				seen = append(seen, a)
			}
		}
		for i := 1; i < len(seen); i++ {
			if !seen[i].Since.Equal(seen[i-1].Until) || seen[i].Date <= seen[i-1].Date {
				rt.Fatalf("%+v follows %+v", seen[i], seen[i-1])
			}
		}
		if len(seen) < 5 {
			rt.Fatalf("only %d recaps in five days", len(seen))
		}
	})
}

func TestListsNeverFlood(t *testing.T) {
	t.Parallel()
	perSource := map[string]int{baselineSome: 3, baselineLatest: 1, baselineNone: 0}
	for _, n := range []int{1, 2, 3, 4, 5, 10, 300} {
		cards := 0
		for i := range n {
			cards += perSource[listBaseline(n, i)]
		}
		if cards < 3 || cards > 5 {
			t.Errorf("a list of %d gives %d first drafts, want 3 to 5", n, cards)
		}
	}
}
