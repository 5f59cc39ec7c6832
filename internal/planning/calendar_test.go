package planning

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests know every zone wherever they run

	"pgregory.net/rapid"

	"github.com/postonce/postonce/internal/editorial"
)

// zones are all names of the IANA database on this machine, or a handful of
// awkward ones where there is none.
func zones(t *testing.T) []string {
	t.Helper()
	var out []string
	root := "/usr/share/zoneinfo"
	_ = filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what cannot be read is no zone
		}
		name, _ := filepath.Rel(root, p)
		if name[0] < 'A' || name[0] > 'Z' || strings.HasPrefix(name, "SystemV") {
			return nil
		}
		if _, err := time.LoadLocation(name); err == nil {
			out = append(out, name)
		}
		return nil
	})
	if len(out) < 300 {
		out = []string{
			"UTC", "Europe/Berlin", "Europe/Moscow", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo",
			"Pacific/Apia", "Africa/Casablanca", "America/Santiago", "Asia/Tehran", "Asia/Kathmandu", "Antarctica/Troll",
		}
	}
	return out
}

// TestSlotsHoldInEveryZone checks, for every zone and several years around
// its changes, what people rely on: slots come in order, none twice, none in
// quiet hours, each day has as many as planned (less those that a gap
// merged), each on the wall clock where it was put, or moved forward by a gap.
func TestSlotsHoldInEveryZone(t *testing.T) {
	t.Parallel()
	names := zones(t)
	week := editorial.Week{}
	for i := range week {
		week[i] = []editorial.Clock{0, 30, 90, 120, 135, 150, 165, 180, 210, 720, 1410, 1439}
	}
	for _, name := range names {
		loc, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, year := range []int{2011, 2026, 2027} {
			from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
			checkSlots(t, name, Calendar{Zone: loc, Week: week}, from, from.AddDate(1, 0, 0))
		}
	}
	t.Logf("%d zones", len(names))
}

func checkSlots(t *testing.T, zone string, c Calendar, from, to time.Time) {
	t.Helper()
	slots := c.Slots(from, to)
	perDay := map[string]int{}
	for i, at := range slots {
		if i > 0 && !at.After(slots[i-1]) {
			t.Fatalf("%s: %s is not after %s", zone, at, slots[i-1])
		}
		if at.Before(from) || !at.Before(to) {
			t.Fatalf("%s: %s is outside of what was asked for", zone, at)
		}
		local := at.In(c.Zone)
		clock := editorial.Clock(local.Hour()*60 + local.Minute())
		if !slices.Contains(c.Week[local.Weekday()], clock) && !afterGap(local) {
			t.Fatalf("%s: %s stands where no slot was planned", zone, local)
		}
		perDay[c.Day(at)]++
	}
	for day := from.Add(48 * time.Hour); day.Before(to.Add(-48 * time.Hour)); day = day.Add(24 * time.Hour) {
		local := day.In(c.Zone)
		want := len(c.Week[local.Weekday()])
		got := perDay[c.Day(local)]
		if got != want && !changes(c.Zone, local) { // a gap before midnight moves a slot into the next day
			t.Fatalf("%s: %s has %d slots, want %d", zone, c.Day(local), got, want)
		}
		if got == 0 {
			t.Fatalf("%s: %s has no slots at all", zone, c.Day(local))
		}
	}
}

// afterGap reports whether the clock was put forward within the day before t.
func afterGap(t time.Time) bool {
	_, now := t.Zone()
	_, before := t.Add(-4 * time.Hour).Zone()
	return now > before
}

// changes reports whether the offset changes within a day of t.
func changes(loc *time.Location, t time.Time) bool {
	_, a := t.Add(-36 * time.Hour).In(loc).Zone()
	_, b := t.Add(36 * time.Hour).In(loc).Zone()
	return a != b
}

func TestSlotsAreTheSameHoweverTheyAreAskedFor(t *testing.T) {
	t.Parallel()
	names := zones(t)
	rapid.Check(t, func(rt *rapid.T) {
		loc, err := time.LoadLocation(rapid.SampledFrom(names).Draw(rt, "zone"))
		if err != nil {
			rt.Skip()
		}
		var week editorial.Week
		for i := range week {
			day := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) editorial.Clock {
				return editorial.Clock(rapid.IntRange(0, 1439).Draw(rt, "clock"))
			}), 0, 4).Draw(rt, "day")
			slices.Sort(day)
			week[i] = slices.Compact(day)
		}
		c := Calendar{Zone: loc, Week: week, Quiet: editorial.Quiet{
			From: editorial.Clock(rapid.IntRange(0, 1439).Draw(rt, "quiet from")),
			To:   editorial.Clock(rapid.IntRange(0, 1439).Draw(rt, "quiet to")),
		}}
		from := time.Unix(rapid.Int64Range(1_735_000_000, 1_900_000_000).Draw(rt, "from"), 0)
		to := from.Add(time.Duration(rapid.IntRange(1, 40*24).Draw(rt, "hours")) * time.Hour)
		mid := from.Add(to.Sub(from) / time.Duration(rapid.IntRange(1, 9).Draw(rt, "cut")))
		whole := c.Slots(from, to)
		parts := append(c.Slots(from, mid), c.Slots(mid, to)...)
		if !slices.EqualFunc(whole, parts, time.Time.Equal) {
			rt.Fatalf("cut at %s: %v, want %v", mid, parts, whole)
		}
		for _, at := range whole {
			if c.quiet(at) {
				rt.Fatalf("%s is in quiet hours", at)
			}
		}
	})
}

func TestFreeSlotsKeepTheDailyCap(t *testing.T) {
	t.Parallel()
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	day := func(d, h int) time.Time { return time.Date(2026, 3, d, h, 0, 0, 0, loc) }
	var week editorial.Week
	for i := range week {
		week[i] = []editorial.Clock{9 * 60, 13 * 60, 18 * 60}
	}
	c := Calendar{Zone: loc, Week: week, Cap: 2}
	// Something went out at 22:00 the day before, and at 09:00 and a chosen 10:00 today.
	got := c.free(day(7, 12), day(9, 0), []time.Time{day(6, 22), day(7, 9), day(7, 10), day(8, 13)})
	want := []time.Time{day(8, 9), day(8, 18)}
	if !slices.EqualFunc(got, want, time.Time.Equal) {
		t.Errorf("got %v, want %v", got, want)
	}
}
