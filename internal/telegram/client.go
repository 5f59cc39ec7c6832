package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rs/zerolog"
)

// DefaultURL is where Telegram serves the Bot API.
const DefaultURL = "https://api.telegram.org"

const (
	// readTimeout bounds calls that only read or are of no consequence.
	readTimeout = 20 * time.Second
	// sendTimeout bounds calls that change something for one person.
	sendTimeout = 60 * time.Second
	// PublishTimeout bounds calls whose outcome matters. The Bot API server
	// holds a request for up to 8 s under flood control and then still sends
	// it; 60 to 120 s of patience turn most of such doubts into answers.
	PublishTimeout = 90 * time.Second
	// maxAnswer bounds the body of an answer; 100 full updates fit in 4 MB.
	maxAnswer = 16 << 20
)

// Config is what a Client needs. The zero value of every field but Token works.
type Config struct {
	Token   Token
	BaseURL string // default DefaultURL; a local Bot API server or the sandbox
	Logger  zerolog.Logger
	Limits  *Limits // default NewLimits(nil); one per token and process
	// Observe is told of every finished call; for metrics.
	Observe func(method, outcome string, took time.Duration)
	// DialContext replaces the dialer, for tests that break connections.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Client makes requests for one bot. It is safe for concurrent use.
type Client struct {
	token   Token
	botID   int64
	baseURL string
	log     zerolog.Logger
	limits  *Limits
	observe func(method, outcome string, took time.Duration)
	pooled  *http.Client // reads, long polls, chat replies
	fresh   *http.Client // a connection of its own for every call
}

// New checks the token's form and the address; it makes no request.
func New(cfg Config) (*Client, error) {
	id, err := cfg.Token.BotID()
	if err != nil {
		return nil, err
	}
	base := strings.TrimRight(cfg.BaseURL, "/")
	if base == "" {
		base = DefaultURL
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("telegram: %q is not an http address", base)
	}
	c := &Client{
		token: cfg.Token, botID: id, baseURL: base, log: cfg.Logger, limits: cfg.Limits, observe: cfg.Observe,
		pooled: httpClient(cfg, false), fresh: httpClient(cfg, true),
	}
	if c.limits == nil {
		c.limits = NewLimits(nil)
	}
	if c.observe == nil {
		c.observe = func(string, string, time.Duration) {}
	}
	return c, nil
}

// BotID is the bot's own user id, read from the token.
func (c *Client) BotID() int64 { return c.botID }

// CloseIdle drops the connections that wait for reuse.
func (c *Client) CloseIdle() {
	c.pooled.CloseIdleConnections()
	c.fresh.CloseIdleConnections()
}

// httpClient speaks HTTP/1.1 only: over HTTP/2 net/http may send a POST again
// by itself after a GOAWAY, and a broken connection takes others with it.
func httpClient(cfg Config, fresh bool) *http.Client {
	dial := cfg.DialContext
	if dial == nil {
		dial = (&net.Dialer{Timeout: 15 * time.Second, KeepAlive: 15 * time.Second}).DialContext
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         dial,
			TLSHandshakeTimeout: 15 * time.Second,
			DisableKeepAlives:   fresh,
			MaxIdleConnsPerHost: 8,
			// Shorter than any server's patience, so that a reused connection is
			// hardly ever one that the other side has just closed.
			IdleConnTimeout: 15 * time.Second,
			Protocols:       protocols,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Option changes how one call is made.
type Option func(*callOptions)

type callOptions struct {
	fresh   bool
	timeout time.Duration
	lane    Lane
	chat    string // for limits; "" is a call that is not counted
	already Kind   // a refusal of this kind is Confirmed
}

// Publishing is for what must be known: a connection of its own, so that no
// stale one can make the outcome unknown, and PublishTimeout.
func Publishing() Option {
	return func(o *callOptions) { o.fresh, o.timeout = true, PublishTimeout }
}

// Timeout bounds the call. The context's own deadline holds too.
func Timeout(d time.Duration) Option { return func(o *callOptions) { o.timeout = d } }

// In chooses the lane in which the call waits for its turn; default Cards.
func In(lane Lane) Option { return func(o *callOptions) { o.lane = lane } }

// Do makes one request and says what is known of its outcome. It is the only
// place that talks to the Bot API. It never tries twice. A call that would have
// to wait too long for its turn is Refused (TooMany) without being made.
func (c *Client) Do(ctx context.Context, method string, params any, opts ...Option) Outcome {
	o := callOptions{timeout: readTimeout, lane: Cards}
	for _, opt := range opts {
		opt(&o)
	}
	began := time.Now()
	out := c.do(ctx, method, params, o)
	took := time.Since(began)
	c.observe(method, Name(out), took)
	c.logCall(method, out, took)
	return out
}

// Name is the outcome's word in metrics and tables: confirmed, refused, unknown.
func Name(o Outcome) string {
	switch o.(type) {
	case Confirmed:
		return "confirmed"
	case Refused:
		return "refused"
	}
	return "unknown"
}

func (c *Client) do(ctx context.Context, method string, params any, o callOptions) Outcome {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	p, err := encode(params)
	if err != nil {
		return Refused{Kind: BadRequest, Description: fmt.Sprintf("telegram: %s: %v", method, err)}
	}
	if wait, err := c.limits.wait(ctx, o.chat, o.lane); err != nil {
		return Refused{Kind: TooMany, Description: "telegram: " + method + ": not sent: " + err.Error(), RetryAfter: wait}
	}
	out := c.roundTrip(ctx, method, p, o.fresh)
	if r, ok := out.(Refused); ok {
		if r.Kind == TooMany {
			c.limits.learn(o.chat, r.RetryAfter)
		}
		if o.already != "" && r.Kind == o.already {
			return Confirmed{Result: []byte("true"), Already: r.Kind}
		}
	}
	return out
}

func (c *Client) roundTrip(ctx context.Context, method string, p payload, fresh bool) Outcome {
	progress := &progress{}
	req, err := http.NewRequestWithContext(progress.trace(ctx), http.MethodPost,
		c.baseURL+"/bot"+string(c.token)+"/"+method, bytes.NewReader(p.body))
	if err != nil {
		return Refused{Kind: BadRequest, Description: "telegram: " + method + ": " + c.token.redact(err.Error())}
	}
	req.Header.Set("Content-Type", p.contentType)
	client := c.pooled
	if fresh {
		client = c.fresh
	}
	resp, err := client.Do(req)
	if err != nil {
		return c.failure(method, err, progress)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return Unknown{Err: fmt.Errorf("%s: read the answer: %w", method, c.clean(err))}
	}
	if len(body) > maxAnswer {
		return Unknown{Err: fmt.Errorf("%s: read the answer: %w", method, errTooLarge)}
	}
	return classify(resp.StatusCode, body)
}

// failure tells a request that certainly did not reach Telegram whole from one
// that may have.
func (c *Client) failure(method string, err error, p *progress) Outcome {
	if stage, certain := p.certainlyNotSent(); certain {
		return Refused{Kind: NotReached, Description: fmt.Sprintf("telegram: %s: %s: %v", method, stage, c.clean(err))}
	}
	return Unknown{Err: fmt.Errorf("%s: %w", method, c.clean(err))}
}

// clean drops the address that net/http puts into its errors, as it holds the
// token, and keeps the cause for errors.Is.
func (c *Client) clean(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	if text := err.Error(); c.token.redact(text) != text {
		return errors.New(c.token.redact(text))
	}
	return err
}

func (c *Client) logCall(method string, out Outcome, took time.Duration) {
	switch out := out.(type) {
	case Confirmed:
		c.log.Debug().Str("method", method).Dur("took", took).Msg("telegram call")
	case Refused:
		c.log.Info().Str("method", method).Dur("took", took).Str("kind", string(out.Kind)).Int("code", out.Code).
			Dur("retry_after", out.RetryAfter).Str("why", c.token.redact(out.Description)).Msg("telegram refused a call")
	case Unknown:
		c.log.Warn().Str("method", method).Dur("took", took).Str("why", c.token.redact(out.Err.Error())).
			Msg("outcome of a telegram call is unknown")
	}
}
