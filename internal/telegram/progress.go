package telegram

import (
	"context"
	"net/http/httptrace"
	"sync"
)

// progress records how far one request came. net/http calls the hooks from its
// own goroutines, also after RoundTrip returned, so everything is under mu.
type progress struct {
	mu        sync.Mutex
	connected bool // a connection was handed to a request
	wrote     int  // attempts whose writing ended well
	failed    int  // attempts whose writing ended in an error
	attempts  int
}

func (p *progress) trace(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.connected = true
			p.attempts++
		},
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if info.Err != nil {
				p.failed++
			} else {
				p.wrote++
			}
		},
	})
}

// certainlyNotSent is true when no attempt can have delivered the request: no
// connection came about (dial and TLS failures, a deadline before them), or
// each attempt's writing ended in an error. Bodies have a declared length, so a
// server that got only a part of one never runs it. A write that has not
// reported its end counts as sent.
func (p *progress) certainlyNotSent() (stage string, certain bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.connected:
		return "not connected", true
	case p.wrote == 0 && p.failed > 0 && p.failed == p.attempts:
		return "request not written", true
	}
	return "", false
}
