// Package httpd serves the program's two HTTP faces: the public one (health,
// Mini App, webhook) and the private one for operators (metrics, pprof), each
// on an address of its own so that the second is never behind the first. It
// knows no feature: what it serves is handed to it.
package httpd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"
)

// Check is one thing that has to hold before the process takes traffic.
type Check struct {
	Name string
	Run  func(ctx context.Context) error
}

// Public is what the public face serves; a nil handler is not mounted.
type Public struct {
	Checks  []Check
	App     http.Handler // under /app/
	API     http.Handler // under /api/v1/
	Webhook http.Handler // POST /telegram/webhook
	Rest    http.Handler // everything else
}

const checkTimeout = 3 * time.Second

// Handler builds the public face.
func (p Public) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	})
	mux.HandleFunc("GET /readyz", p.ready)
	if p.App != nil {
		mux.Handle("/app/", p.App)
		mux.Handle("GET /app", http.RedirectHandler("/app/", http.StatusMovedPermanently))
	}
	if p.API != nil {
		mux.Handle("/api/v1/", p.API)
	}
	if p.Webhook != nil {
		mux.Handle("POST /telegram/webhook", p.Webhook)
	}
	if p.Rest != nil {
		mux.Handle("/", p.Rest)
	}
	return mux
}

// ready runs every check and answers 200 when all hold, 503 otherwise, with a
// line for each. The lines name no address and no secret.
func (p Public) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
	defer cancel()
	status, lines := http.StatusOK, map[string]string{}
	for _, c := range p.Checks {
		lines[c.Name] = "ok"
		if err := c.Run(ctx); err != nil {
			status, lines[c.Name] = http.StatusServiceUnavailable, err.Error()
		}
	}
	writeJSON(w, status, lines)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the reader went away: nobody to tell
}

// Ops builds the private face: /metrics of reg, and pprof.
func Ops(reg prometheus.Gatherer) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// Server is one listening face.
type Server struct {
	server *http.Server
	listen net.Listener
	log    zerolog.Logger
	done   chan struct{} // closed when serving ended; nil before it began
}

// Listen takes the address at once, so that a busy port is an error of the
// start, and serves from the moment that Serve is called. A host name means the
// one of its addresses that this machine has.
func Listen(ctx context.Context, addr string, h http.Handler, log zerolog.Logger) (*Server, error) {
	own, err := ownAddress(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", own)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return &Server{
		server: &http.Server{
			Handler:           h,
			ReadHeaderTimeout: 10 * time.Second,
			ReadTimeout:       60 * time.Second,
			IdleTimeout:       2 * time.Minute,
			MaxHeaderBytes:    64 << 10,
			// WriteTimeout stays off: event streams and profiles are long; slow readers are bounded by IdleTimeout and TCP.
		},
		listen: l,
		log:    log,
	}, nil
}

// ownAddress puts an address of this machine for a host name. A name may stand
// for several machines, as that of a service with replicas does; net would take
// the first of its addresses, whosever it is.
func ownAddress(ctx context.Context, addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || host == "" {
		return addr, nil //nolint:nilerr // Listen says what is wrong with it
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return addr, nil
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return "", err
	}
	ours, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(found, func(a, b netip.Addr) int { return a.Unmap().BitLen() - b.Unmap().BitLen() }) // IPv4 first, as net does
	for _, ip := range found {
		for _, a := range ours {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip.Unmap().AsSlice()) {
				return net.JoinHostPort(ip.Unmap().String(), port), nil
			}
		}
	}
	return "", fmt.Errorf("%s stands for %v, none of which is an address of this machine", host, found)
}

// Addr is the address that was taken, with the port that the system chose for :0.
func (s *Server) Addr() string { return s.listen.Addr().String() }

// Serving reports whether Serve was called.
func (s *Server) Serving() bool { return s.done != nil }

// Serve answers in the background until Stop. Call it once.
func (s *Server) Serve() {
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		if err := s.server.Serve(s.listen); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error().Err(err).Str("addr", s.Addr()).Msg("the HTTP server ended")
		}
	}()
}

// Stop lets running requests finish until ctx ends, then closes them.
func (s *Server) Stop(ctx context.Context) {
	if s.done == nil {
		s.Close()
		return
	}
	if err := s.server.Shutdown(ctx); err != nil {
		_ = s.server.Close()
	}
	<-s.done
}

// Close gives the address back without having served.
func (s *Server) Close() { _ = s.listen.Close() }
