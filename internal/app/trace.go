package app

import (
	"context"
	"crypto/rand"
	"net/http"
	"regexp"
	"time"

	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/queue"
)

// traced gives each request of the API a number, which its answer, its log line
// and every job that follows from it carry. A proxy may bring one of its own.
func traced(next http.Handler, log zerolog.Logger) http.Handler {
	sane := regexp.MustCompile(`^[A-Za-z0-9._-]{8,64}$`)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if !sane.MatchString(id) {
			id = rand.Text()[:16]
		}
		w.Header().Set("X-Request-Id", id)
		began, seen := time.Now(), &seenStatus{ResponseWriter: w, status: http.StatusOK}
		var person int64
		ctx := context.WithValue(r.Context(), personKey{}, &person)
		next.ServeHTTP(seen, r.WithContext(queue.WithOrigin(ctx, queue.Origin{RequestID: id})))
		level := zerolog.InfoLevel
		if r.Method == http.MethodGet {
			level = zerolog.DebugLevel // pages read all the time
		}
		log.WithLevel(level).Str("request", id).Str("method", r.Method).Str("path", r.URL.Path).Int64("person", person).
			Int("status", seen.status).Dur("took", time.Since(began)).Msg("request")
	})
}

type personKey struct{}

// asPerson marks what follows from a request as a person's.
func asPerson(ctx context.Context, person int64) context.Context {
	if p, ok := ctx.Value(personKey{}).(*int64); ok {
		*p = person
	}
	o := queue.OriginFrom(ctx)
	o.PersonID = person
	return queue.WithOrigin(ctx, o)
}

// seenStatus remembers what was answered.
type seenStatus struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (s *seenStatus) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap lets an http.ResponseController reach what flushes.
func (s *seenStatus) Unwrap() http.ResponseWriter { return s.ResponseWriter }
