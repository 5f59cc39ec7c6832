package miniapp

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/postgres"
)

// Config is what a Server needs.
type Config struct {
	Desk   Desk
	Pool   postgres.Querier // for charts and stamps: reads only
	Token  string           // the bot's: it proves Telegram's data and signs the sessions
	Now    func() time.Time
	Logger zerolog.Logger
	// As marks what follows from a request as a person's; nil marks nothing.
	As func(ctx context.Context, person int64) context.Context
	// Billing is nil with BILLING=off.
	Billing Billing
	// InviteLink makes the address that carries an invitation's token to the bot.
	InviteLink func(token string) string
}

// Server answers the page and its API. It is safe for concurrent use.
type Server struct {
	cfg      Config
	sessions sessions
	stamps   stamps
	rate     *desk.Rate
	assets   *assets
	advice   advice
	streams  streams
	closed   chan struct{}
	once     sync.Once
}

// New returns a Server.
func New(cfg Config) (*Server, error) {
	a, err := loadAssets()
	if err != nil {
		return nil, err
	}
	if cfg.InviteLink == nil {
		cfg.InviteLink = func(token string) string { return token }
	}
	say, err := readAdvice()
	if err != nil {
		return nil, err
	}
	return &Server{
		cfg: cfg, sessions: newSessions(cfg.Token, cfg.Now), stamps: stamps{pool: cfg.Pool, now: cfg.Now, known: map[int64]*stamp{}},
		assets: a, advice: say, streams: streams{open: map[int64]int{}}, closed: make(chan struct{}), rate: desk.NewRate(300, 50*time.Millisecond),
	}, nil
}

// Close ends the open event streams, so that a stopping process need not wait for them.
func (s *Server) Close() { s.once.Do(func() { close(s.closed) }) }

// Page serves /app/.
func (s *Server) Page() http.Handler { return s.assets }

// API serves /api/v1/.
func (s *Server) API() http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		mux.Handle(r.method+" "+prefix+r.path, s.endpoint(r))
	}
	mux.HandleFunc(prefix, func(w http.ResponseWriter, r *http.Request) {
		p := problem{Status: http.StatusNotFound, Code: "not_found", Title: "There is nothing at this address.", Detail: "GET " + prefix + "openapi.json names what there is."}
		if may := allowed(mux, r); len(may) > 0 {
			w.Header().Set("Allow", strings.Join(may, ", "))
			p = problem{Status: http.StatusMethodNotAllowed, Code: "method", Title: r.Method + " is not for this address.", Detail: "It takes " + strings.Join(may, ", ") + "."}
		}
		s.writeProblem(w, p)
	})
	return mux
}

// allowed are the methods that an address is served by.
func allowed(mux *http.ServeMux, r *http.Request) (may []string) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if _, pattern := mux.Handler(&http.Request{Method: method, Host: r.Host, URL: r.URL}); pattern != prefix && pattern != "" {
			may = append(may, method)
		}
	}
	return may
}

const prefix = "/api/v1/"

// route is one operation of the API. openapi.json describes exactly these: a test compares.
type route struct {
	method, path string
	open         bool // answers without a session
	limit        int64
	handle       func(c *call) (reply, error)
}

const (
	bodyLimit = 256 << 10
	opmlLimit = 5 << 20
)

func (s *Server) routes() []route {
	all := []route{
		{method: "POST", path: "session", open: true, handle: s.openSession},
		{method: "GET", path: "openapi.json", open: true, handle: s.describe},
		{method: "GET", path: "me", handle: s.me},
		{method: "PATCH", path: "me", handle: s.changeMe},
		{method: "GET", path: "events", handle: s.events},
		{method: "GET", path: "billing", handle: s.billing},
		{method: "POST", path: "billing/checkout", handle: s.checkout},
		{method: "POST", path: "billing/cancel", handle: s.cancelPlan},
		{method: "POST", path: "probe", handle: s.probe},
		{method: "GET", path: "packs", handle: s.packs},
		{method: "GET", path: "life", handle: s.life},
	}
	all = append(all, s.channelRoutes()...)
	return append(all, s.draftRoutes()...)
}

