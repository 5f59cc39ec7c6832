package queue

import (
	"testing"
	"time"
)

// TestADueScheduleRunsTheLatestFireTimeOnce looks at a schedule of every ten minutes at several moments.
func TestADueScheduleRunsTheLatestFireTimeOnce(t *testing.T) {
	t.Parallel()
	clock := func(hour, minute int) time.Time { return time.Date(2037, 5, 1, hour, minute, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		catchUp   CatchUp
		last, now time.Time
		want      time.Time // zero: nothing is due
	}{
		"on time":                           {CatchUpLast, clock(9, 50), clock(10, 0), clock(10, 0)},
		"run already":                       {CatchUpLast, clock(10, 0), clock(10, 9), time.Time{}},
		"of many that were missed the last": {CatchUpLast, clock(4, 0), clock(10, 9), clock(10, 0)},
		"a weekday's rest is caught up":     {CatchUpLast, clock(9, 50).AddDate(0, 0, -7), clock(10, 9), clock(10, 0)},
		"none is caught up":                 {CatchUpNone, clock(4, 0), clock(10, 9), time.Time{}},
		"within the grace":                  {CatchUpNone, clock(4, 0), clock(10, 1), clock(10, 0)},
		"since is later than the fire time": {CatchUpLast, clock(10, 5), clock(10, 9), time.Time{}},
	} {
		d := dueSchedule{schedule: &schedule{when: Every(10 * time.Minute), catchUp: c.catchUp}, last: c.last, now: c.now}
		if at, due := d.due(); due == c.want.IsZero() || !at.Equal(c.want) {
			t.Errorf("%s: %s, %t, want %s", name, at, due, c.want)
		}
	}
}
