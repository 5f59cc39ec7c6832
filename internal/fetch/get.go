package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Request asks for one address.
type Request struct {
	URL string
	// ETag and LastModified are the server's own validators from the last
	// whole answer, sent back unchanged. Never an invented date.
	ETag, LastModified string
	// Accept replaces the default, which prefers feeds.
	Accept string
	// Language is sent as Accept-Language when set.
	Language string
	// Cookie is sent to the host of URL, and to no other.
	Cookie string
	// MaxBytes replaces the client's bound when set.
	MaxBytes int64
	// NoRedirects returns a redirect as the answer, for places where it means
	// something (a Telegram preview that is switched off).
	NoRedirects bool

	given string // cookies that the host set on the way
}

// Response is any answer of the server, errors of HTTP included: a status is
// judged by the caller.
type Response struct {
	Status   int
	Header   http.Header
	Body     []byte // decoded, at most the bound
	FinalURL string
	Hops     int
	// Permanent: there were redirects, and each of them was a 301 or 308.
	Permanent bool
	// Cut: the body ended early. Validators of such an answer must not be kept.
	Cut  bool
	Took time.Duration
}

// ContentType is the answer's Content-Type header.
func (r *Response) ContentType() string { return r.Header.Get("Content-Type") }

const defaultAccept = "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, text/xml;q=0.9, text/html;q=0.7, */*;q=0.5"

// Get fetches an address with at most 5 redirects. The error is an *Error; an
// HTTP status is none. A connection over IPv6 that never answers is tried once
// more over IPv4.
func (c *Client) Get(ctx context.Context, req Request) (*Response, error) {
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Total)
	defer cancel()
	resp, err := c.follow(ctx, req)
	if err != nil {
		return nil, err
	}
	resp.Took = time.Since(start)
	return resp, nil
}

func (c *Client) follow(ctx context.Context, req Request) (*Response, error) {
	u, err := ParseURL(req.URL)
	if err != nil {
		return nil, err
	}
	permanent := true
	seen := map[string]bool{}
	given := map[string]string{} // cookies by scheme and host, for this request alone
	for hop := 0; ; hop++ {
		req.given = given[u.Scheme+u.Host]
		at := u.String() + "\n" + req.given
		if seen[at] {
			return nil, fail(CodeLoop, u, nil)
		}
		seen[at] = true
		resp, err := c.once(ctx, u, req)
		if err != nil {
			return nil, classify(err, u)
		}
		next := redirectTarget(resp, u)
		if next == nil || req.NoRedirects {
			out, err := c.read(resp, u, req)
			if err != nil {
				return nil, err
			}
			out.Hops, out.Permanent = hop, hop > 0 && permanent
			return out, nil
		}
		drain(resp)
		keepCookies(given, u, resp)
		permanent = permanent && (resp.StatusCode == http.StatusMovedPermanently || resp.StatusCode == http.StatusPermanentRedirect)
		if hop >= maxHops {
			return nil, fail(CodeTooManyHops, u, nil)
		}
		if next.Host != u.Host || next.Scheme != u.Scheme {
			req.Cookie = ""
		}
		if next.User == nil && next.Host == u.Host && next.Scheme == u.Scheme {
			next.User = u.User // never to another host, never from https to http
		}
		if u, err = ParseURL(next.String()); err != nil {
			return nil, err
		}
	}
}

// keepCookies takes over what a redirect sets, for the hops that follow: sites
// that ask whether a client takes cookies lead in a circle otherwise. Each goes
// back to the host that set it and to no other, and none outlives the request.
func keepCookies(given map[string]string, u *url.URL, resp *http.Response) {
	if len(resp.Header["Set-Cookie"]) == 0 {
		return
	}
	at := u.Scheme + u.Host
	for _, c := range resp.Cookies() {
		kept := slices.DeleteFunc(strings.Split(given[at], "; "), func(old string) bool { return old == "" || strings.HasPrefix(old, c.Name+"=") })
		if c.MaxAge >= 0 && len(given[at])+len(c.Name)+len(c.Value) < maxCookies {
			kept = append(kept, c.Name+"="+c.Value)
		}
		given[at] = strings.Join(kept, "; ")
	}
}

// maxCookies bounds, in bytes, what is sent back to one host.
const maxCookies = 4096

// once makes one request, and a second one over IPv4 when IPv6 connected and
// then said nothing.
func (c *Client) once(ctx context.Context, u *url.URL, req Request) (*http.Response, error) {
	var remote net.Addr
	trace := &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) { remote = i.Conn.RemoteAddr() }}
	resp, err := c.http.RoundTrip(c.request(httptrace.WithClientTrace(ctx, trace), u, req))
	if err == nil || ctx.Err() != nil || !isTimeout(err) || remote == nil {
		return resp, err
	}
	ap, perr := netip.ParseAddrPort(remote.String())
	if perr != nil || !ap.Addr().Is6() || ap.Addr().Is4In6() || net.ParseIP(u.Hostname()) != nil {
		return resp, err
	}
	c.http.CloseIdleConnections()
	return c.http.RoundTrip(c.request(context.WithValue(ctx, only4Key{}, true), u, req))
}

func (c *Client) request(ctx context.Context, u *url.URL, req Request) *http.Request {
	h := http.Header{}
	h.Set("User-Agent", c.cfg.UserAgent)
	h.Set("Accept-Encoding", "gzip")
	h.Set("Accept", defaultAccept)
	if req.Accept != "" {
		h.Set("Accept", req.Accept)
	}
	if req.Language != "" {
		h.Set("Accept-Language", req.Language)
	}
	if cookies := strings.Trim(req.Cookie+"; "+req.given, "; "); cookies != "" {
		h.Set("Cookie", cookies)
	}
	if req.ETag != "" {
		h.Set("If-None-Match", req.ETag)
	}
	if req.LastModified != "" {
		h.Set("If-Modified-Since", req.LastModified)
	}
	target := *u
	r := (&http.Request{Method: http.MethodGet, URL: &target, Header: h, Host: u.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}).WithContext(ctx)
	if u.User != nil {
		pass, _ := u.User.Password()
		r.SetBasicAuth(u.User.Username(), pass)
		target.User = nil
	}
	return r
}

// redirectTarget is where a redirect leads, nil when the answer is none.
func redirectTarget(resp *http.Response, u *url.URL) *url.URL {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil
	}
	loc := strings.TrimSpace(resp.Header.Get("Location"))
	if loc == "" {
		return nil
	}
	next, err := u.Parse(loc)
	if err != nil {
		return nil
	}
	next.Fragment = ""
	return next
}

// ParseURL reads an address that may be fetched: absolute, http or https, with
// a host. The error is an *Error.
func ParseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Opaque != "" {
		return nil, &Error{Code: CodeBadAddress, Err: errors.New("not an address")}
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, &Error{Code: CodeBadAddress, Err: errors.New("only http and https are read")}
	}
	if u.Hostname() == "" || len(raw) > 4096 {
		return nil, &Error{Code: CodeBadAddress, Err: errors.New("no host")}
	}
	u.Fragment = ""
	u.RawQuery = escaped(u.RawQuery)
	if u.Path == "" {
		u.Path = "/"
	}
	return u, nil
}

// escaped is a query in ASCII: servers put raw bytes of any encoding into the
// addresses that they redirect to.
func escaped(query string) string {
	if strings.IndexFunc(query, func(r rune) bool { return r >= 0x7F || r <= ' ' }) < 0 {
		return query
	}
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c >= 0x7F || c <= ' ' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
