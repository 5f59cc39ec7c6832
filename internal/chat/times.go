package chat

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// spanWords is a span of time in the largest unit that fits.
func spanWords(t *turn, d time.Duration) string {
	if d < time.Minute {
		return t.Plain("span.seconds", map[string]any{"Count": int(d / time.Second)})
	}
	return minutesWords(t, int(d/time.Minute))
}

// parseTime reads a time as people write it, in the zone of a channel: "18:30"
// (the next one to come), "tomorrow 9:00" and "завтра 9:00", "31.12 23:00",
// "2026-12-31 23:00". days are the words for today and tomorrow in a further
// language. A time that a change to summer time skips moves forward.
func parseTime(s string, now time.Time, loc *time.Location, days ...string) (time.Time, error) {
	s = strings.Join(strings.Fields(strings.ToLower(s)), " ")
	wrong := &desk.Error{Code: "error.time", Args: map[string]any{"Value": shorten(s, 40)}}
	m := regexp.MustCompile(`^(?:(.+) )?(?:at |в )?(\d{1,2})[:.](\d{2})$`).FindStringSubmatch(s)
	if m == nil {
		return time.Time{}, wrong
	}
	h, _ := strconv.Atoi(m[2])
	minute, _ := strconv.Atoi(m[3])
	if h > 23 || minute > 59 {
		return time.Time{}, wrong
	}
	clock := editorial.Clock(h*60 + minute)
	day, named, ok := parseDay(strings.TrimSuffix(strings.TrimSuffix(m[1], " at"), " в"), now.In(loc), days)
	if !ok {
		return time.Time{}, wrong
	}
	at := clock.On(day, loc)
	if !named && !at.After(now) {
		at = clock.On(day.AddDate(0, 0, 1), loc)
	}
	return at, nil
}

// parseDay reads the part before the time; named is false if there is none.
// What it returns is noon of the day, which no change of the clocks moves.
func parseDay(s string, now time.Time, words []string) (day time.Time, named, ok bool) {
	noon := time.Date(now.Year(), now.Month(), now.Day(), 12, 0, 0, 0, now.Location())
	s = strings.Trim(s, " ,")
	if n := slices.IndexFunc(words, func(w string) bool { return strings.EqualFold(w, s) }); n >= 0 {
		return noon.AddDate(0, 0, n), true, true
	}
	switch s {
	case "", "at", "в":
		return noon, false, true
	case "today", "сегодня":
		return noon, true, true
	case "tomorrow", "завтра":
		return noon.AddDate(0, 0, 1), true, true
	case "послезавтра":
		return noon.AddDate(0, 0, 2), true, true
	}
	for _, layout := range []string{"2006-01-02", "2.1.2006", "2.1"} {
		d, err := time.ParseInLocation(layout, s, now.Location())
		if err != nil {
			continue
		}
		year := d.Year()
		if year == 0 {
			year = now.Year()
			if d.Month() < now.Month() || d.Month() == now.Month() && d.Day() < now.Day() {
				year++
			}
		}
		return time.Date(year, d.Month(), d.Day(), 12, 0, 0, 0, now.Location()), true, true
	}
	return time.Time{}, false, false
}
