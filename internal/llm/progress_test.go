package llm

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"testing"
	"time"
)

// wire is a transport that ends every request with an error, after the steps that it was told to report.
type wire func(*httptrace.ClientTrace)

func (w wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w(httptrace.ContextClientTrace(r.Context()))
	return nil, context.DeadlineExceeded
}

// TestOnlyAWriteThatFailedWasNotSent ends calls at each step: as long as nobody says that the request was not
// written, a server may have it.
func TestOnlyAWriteThatFailedWasNotSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps wire
		want  Fault
	}{
		"no connection": {func(*httptrace.ClientTrace) {}, Unreachable},
		"being written": {func(h *httptrace.ClientTrace) { h.GotConn(httptrace.GotConnInfo{}) }, Unknown},
		"written": {func(h *httptrace.ClientTrace) {
			h.GotConn(httptrace.GotConnInfo{})
			h.WroteRequest(httptrace.WroteRequestInfo{})
		}, Unknown},
		"not written": {func(h *httptrace.ClientTrace) {
			h.GotConn(httptrace.GotConnInfo{})
			h.WroteRequest(httptrace.WroteRequestInfo{Err: errors.New("broken pipe")})
		}, Unreachable},
	} {
		if _, err := call(t, New(Config{BaseURL: "http://model.test", Model: "m", Transport: c.steps}), time.Minute); err == nil || err.Fault != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