func (s *Server) channelRoutes() []route {
	const ch = "channels/{channel}"
	const src = ch + "/sources/{source}"
	return []route{
		{method: "GET", path: ch, handle: inChannel(s.channel)},
		{method: "PATCH", path: ch, handle: inChannel(s.changeChannel)},
		{method: "POST", path: ch + "/pause", handle: inChannel(s.pause)},
		{method: "POST", path: ch + "/resume", handle: inChannel(s.resume)},
		{method: "GET", path: ch + "/changes", handle: inChannel(s.changes)},
		{method: "GET", path: ch + "/members", handle: inChannel(s.members)},
		{method: "PATCH", path: ch + "/members/{person}", handle: inChannel(s.changeMember)},
		{method: "DELETE", path: ch + "/members/{person}", handle: inChannel(s.removeMember)},
		{method: "POST", path: ch + "/invitations", handle: inChannel(s.invite)},
		{method: "GET", path: ch + "/plan", handle: inChannel(s.plan)},
		{method: "GET", path: ch + "/free-slots", handle: inChannel(s.freeSlots)},
		{method: "GET", path: ch + "/drafts", handle: inChannel(s.drafts)},
		{method: "POST", path: ch + "/drafts", handle: inChannel(s.ownDraft)},
		{method: "GET", path: ch + "/sources", handle: inChannel(s.sources)},
		{method: "POST", path: ch + "/sources", handle: inChannel(s.addSource)},
		{method: "GET", path: ch + "/sources/rhythm", handle: inChannel(s.rhythm)},
		{method: "GET", path: ch + "/sources.opml", handle: inChannel(s.exportOPML)},
		{method: "POST", path: ch + "/sources.opml", handle: inChannel(s.importOPML), limit: opmlLimit},
		{method: "POST", path: ch + "/packs/{pack}", handle: inChannel(s.addPack)},
		{method: "PATCH", path: src, handle: s.changeSource},
		{method: "DELETE", path: src, handle: s.removeSource},
		{method: "POST", path: src + "/pause", handle: s.pauseSource},
		{method: "POST", path: src + "/resume", handle: s.resumeSource},
		{method: "POST", path: src + "/retry", handle: s.retrySource},
		{method: "GET", path: src + "/test", handle: s.testSource},
		{method: "GET", path: ch + "/status", handle: inChannel(s.status)},
		{method: "GET", path: ch + "/activity", handle: inChannel(s.activity)},
		{method: "GET", path: ch + "/stats", handle: inChannel(s.stats)},
		{method: "GET", path: ch + "/dropped", handle: inChannel(s.dropped)},
		{method: "POST", path: ch + "/dropped/{story}/rescue", handle: inChannel(s.rescue)},
	}
}

func (s *Server) draftRoutes() []route {
	const d = "drafts/{draft}"
	return []route{
		{method: "GET", path: d, handle: s.draft},
		{method: "POST", path: d + "/approve", handle: asked(s.approve)},
		{method: "POST", path: d + "/post-now", handle: asked(s.postNow)},
		{method: "POST", path: d + "/schedule", handle: asked(s.schedule)},
		{method: "POST", path: d + "/move", handle: asked(s.move)},
		{method: "POST", path: d + "/skip", handle: asked(s.skip)},
		{method: "POST", path: d + "/skip-reason", handle: asked(s.skipReason)},
		{method: "POST", path: d + "/undo", handle: asked(s.undo)},
		{method: "POST", path: d + "/retry", handle: asked(s.retry)},
		{method: "POST", path: d + "/edit", handle: asked(s.edit)},
		{method: "POST", path: d + "/rewrite", handle: asked(s.rewrite)},
		{method: "POST", path: d + "/settle", handle: asked(s.settle)},
		{method: "POST", path: d + "/edit-post", handle: asked(s.editPost)},
		{method: "POST", path: d + "/delete-post", handle: s.deletePost},
	}
}
