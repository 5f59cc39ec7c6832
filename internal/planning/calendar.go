package planning

import (
	"fmt"
	"slices"
	"time"

	"github.com/postonce/postonce/internal/editorial"
)

// Calendar is the plan of a channel as pure arithmetic.
type Calendar struct {
	Zone  *time.Location
	Week  editorial.Week
	Quiet editorial.Quiet
	Cap   int // posts per local day; 0: none
}

// CalendarOf reads a channel's settings. A zone that this machine does not know
// is an error: guessing would publish at the wrong hour.
func CalendarOf(ch editorial.Channel) (Calendar, error) {
	loc, err := time.LoadLocation(ch.TimeZone)
	if err != nil {
		return Calendar{}, fmt.Errorf("channel %d: %w", ch.ID, err)
	}
	return Calendar{Zone: loc, Week: ch.Week, Quiet: ch.Quiet, Cap: ch.DailyCap}, nil
}

// Slots returns the instants of the week's slots in [from, to), in order, each
// once: a change to summer time may push two onto one instant, and one that
// occurs twice is its first occurrence. Slots in quiet hours are left out.
func (c Calendar) Slots(from, to time.Time) []time.Time {
	var out []time.Time
	if !from.Before(to) || c.Week.Empty() {
		return nil
	}
	// A slot may lie outside of its own local day's 24 hours by the width of a gap.
	for day := c.noon(from, -1); ; day = c.noon(day, 1) {
		for _, clock := range c.Week[day.In(c.Zone).Weekday()] {
			at := clock.On(day, c.Zone)
			if !at.Before(from) && at.Before(to) && !c.quiet(at) {
				out = append(out, at)
			}
		}
		if day.After(to.Add(24 * time.Hour)) {
			break
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return slices.CompactFunc(out, time.Time.Equal)
}

// noon is midday of the local day that lies n days after that of t: midday
// exists on all days but those that a zone skipped whole.
func (c Calendar) noon(t time.Time, n int) time.Time {
	y, m, d := t.In(c.Zone).Date()
	next := time.Date(y, m, d+n, 12, 0, 0, 0, c.Zone)
	if n > 0 && !next.After(t) { // Apia had no 30 December 2011
		next = next.Add(24 * time.Hour)
	}
	return next
}

func (c Calendar) quiet(at time.Time) bool {
	local := at.In(c.Zone)
	return c.Quiet.Covers(editorial.Clock(local.Hour()*60 + local.Minute()))
}

// Day names the local day of an instant, as YYYY-MM-DD: what the daily cap counts by.
func (c Calendar) Day(at time.Time) string { return at.In(c.Zone).Format(time.DateOnly) }

// Midnight is the first instant of the local day of at.
func (c Calendar) Midnight(at time.Time) time.Time { return editorial.Clock(0).On(at, c.Zone) }

// free returns, in order, the slots in [from, to) that nobody holds and that
// the daily cap leaves; taken are all instants held, those of today before
// from included.
func (c Calendar) free(from, to time.Time, taken []time.Time) []time.Time {
	held := make(map[int64]bool, len(taken))
	perDay := map[string]int{}
	for _, t := range taken {
		held[t.UnixMicro()] = true
		perDay[c.Day(t)]++
	}
	var out []time.Time
	for _, at := range c.Slots(from, to) {
		if held[at.UnixMicro()] || (c.Cap > 0 && perDay[c.Day(at)] >= c.Cap) {
			continue
		}
		out = append(out, at)
	}
	return out
}
