package queue

import (
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// strangeAgain is how often jobs of one kind that this binary does not know are warned of.
const strangeAgain = time.Hour

// strangers are the kinds that this binary does not know: no claim takes their jobs, so that they wait for a process
// that does. Most stand in job_kinds; those of a program that only enqueues are met.
type strangers struct {
	mu    sync.Mutex
	names []string             // never nil after first use, replaced whole; guarded by mu
	told  map[string]time.Time // when each was last warned of; guarded by mu
}

// kinds returns the list itself; callers must not change it.
func (s *strangers) kinds() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names = []string{} // NULL would shut every kind out
	}
	return s.names
}

// listed sets the kinds that job_kinds has and this binary does not. Those that were met stay.
func (s *strangers) listed(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.told {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	s.names = names
}

// met is told of claimed jobs that nobody here can work, and warns of each kind once an hour.
func (s *strangers) met(log zerolog.Logger, runs []*run, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range runs {
		if last, known := s.told[r.kind]; known && now.Sub(last) < strangeAgain {
			continue
		}
		if s.told == nil {
			s.told = map[string]time.Time{}
		}
		s.told[r.kind] = now
		if !slices.Contains(s.names, r.kind) {
			s.names = append(slices.Clone(s.names), r.kind)
		}
		log.Warn().Str("kind", r.kind).Int64("job", r.id).Msg("this binary does not know a kind of jobs and leaves them in the queue: start the version that has it (an older or a newer one), it will work them")
	}
}
