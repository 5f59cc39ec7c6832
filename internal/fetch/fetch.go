// Package fetch is the one way out to the web for feeds, pages, previews and
// media. Every connection is checked in the dialer, on the address that is
// really dialled and at every hop, so that nothing inside a private network is
// reached whatever a name resolves to. Bodies, headers, hops and times are
// bounded. It knows no feature and owns no table; it must never follow a proxy
// from the environment, carry credentials to another host, or put an address
// with its secrets into an error.
package fetch

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Defaults, also used for zero fields of Config.
const (
	DefaultMaxBytes = 5 << 20
	maxHops         = 5
	maxHeaderBytes  = 128 << 10
)

// Config sets up a Client. The zero value is usable.
type Config struct {
	// AllowNets are networks that may be reached although they are private
	// (FETCH_ALLOW_NETS). For them the port rule is lifted too.
	AllowNets []netip.Prefix
	// UserAgent names the program to servers.
	UserAgent string
	// MaxBytes bounds a decoded body unless the request says otherwise.
	MaxBytes int64
	// Connect, Headers and Total bound the phases of one hop and the whole.
	Connect, Headers, Total time.Duration
	// Resolver is for tests; nil is the system's.
	Resolver *net.Resolver
	// Dialed, if set, is told each address that is about to be connected to,
	// and the guard's verdict. For tests.
	Dialed func(address string, refused error)
	// TLS is for tests; nil verifies against the system's roots.
	TLS *tls.Config
}

// Client fetches. It is safe for concurrent use.
type Client struct {
	cfg  Config
	http *http.Transport
}

// New returns a Client.
func New(cfg Config) *Client {
	if cfg.UserAgent == "" {
		cfg.UserAgent = "postonce (+https://github.com/postonce/postonce)"
	}
	if cfg.MaxBytes <= 0 {
		cfg.MaxBytes = DefaultMaxBytes
	}
	if cfg.Connect <= 0 {
		cfg.Connect = 10 * time.Second
	}
	if cfg.Headers <= 0 {
		cfg.Headers = 20 * time.Second
	}
	if cfg.Total <= 0 {
		cfg.Total = 45 * time.Second
	}
	c := &Client{cfg: cfg}
	dialer := &net.Dialer{
		Timeout:        cfg.Connect,
		KeepAlive:      -1,
		Resolver:       cfg.Resolver,
		ControlContext: newGuard(cfg).control,
	}
	c.http = &http.Transport{
		Proxy: nil, // a proxy would dial for us, past the guard
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if only4(ctx) {
				network = "tcp4"
			}
			return dialer.DialContext(ctx, network, address)
		},
		TLSClientConfig:        resuming(cfg.TLS),
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // we count decoded bytes ourselves
		TLSHandshakeTimeout:    cfg.Connect,
		ResponseHeaderTimeout:  cfg.Headers,
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    1,
		IdleConnTimeout:        20 * time.Second,
		ReadBufferSize:         4 << 10,
		WriteBufferSize:        2 << 10,
	}
	return c
}

// resumed is how many hosts' TLS sessions are kept, about 10 kB each: a host
// that is asked again within its ticket's life is spared the exchange and the
// checking of certificates, the larger part of what a "not modified" costs.
const resumed = 1000

func resuming(c *tls.Config) *tls.Config {
	if c == nil {
		c = &tls.Config{}
	}
	c = c.Clone()
	if c.ClientSessionCache == nil {
		c.ClientSessionCache = tls.NewLRUClientSessionCache(resumed)
	}
	return c
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// only4Key marks a retry that must not use IPv6 again.
type only4Key struct{}

func only4(ctx context.Context) bool { return ctx.Value(only4Key{}) != nil }
