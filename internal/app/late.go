package app

import (
	"net/http"
	"sync/atomic"
)

// lateHandler serves what it was last given; before that, 503. It lets an
// address be taken before what answers on it is built.
type lateHandler struct {
	current atomic.Pointer[http.Handler]
}

func (l *lateHandler) set(h http.Handler) { l.current.Store(&h) }

// ServeHTTP implements http.Handler.
func (l *lateHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := l.current.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	http.Error(w, "starting", http.StatusServiceUnavailable)
}
