package sources

import (
	"math"
	"sort"
	"sync"
	"time"

	"github.com/postonce/postonce/internal/sources/decode"
)

const (
	// maxRetryAfter bounds what a server may ask for: a source must not fall
	// asleep for ten years.
	maxRetryAfter = 24 * time.Hour
	maxBackoff    = 24 * time.Hour
	// politeFloor holds for servers that cannot answer "not modified": some
	// ban clients after 96 full answers a day.
	politeFloor = 15 * time.Minute
	// validatorsLast is how long a server's validators are believed: a clock
	// set wrong can make it answer "not modified" for ever.
	validatorsLast = 8 * 24 * time.Hour
	// longOutage makes the next document a baseline.
	longOutage = 4 * 24 * time.Hour
)

// wish is what the schedule of a source depends on.
type wish struct {
	interval   time.Duration // adaptive
	floor      time.Duration
	ceiling    time.Duration
	ttl        time.Duration // the feed's
	maxAge     time.Duration // the server's
	retryAfter time.Duration // the server's, binding
	failures   int
}

// next returns when a source is due again: clamp(max(adaptive, ttl, max-age),
// floor, ceiling), doubled per failure up to a day, never before a
// Retry-After. Sources are spread over their interval by the golden ratio of
// their number, which keeps any count of them evenly apart.
func (w wish) next(now time.Time, id int64) time.Time {
	d := min(max(w.interval, w.ttl, w.maxAge, w.floor), max(w.ceiling, w.floor))
	if w.failures > 0 {
		d = min(max(d, time.Minute)<<min(w.failures-1, 12), maxBackoff)
	}
	if ra := min(w.retryAfter, maxRetryAfter); ra > 0 {
		// Binding, with a little more so that not all come back at once.
		return ceilSecond(now.Add(max(ra, d) + time.Duration(phase(id)*float64(min(ra/10, time.Minute)))))
	}
	// The place of this source on the grid of its interval.
	offset := time.Duration(phase(id) * float64(d))
	earliest := now.Add(d - d/20)
	n := math.Ceil(float64(earliest.Sub(time.Unix(0, 0))-offset) / float64(d))
	return ceilSecond(time.Unix(0, 0).Add(time.Duration(n)*d + offset).In(now.Location()))
}

func phase(id int64) float64 { _, f := math.Modf(float64(id) * math.Phi); return f }

func ceilSecond(t time.Time) time.Time {
	if r := t.Truncate(time.Second); !r.Equal(t) {
		return r.Add(time.Second)
	}
	return t
}

// levels are the intervals that are used, so that a source keeps its place on
// the grid while its rhythm changes a little.
func levels() []time.Duration {
	return []time.Duration{
		5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute, 45 * time.Minute,
		time.Hour, 90 * time.Minute, 2 * time.Hour, 3 * time.Hour, 4 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
	}
}

func level(d time.Duration) time.Duration {
	if d < 5*time.Minute {
		return d
	}
	best := d
	for _, l := range levels() {
		if l <= d {
			best = l
		}
	}
	return best
}

// rhythm estimates the interval from what the source publishes: a quarter of
// its usual gap, longer the longer it is silent. Undated entries leave it to
// what polls bring: shorter after news, longer after none.
func rhythm(entries []decode.Entry, fresh int, before time.Duration, now time.Time) time.Duration {
	var at []time.Time
	for _, e := range entries {
		if !e.Published.IsZero() && e.Published.Before(now) {
			at = append(at, e.Published)
		}
	}
	sort.Slice(at, func(i, j int) bool { return at[i].After(at[j]) })
	at = at[:min(len(at), 20)]
	if len(at) < 3 {
		if fresh > 0 {
			return before / 2
		}
		return before * 5 / 4
	}
	gap := at[0].Sub(at[len(at)-1]) / time.Duration(len(at)-1)
	gap = max(gap, now.Sub(at[0])/2)
	return gap / 4
}

// outage notices that our own network is down: when nearly every host fails
// at once, the failure is nobody's.
type outage struct {
	mu   sync.Mutex
	last []verdict // guarded by mu; the last 20
}

type verdict struct {
	host  string
	at    time.Time
	local bool
}

// saw records a poll and reports whether an outage is on.
func (o *outage) saw(host string, local bool, at time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := o.last[:0]
	for _, v := range o.last {
		if v.host != host && at.Sub(v.at) < 3*time.Minute {
			kept = append(kept, v)
		}
	}
	o.last = append(kept, verdict{host, at, local})
	if len(o.last) > 20 {
		o.last = append([]verdict(nil), o.last[len(o.last)-20:]...)
	}
	bad := 0
	for _, v := range o.last {
		if v.local {
			bad++
		}
	}
	return local && len(o.last) >= 5 && 5*bad > 4*len(o.last)
}
