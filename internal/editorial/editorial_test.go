package editorial_test

import (
	"encoding/json"
	"testing"
	"time"
	_ "time/tzdata" // the tests know every zone wherever they run

	"github.com/google/go-cmp/cmp"

	"github.com/postonce/postonce/internal/editorial"
)

func TestClockOverSummerTime(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, zone, day, clock, want string }{
		{"an ordinary day", "Europe/Berlin", "2026-06-01", "02:30", "2026-06-01T02:30:00+02:00"},
		{"a skipped time moves forward", "Europe/Berlin", "2026-03-29", "02:30", "2026-03-29T03:30:00+02:00"},
		{"a doubled time is its first", "Europe/Berlin", "2026-10-25", "02:30", "2026-10-25T02:30:00+02:00"},
		{"the hour after a doubled one", "Europe/Berlin", "2026-10-25", "03:30", "2026-10-25T03:30:00+01:00"},
		{"a zone without summer time", "Europe/Moscow", "2026-03-29", "02:30", "2026-03-29T02:30:00+03:00"},
		{"half an hour of summer time", "Australia/Lord_Howe", "2026-10-04", "02:15", "2026-10-04T02:45:00+11:00"},
		{"a gap at midnight", "Africa/Cairo", "2026-04-24", "00:10", "2026-04-24T01:10:00+03:00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			loc, err := time.LoadLocation(tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			day, err := time.ParseInLocation("2006-01-02 15", tt.day+" 12", loc)
			if err != nil {
				t.Fatal(err)
			}
			c, err := editorial.ParseClock(tt.clock)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.On(day, loc).Format(time.RFC3339); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestWeekKeepsItsTimesThroughJSON(t *testing.T) {
	t.Parallel()
	var w editorial.Week
	if err := json.Unmarshal([]byte(`{"mon":["18:00","09:00","09:00"],"sun":[]}`), &w); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]editorial.Clock{540, 1080}, w[time.Monday]); diff != "" {
		t.Error(diff)
	}
	b, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	var again editorial.Week
	if err := json.Unmarshal(b, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(w[1], again[1]); diff != "" {
		t.Error(diff)
	}
	if err := json.Unmarshal([]byte(`{"mon":["25:00"]}`), &w); err == nil {
		t.Error("25:00 was taken for a time of day")
	}
}

func TestRolesReachDownwards(t *testing.T) {
	t.Parallel()
	if !editorial.Owner.May(editorial.Editor) || editorial.Viewer.May(editorial.Editor) || editorial.Role("").May(editorial.Viewer) {
		t.Error("roles do not reach as they should")
	}
}

func TestQuietHoursReachOverMidnight(t *testing.T) {
	t.Parallel()
	q := editorial.Quiet{From: 23 * 60, To: 7 * 60}
	for c, want := range map[editorial.Clock]bool{22*60 + 59: false, 23 * 60: true, 0: true, 7*60 - 1: true, 7 * 60: false} {
		if q.Covers(c) != want {
			t.Errorf("%s: %t, want %t", c, !want, want)
		}
	}
}
