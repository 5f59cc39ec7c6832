package torture_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// world is the outside: it counts what really happened per key, answers, refuses, hangs and breaks.
type world struct {
	mu     sync.Mutex
	random *rand.Rand
	count  map[string]int     // guarded by mu
	chats  map[string][]int64 // numbers of the jobs whose request arrived, per chat; guarded by mu
	hang   time.Duration
}

func newWorld(seed uint64, hang time.Duration) *world {
	return &world{random: rand.New(rand.NewPCG(seed, 2)), count: map[string]int{}, chats: map[string][]int64{}, hang: hang}
}

// ServeHTTP performs the effect, or not, and answers, or not: every pair of the two occurs.
func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	key, chat := r.FormValue("key"), r.FormValue("chat")
	job, _ := strconv.ParseInt(r.FormValue("job"), 10, 64)
	w.mu.Lock()
	fate := w.random.Float64()
	performed := fate >= .08
	if performed {
		w.count[key]++
	}
	if chat != "" {
		w.chats[chat] = append(w.chats[chat], job)
	}
	w.mu.Unlock()
	switch {
	case fate < .04:
		http.Error(rw, "no", http.StatusBadRequest)
	case fate < .07:
		http.Error(rw, "slow down", http.StatusTooManyRequests)
	case fate < .08, fate > .985: // not performed, or performed; the connection breaks
		panic(http.ErrAbortHandler)
	case fate > .97:
		http.Error(rw, "internal", http.StatusInternalServerError)
	case fate > .96: // accepted and never answered
		select {
		case <-time.After(w.hang):
		case <-r.Context().Done():
		}
	default:
		rw.Header().Set("X-Id", fmt.Sprint("id-", key))
	}
}

// twice returns the keys of which the effect happened more than once.
func (w *world) twice() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var keys []string
	for key, n := range w.count {
		if n > 1 {
			keys = append(keys, fmt.Sprintf("%s (%d times)", key, n))
		}
	}
	return keys
}

func (w *world) times(key string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count[key]
}

// disorder returns the chats in which a job's request came after that of a later job. A job that was refused
// and tried again may ask twice; a later one must not come in between.
func (w *world) disorder() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var bad []string
	for chat, jobs := range w.chats {
		for i := 1; i < len(jobs); i++ {
			if jobs[i] < jobs[i-1] {
				bad = append(bad, fmt.Sprintf("chat %s: job %d after %d", chat, jobs[i], jobs[i-1]))
			}
		}
	}
	return bad
}
