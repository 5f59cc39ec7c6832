package editorial

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Clock is a wall-clock time of day: minutes after midnight.
type Clock int

// ParseClock reads HH:MM.
func ParseClock(s string) (Clock, error) {
	t, err := time.Parse("15:04", s)
	if err != nil {
		return 0, fmt.Errorf("%q is no time of day: want HH:MM, such as 09:30", s)
	}
	return Clock(t.Hour()*60 + t.Minute()), nil
}

// String is HH:MM.
func (c Clock) String() string { return fmt.Sprintf("%02d:%02d", int(c)/60, int(c)%60) }

// On is the instant of this wall-clock time on the day of t in loc. A time
// that a change to summer time skips moves forward by the width of the gap; one
// that occurs twice means its first occurrence.
func (c Clock) On(t time.Time, loc *time.Location) time.Time {
	y, m, d := t.In(loc).Date()
	at := time.Date(y, m, d, int(c)/60, int(c)%60, 0, 0, loc)
	// time.Date does not say which of two it picks, nor which side of a gap: ask both offsets.
	_, before := at.Add(-24 * time.Hour).Zone()
	_, after := at.Add(24 * time.Hour).Zone()
	if before == after {
		return at
	}
	wall := time.Date(y, m, d, int(c)/60, int(c)%60, 0, 0, time.UTC)
	first := wall.Add(-time.Duration(max(before, after)) * time.Second).In(loc)
	if sameWall(first, wall) {
		return first
	}
	second := wall.Add(-time.Duration(min(before, after)) * time.Second).In(loc)
	if sameWall(second, wall) {
		return second
	}
	return wall.Add(-time.Duration(before) * time.Second).In(loc)
}

func sameWall(t, wall time.Time) bool {
	return t.Hour() == wall.Hour() && t.Minute() == wall.Minute() && t.Day() == wall.Day()
}

// Week is the plan of a channel: the times of its slots per weekday.
type Week [7][]Clock // index: time.Weekday

func weekdays() [7]string {
	return [7]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}
}

// Empty reports whether no slot is planned at all.
func (w Week) Empty() bool {
	for _, day := range w {
		if len(day) > 0 {
			return false
		}
	}
	return true
}

// MarshalJSON writes {"mon":["09:00", …], …}.
func (w Week) MarshalJSON() ([]byte, error) {
	out := make(map[string][]string, len(w))
	for i, name := range weekdays() {
		out[name] = make([]string, len(w[i]))
		for j, c := range w[i] {
			out[name][j] = c.String()
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes, sorts each day and drops doubles.
func (w *Week) UnmarshalJSON(b []byte) error {
	var in map[string][]string
	if err := json.Unmarshal(b, &in); err != nil {
		return fmt.Errorf("week: %w", err)
	}
	*w = Week{}
	for i, name := range weekdays() {
		for _, s := range in[name] {
			c, err := ParseClock(s)
			if err != nil {
				return err
			}
			w[i] = append(w[i], c)
		}
		slices.Sort(w[i])
		w[i] = slices.Compact(w[i])
	}
	return nil
}

// Quiet are hours in which nothing is published; From may be later than To
// (over midnight). Both equal: none.
type Quiet struct{ From, To Clock }

// Covers reports whether c falls into the quiet hours: From included, To not.
func (q Quiet) Covers(c Clock) bool {
	if q.From <= q.To {
		return c >= q.From && c < q.To
	}
	return c >= q.From || c < q.To
}
