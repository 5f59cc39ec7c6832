package desk

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rate lets each person do something a number of times at once and then again
// every so often. It counts in this process alone: several replicas allow a
// multiple, which still bounds what one person costs. Safe for concurrent use.
type Rate struct {
	every time.Duration
	burst int

	mu     sync.Mutex
	people map[int64]*rate.Limiter
}

// NewRate returns a Rate of burst at once and one more every so often.
func NewRate(burst int, every time.Duration) *Rate {
	return &Rate{every: every, burst: burst, people: map[int64]*rate.Limiter{}}
}

// mostRated is how many people are remembered before those who did nothing lately are forgotten.
const mostRated = 10_000

// Take counts one at a time and returns 0, or how long to wait; what is refused
// does not count.
func (r *Rate) Take(person int64, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.people) >= mostRated {
		r.forget(now)
	}
	l := r.people[person]
	if l == nil {
		l = rate.NewLimiter(rate.Every(r.every), r.burst)
		r.people[person] = l
	}
	if l.AllowN(now, 1) {
		return 0
	}
	missing := 1 - l.TokensAt(now)
	return max(time.Second, time.Duration(math.Ceil(missing*r.every.Seconds()))*time.Second)
}

func (r *Rate) forget(now time.Time) {
	for id, l := range r.people {
		if l.TokensAt(now) >= float64(r.burst) {
			delete(r.people, id)
		}
	}
}

// rates bound what asks the outside world or fills the database at one
// person's word.
type rates struct {
	sources, imports, drafts *Rate
}

func newRates() rates {
	return rates{
		sources: NewRate(60, 10*time.Second), // each reads an address
		imports: NewRate(10, 5*time.Minute),  // each may bring thousands
		drafts:  NewRate(60, 15*time.Second), // each may read a page and ask a model
	}
}

// slowly refuses what a person asked for too often, and says how long to wait.
func (d *Desk) slowly(r *Rate, by int64) error {
	if wait := r.Take(by, d.now()); wait > 0 {
		return &Error{Code: CodeTooFast, Args: map[string]any{"seconds": int(wait.Seconds())}}
	}
	return nil
}
