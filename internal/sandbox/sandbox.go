package sandbox

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/telegram"
)

// DefaultToken is the token of the stand-in's bot. It opens nothing elsewhere.
const DefaultToken telegram.Token = "7000000001:SANDBOX-only-not-a-secret-0000000001"

// Config describes a stand-in. The zero value works: in memory, with the seed.
type Config struct {
	Token       telegram.Token // default DefaultToken
	BotName     string         // default "postonce"
	BotUsername string         // default "postonce_demo_bot"
	// StateFile keeps chats over restarts, kills included; empty keeps nothing.
	StateFile string
	// Empty starts without the seed: no people, no channels.
	Empty bool
	// WebApp is the Mini App's address for buttons that name none.
	WebApp string
	// Preview tells what the page behind a link looks like; nil shows the host only.
	Preview func(address string) (LinkPreview, bool)
	// Photos may load pictures by address; default http.DefaultClient with a
	// deadline. The stand-in is a tool on one's own machine.
	Photos *http.Client
	// Webhooks delivers updates to the bot's webhook; default one with a deadline.
	Webhooks *http.Client
	// EnforceLimits makes it answer 429 beyond 20 messages a minute in a channel
	// and 30 a second in all, as Telegram does.
	EnforceLimits bool
	Now           func() time.Time
	Logger        zerolog.Logger
}

// LinkPreview is the card that a chat shows for a link.
type LinkPreview struct {
	Site        string `json:"site"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Image       string `json:"image"`
}

// Sandbox is one stand-in with one bot. It is an http.Handler and safe for
// concurrent use; Close stops its deliveries.
type Sandbox struct {
	cfg   Config
	botID int64
	now   func() time.Time
	log   zerolog.Logger
	mux   *http.ServeMux

	mu       sync.Mutex
	w        *world
	version  int64
	touched  map[int64]int64 // version of the last change per chat
	changed  chan struct{}   // closed at every change
	dirty    bool            // the state differs from the file
	poll     chan struct{}   // closed to end the running long poll; nil if none runs
	faults   []*Fault
	faultSeq int
	queueing updateFaults
	calls    []Call
	callSeq  int64
	rates    map[int64][]time.Time
	pushing  map[int64]bool // chats with a webhook delivery under way

	closing chan struct{}
	pushers sync.WaitGroup
}

// New starts a stand-in, from its file if there is one.
func New(cfg Config) (*Sandbox, error) {
	cfg.Token = cmp.Or(cfg.Token, DefaultToken)
	cfg.BotName = cmp.Or(cfg.BotName, "postonce")
	cfg.BotUsername = cmp.Or(cfg.BotUsername, "postonce_demo_bot")
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Photos == nil {
		cfg.Photos = &http.Client{Timeout: 8 * time.Second}
	}
	if cfg.Webhooks == nil {
		cfg.Webhooks = &http.Client{
			Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	id, err := cfg.Token.BotID()
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w", err)
	}
	s := &Sandbox{
		cfg: cfg, botID: id, now: cfg.Now, log: cfg.Logger, touched: map[int64]int64{}, changed: make(chan struct{}),
		rates: map[int64][]time.Time{}, pushing: map[int64]bool{}, closing: make(chan struct{}),
	}
	if err := s.load(); err != nil {
		return nil, err
	}
	// Versions go on growing over restarts, so that a page that was open notices.
	s.version = s.now().UnixMilli()
	s.routes()
	s.pushers.Go(s.pushLoop)
	return s, nil
}

// Close stops deliveries to a webhook and saves the state.
func (s *Sandbox) Close() error {
	select {
	case <-s.closing:
		return nil
	default:
	}
	close(s.closing)
	s.pushers.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.save()
}

// Token is the bot's token, to configure the product with.
func (s *Sandbox) Token() telegram.Token { return s.cfg.Token }

func (s *Sandbox) routes() {
	s.mux = http.NewServeMux()
	s.mux.HandleFunc("GET /file/{bot}/{path...}", s.serveFile)
	s.mux.HandleFunc("GET /s/{channel}", s.servePreview)
	s.mux.HandleFunc("GET /s/{channel}/{id}", s.servePreview)
	s.controlRoutes()
	s.pageRoutes()
}

// ServeHTTP answers the Bot API under /bot<token>/, previews under /s/, the
// control API under /sandbox/api/ and the chat page under /.
func (s *Sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/bot") && strings.Count(r.URL.Path, "/") >= 2 {
		s.serveBotAPI(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// lock takes the world and returns what gives it back, saving what changed.
// Handlers give it back before they answer, and nobody reads without mu: what
// anyone was told is in the file, also after a SIGKILL.
func (s *Sandbox) lock() func() {
	s.mu.Lock()
	return func() {
		if s.dirty {
			if err := s.save(); err != nil {
				s.log.Error().Err(err).Msg("sandbox: the state was not saved")
			}
		}
		s.mu.Unlock()
	}
}

func randomID(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
