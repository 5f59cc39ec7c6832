// Package llm asks a language model for one completion per call, at any
// OpenAI-compatible endpoint or at Anthropic's own API.
//
// One call is one attempt: no retry, no redirect, no second connection; the
// caller's ledger decides what follows. The package owns no table, knows no
// feature, and must never log or return the key or a whole answer of a server.
package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// API is the dialect of an endpoint.
type API string

// The dialects.
const (
	OpenAI    API = "openai"
	Anthropic API = "anthropic"
)

// Config names the endpoint.
type Config struct {
	API     API    // empty: OpenAI
	BaseURL string // such as https://api.openai.com/v1; empty for Anthropic: its own
	Key     string // may be empty for a local endpoint
	Model   string
	// Transport is for tests; nil: a fresh connection per call, so that a stale one
	// never looks like a lost answer.
	Transport http.RoundTripper
}

// Request is one completion.
type Request struct {
	System string
	// Turns alternate between user and assistant and start with the user.
	Turns []Turn
	// Schema asks for JSON of this shape where the endpoint can; the caller checks
	// the answer all the same.
	Schema      json.RawMessage
	MaxTokens   int
	Temperature *float64 // nil: the endpoint's own
}

// Turn is one message of the conversation.
type Turn struct {
	Assistant bool
	Text      string
}

// Answer is what the model said, unchecked.
type Answer struct {
	Text      string
	Raw       []byte // the whole body of the response, to be stored before it is parsed
	TokensIn  int
	TokensOut int
	CutOff    bool // it ran into MaxTokens
	Declined  bool // the model or its filter refused
}

// Fault says what is known about a call without an answer.
type Fault string

// The faults. Only Unknown leaves open whether the model worked (and cost).
const (
	Unreachable Fault = "unreachable"  // certainly no request was written whole
	Rejected    Fault = "rejected"     // a 4xx: never as it stands
	Unsupported Fault = "unsupported"  // a 4xx for a parameter that the next call leaves out
	Denied      Fault = "denied"       // key or rights
	NoQuota     Fault = "no_quota"     // paid up to here
	RateLimited Fault = "rate_limited" // later; see RetryAfter
	Garbled     Fault = "garbled"      // answered in no known shape: worked and cost
	Unknown     Fault = "unknown"      // timeout, broken connection, 5xx
)

// Error is every failure of Complete.
type Error struct {
	Fault      Fault
	Status     int
	RetryAfter time.Duration
	Message    string // of the server, shortened, without the key
	Raw        []byte // the body, for Garbled
	err        error
}

func (e *Error) Error() string {
	s := "model call " + string(e.Fault)
	if e.Status != 0 {
		s += fmt.Sprintf(" (status %d)", e.Status)
	}
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

func (e *Error) Unwrap() error { return e.err }

// Client calls one endpoint. It is safe for concurrent use.
type Client struct {
	cfg  Config
	http *http.Client

	mu   sync.Mutex
	able ability // guarded by mu: what the endpoint was found to take
}

// New makes a client; it calls nobody.
func New(cfg Config) *Client {
	if cfg.API == "" {
		cfg.API = OpenAI
	}
	if cfg.BaseURL == "" && cfg.API == Anthropic {
		cfg.BaseURL = "https://api.anthropic.com/v1"
	}
	rt := cfg.Transport
	if rt == nil {
		rt = &http.Transport{DisableKeepAlives: true, Proxy: nil, TLSHandshakeTimeout: 10 * time.Second}
	}
	return &Client{cfg: cfg, http: &http.Client{
		Transport:     rt,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Model is the configured model's name.
func (c *Client) Model() string { return c.cfg.Model }

// Endpoint is the address that is called, without anything secret.
func (c *Client) Endpoint() string {
	path := "/chat/completions"
	if c.cfg.API == Anthropic {
		path = "/messages"
	}
	return strings.TrimRight(c.cfg.BaseURL, "/") + path
}

// maxBody bounds a response; a longer one is garbled.
const maxBody = 1 << 20

// Encode returns the body that Complete would send now: what a ledger hashes.
// What the endpoint was found not to take is left out.
func (c *Client) Encode(r Request) []byte {
	c.mu.Lock()
	able := c.able
	c.mu.Unlock()
	if c.cfg.API == Anthropic {
		return encodeAnthropic(c.cfg.Model, r, able)
	}
	return encodeOpenAI(c.cfg.Model, r, able)
}

// Complete sends a body made by Encode, once. Its error is always an *Error. The
// context's deadline is the time that the caller is willing to wait.
func (c *Client) Complete(ctx context.Context, body []byte) (Answer, error) {
	var sent progress
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn:      func(httptrace.GotConnInfo) { sent.connected.Store(true) },
		WroteRequest: func(i httptrace.WroteRequestInfo) { sent.failed.Store(i.Err != nil) },
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Endpoint(), bytes.NewReader(body))
	if err != nil {
		return Answer{}, &Error{Fault: Unreachable, Message: "the address of the model cannot be read"}
	}
	c.header(req)
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, broken(err, sent.maybe())
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return Answer{}, broken(err, true)
	case resp.StatusCode != http.StatusOK:
		return Answer{}, c.refused(resp, raw)
	case len(raw) > maxBody:
		return Answer{}, &Error{Fault: Garbled, Status: resp.StatusCode, Message: "the answer is longer than 1 MB", Raw: raw[:4096]}
	}
	a, err := c.Decode(raw)
	if err != nil {
		return Answer{}, &Error{Fault: Garbled, Status: resp.StatusCode, Message: "the answer has no known shape", Raw: raw, err: err}
	}
	return a, nil
}

// Decode reads the body of a response, as Complete does; also one that was stored.
func (c *Client) Decode(raw []byte) (Answer, error) {
	if c.cfg.API == Anthropic {
		return decodeAnthropic(raw)
	}
	return decodeOpenAI(raw)
}

func (c *Client) header(req *http.Request) {
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "postonce")
	// Never an Idempotency-Key: net/http then repeats the POST by itself.
	switch {
	case c.cfg.API == Anthropic:
		req.Header.Set("X-Api-Key", c.cfg.Key)
		req.Header.Set("Anthropic-Version", "2023-06-01")
	case c.cfg.Key != "":
		req.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
}

// progress is how far a request came. net/http tells of it from goroutines of its
// own, also after the call returned.
type progress struct {
	connected atomic.Bool
	failed    atomic.Bool // writing the request ended in an error: a server that got a part of a body never runs it
}

// maybe is false where no server can have got the whole request. A write that has
// not reported its end counts as sent: a paid call is never made again on a guess.
func (p *progress) maybe() bool { return p.connected.Load() && !p.failed.Load() }

// broken is a call that ended without a response; sent: a server may have got it.
func broken(err error, sent bool) *Error {
	e := &Error{Fault: Unreachable, err: err}
	if sent {
		e.Fault = Unknown
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		e.Message = "no answer in time"
	case errors.Is(err, context.Canceled):
		e.Message = "given up"
	case sent:
		e.Message = "the connection broke"
	default:
		e.Message = "no connection"
	}
	return e
}
