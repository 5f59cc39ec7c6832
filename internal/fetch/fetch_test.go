package fetch

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"code.dny.dev/ssrf"
	"github.com/google/go-cmp/cmp"
)

// local returns a client that may reach the test servers on loopback.
func local(t *testing.T, change ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
	for _, f := range change {
		f(&cfg)
	}
	c := New(cfg)
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func wantCode(t *testing.T, err error, want Code) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Code != want {
		t.Errorf("error = %v, want code %s", err, want)
	}
}

// TestPrivateNetworksAreNeverDialled is the SSRF table: every notation of an
// address that must not be reached, and that the dialer refused it.
func TestPrivateNetworksAreNeverDialled(t *testing.T) {
	t.Parallel()
	for _, host := range []string{
		"127.0.0.1", "127.1", "127.0.0.2", "localhost", "0.0.0.0", "0", "0.1.2.3", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1.",
		"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "169.254.0.1", "100.64.0.1", "100.127.255.254",
		"192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255",
		"[::]", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:10.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::1]",
		"[fc00::1]", "[fd12:3456::1]", "[fe80::1]", "[fec0::1]", "[ff02::1]", "[2001:db8::1]", "[2001::1]", "[2002:7f00:1::1]", "[100::1]",
		"[3fff::1]", "[5f00::1]", "[::ffff:169.254.169.254]",
	} {
		var mu sync.Mutex
		var allowed []string
		c := New(Config{Connect: 300 * time.Millisecond, Headers: 300 * time.Millisecond, Total: 800 * time.Millisecond, Dialed: func(a string, refused error) {
			mu.Lock()
			defer mu.Unlock()
			if refused == nil {
				allowed = append(allowed, a)
			}
		}})
		_, err := c.Get(t.Context(), Request{URL: "http://" + host + "/"})
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: no error", host)
		}
		mu.Lock()
		if len(allowed) > 0 {
			t.Errorf("%s: dialled %v", host, allowed)
		}
		mu.Unlock()
		c.Close()
	}
}

func TestGuardKnowsPublicAddressesAndPorts(t *testing.T) {
	t.Parallel()
	g := newGuard(Config{AllowNets: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}})
	for address, want := range map[string]Code{
		"93.184.216.34:443": "", "93.184.216.34:80": "", "93.184.216.34:22": CodePort, "93.184.216.34:8080": CodePort,
		"10.1.2.3:9999": "", "10.2.0.1:80": CodePrivate, "10.2.0.1:22": CodePrivate,
	} {
		err := g.check("tcp4", address, nil)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s refused: %v", address, err)
		case want != "" && (err == nil || codeOf(err) != want):
			t.Errorf("%s: %v, want %s", address, err, want)
		}
	}
	if err := g.check("tcp6", "[2606:2800:220:1:248:1893:25c8:1946]:443", nil); err != nil {
		t.Errorf("public IPv6 refused: %v", err)
	}
}

// TestEachHopIsChecked redirects from an allowed network to a forbidden one.
func TestEachHopIsChecked(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"http://[::1]/", "http://[::1]:9/", "http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "http://0x7f.1/", "file:///etc/passwd", "gopher://127.0.0.1/"} {
		address := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, http.StatusFound) })
		c := New(Config{AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Total: 2 * time.Second})
		_, err := c.Get(t.Context(), Request{URL: address})
		var e *Error
		if !errors.As(err, &e) || (e.Code != CodePrivate && e.Code != CodePort && e.Code != CodeBadAddress && e.Code != CodeNoHost && e.Code != CodeDNS) {
			t.Errorf("redirect to %s: %v", target, err)
		}
		c.Close()
	}
}

// TestRebindingGainsNothing resolves a name first to a public address, then to
// loopback: whatever the name says, the dialled address is what is judged.
func TestRebindingGainsNothing(t *testing.T) {
	t.Parallel()
	dns := newRebindingDNS(t)
	var mu sync.Mutex
	var reached []string
	c := New(Config{Resolver: dns.resolver(), Connect: 200 * time.Millisecond, Total: time.Second, Dialed: func(a string, refused error) {
		mu.Lock()
		defer mu.Unlock()
		if refused == nil {
			reached = append(reached, a)
		}
	}})
	defer c.Close()
	for range 3 {
		if _, err := c.Get(t.Context(), Request{URL: "http://rebind.test/"}); err == nil {
			t.Error("reached something")
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, a := range reached {
		if strings.HasPrefix(a, "127.") || strings.HasPrefix(a, "[::1]") {
			t.Errorf("dialled %s", a)
		}
	}
	if dns.asked() < 3 {
		t.Errorf("the name was asked for %d times", dns.asked())
	}
}

func TestConditionalGetSendsValidatorsUnchanged(t *testing.T) {
	t.Parallel()
	var got http.Header
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		w.Header().Set("ETag", `W/"a2"`)
		w.WriteHeader(http.StatusNotModified)
	})
	resp, err := local(t).Get(t.Context(), Request{URL: address, ETag: `W/"a1"`, LastModified: "Mon, 04 May 2026 08:00:00 +0000"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`W/"a1"`, "Mon, 04 May 2026 08:00:00 +0000", "gzip", "304"}
	if diff := cmp.Diff(want, []string{got.Get("If-None-Match"), got.Get("If-Modified-Since"), got.Get("Accept-Encoding"), fmt.Sprint(resp.Status)}); diff != "" {
		t.Error(diff)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	hop := func(path, to string, status int) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, status) })
	}
	hop("/p1", "/p2", 301)
	hop("/p2", "/end", 308)
	hop("/m1", "/m2", 301)
	hop("/m2", "/end", 302)
	hop("/loop", "/loop", 302)
	for i := range 8 {
		hop(fmt.Sprintf("/n%d", i), fmt.Sprintf("/n%d", i+1), 302)
	}
	mux.HandleFunc("/end", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "end") })
	base := serve(t, mux.ServeHTTP)
	c := local(t)
	for path, permanent := range map[string]bool{"/p1": true, "/m1": false, "/end": false} {
		resp, err := c.Get(t.Context(), Request{URL: base + path})
		if err != nil || string(resp.Body) != "end" || resp.Permanent != permanent || resp.FinalURL != base+"/end" {
			t.Errorf("%s: %+v %v", path, resp, err)
		}
	}
	_, err := c.Get(t.Context(), Request{URL: base + "/loop"})
	wantCode(t, err, CodeLoop)
	_, err = c.Get(t.Context(), Request{URL: base + "/n0"})
	wantCode(t, err, CodeTooManyHops)
}

func TestCredentialsStayWithTheirHost(t *testing.T) {
	t.Parallel()
	var auth string
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { auth = r.Header.Get("Authorization") })
	first := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if _, _, ok := r.BasicAuth(); !ok {
			t.Error("no credentials at their own host")
		}
		http.Redirect(w, r, other, http.StatusFound)
	})
	resp, err := local(t).Get(t.Context(), Request{URL: strings.Replace(first, "http://", "http://u:secret@", 1)})
	if err != nil || auth != "" || strings.Contains(resp.FinalURL, "secret") {
		t.Errorf("%v, the other host got %q", err, auth)
	}
}

func TestBodiesAreBoundedByDecodedBytes(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	if _, err := z.Write(make([]byte, 64<<20)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		case "/long":
			_, _ = w.Write(make([]byte, 1001))
		case "/exact":
			_, _ = w.Write(make([]byte, 1000))
		case "/br":
			w.Header().Set("Content-Encoding", "br")
			_, _ = w.Write([]byte("xx"))
		case "/liar":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write([]byte("plain"))
		case "/cut":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("half"))
		}
	})
	c := local(t)
	for path, want := range map[string]Code{"/bomb": CodeTooLarge, "/long": CodeTooLarge, "/br": CodeEncoding} {
		_, err := c.Get(t.Context(), Request{URL: base + path, MaxBytes: 1000})
		wantCode(t, err, want)
	}
	for path, want := range map[string]string{"/exact": string(make([]byte, 1000)), "/liar": "plain"} {
		resp, err := c.Get(t.Context(), Request{URL: base + path, MaxBytes: 1000})
		if err != nil || string(resp.Body) != want || resp.Cut {
			t.Errorf("%s: %v", path, err)
		}
	}
	resp, err := c.Get(t.Context(), Request{URL: base + "/cut"})
	if err != nil || !resp.Cut || string(resp.Body) != "half" {
		t.Errorf("cut body: %+v %v", resp, err)
	}
}

func TestSlowServersTimeOut(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
		}
		<-release
	})
	t.Cleanup(func() { close(release) })
	c := local(t, func(cfg *Config) { cfg.Headers, cfg.Total = 200*time.Millisecond, 500*time.Millisecond })
	for _, path := range []string{"/headers", "/body"} {
		_, err := c.Get(t.Context(), Request{URL: base + path})
		wantCode(t, err, CodeTimeout)
	}
}

// TestDeadIPv6IsTriedOverIPv4 has a name whose IPv6 address accepts and never answers.
func TestDeadIPv6IsTriedOverIPv4(t *testing.T) {
	t.Parallel()
	l4, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l4.Addr().String())
	l6, err := net.Listen("tcp6", "[::1]:"+port)
	if err != nil {
		t.Skip("no IPv6 here:", err)
	}
	t.Cleanup(func() { _ = l6.Close() })
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") }))
	srv.Listener = l4
	srv.Start()
	t.Cleanup(srv.Close)
	dns := newRebindingDNS(t)
	dns.answer = func(int) ([]string, []string) { return []string{"127.0.0.1"}, []string{"::1"} }
	c := local(t, func(cfg *Config) { cfg.Headers, cfg.Resolver = 300*time.Millisecond, dns.resolver() })
	resp, err := c.Get(t.Context(), Request{URL: "http://dual.test:" + port + "/"})
	if err != nil || string(resp.Body) != "ok" {
		t.Errorf("%+v %v", resp, err)
	}
}

func TestErrorsHideTheAddress(t *testing.T) {
	t.Parallel()
	_, err := New(Config{}).Get(t.Context(), Request{URL: "http://u:SECRET@127.0.0.1:1/feed?key=SECRET"})
	if err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("error = %v", err)
	}
	if got := Redact("http://u:SECRET@e.org/f?key=SECRET&x#SECRET"); strings.Contains(got, "SECRET") || got != "http://e.org/f?key=…&…" {
		t.Errorf("Redact = %q", got)
	}
}

func TestRetryAfterAndMaxAge(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Duration{
		"": 0, "3600": time.Hour, "Mon, 04 May 2026 14:00:00 GMT": 4 * time.Hour, "soon": 0, "Mon, 04 May 2026 03:00:00 GMT": 0, "-5": 0,
		"315360000": 365 * 24 * time.Hour, "1.5": 1500 * time.Millisecond, "NaN": 0,
	} {
		if got := RetryAfter(http.Header{"Retry-After": {in}}, now); got != want {
			t.Errorf("RetryAfter(%q) = %v, want %v", in, got, want)
		}
	}
	for in, want := range map[string]time.Duration{"": 0, "public, max-age=600": 10 * time.Minute, "max-age=x": 0, "no-cache, max-age=600": 0, "max-age=99999999": 30 * 24 * time.Hour} {
		if got := MaxAge(http.Header{"Cache-Control": {in}}); got != want {
			t.Errorf("MaxAge(%q) = %v, want %v", in, got, want)
		}
	}
}

// TestPackedBodies: what servers put into Content-Encoding, and what they send then.
func TestPackedBodies(t *testing.T) {
	t.Parallel()
	pack := func(s, how string) string {
		var b bytes.Buffer
		var w io.WriteCloser = gzip.NewWriter(&b)
		switch how {
		case "zlib":
			w = zlib.NewWriter(&b)
		case "deflate":
			w, _ = flate.NewWriter(&b, 6)
		}
		_, _ = w.Write([]byte(s))
		_ = w.Close()
		return b.String()
	}
	const doc = "<rss>whole</rss>"
	gz := pack(doc, "gzip")
	numbers := ""
	for i := range 1000 {
		numbers += fmt.Sprint(i * i * 7919)
	}
	long := pack(numbers, "gzip")
	for name, v := range map[string]struct {
		header, body string
		want         string
		cut          bool
		code         Code
	}{
		"gzip":                           {"gzip", gz, doc, false, ""},
		"gzip in capitals":               {" GZip ", gz, doc, false, ""},
		"gzip named otherwise":           {"x-gzip", gz, doc, false, ""},
		"gzip twice":                     {"gzip, gzip", pack(gz, "gzip"), doc, false, ""},
		"gzip and nothing":               {"gzip, identity", gz, doc, false, ""},
		"gzip of two members":            {"gzip", pack("<rss>wh", "gzip") + pack("ole</rss>", "gzip"), doc, false, ""},
		"a line break behind gzip":       {"gzip", gz + "\n", doc, false, ""},
		"a remark behind gzip":           {"gzip", gz + "<!-- served in 3 ms -->", doc, false, ""},
		"zeros behind gzip":              {"gzip", gz + strings.Repeat("\x00", 512), doc, false, ""},
		"gzip that is none":              {"gzip", doc, doc, false, ""},
		"gzip of one byte":               {"gzip", "x", "x", false, ""},
		"torn gzip":                      {"gzip", long[:len(long)/2], "", true, ""},
		"gzip with a wrong sum":          {"gzip", gz[:len(gz)-8] + "abcd" + gz[len(gz)-4:], doc, true, ""},
		"deflate with a head":            {"deflate", pack(doc, "zlib"), doc, false, ""},
		"deflate without":                {"deflate", pack(doc, "deflate"), doc, false, ""},
		"deflate that is none":           {"deflate", doc, doc, false, ""},
		"nothing":                        {"", doc, doc, false, ""},
		"identity":                       {"identity", doc, doc, false, ""},
		"a charset":                      {"UTF-8", doc, doc, false, ""},
		"another charset":                {"iso-8859-1", doc, doc, false, ""},
		"a type":                         {"text/xml", doc, doc, false, ""},
		"binary":                         {"binary", doc, doc, false, ""},
		"brotli, which nobody asked for": {"br", doc, "", false, CodeEncoding},
		"zstandard":                      {"zstd", doc, "", false, CodeEncoding},
		"many layers":                    {"gzip, gzip, gzip, gzip, gzip", gz, "", false, CodeEncoding},
	} {
		base := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", v.header)
			_, _ = w.Write([]byte(v.body))
		})
		resp, err := local(t).Get(t.Context(), Request{URL: base})
		if v.code != "" {
			wantCode(t, err, v.code)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if (v.want != "" && string(resp.Body) != v.want) || resp.Cut != v.cut {
			t.Errorf("%s: %q, cut %t", name, resp.Body, resp.Cut)
		}
	}
}

func TestSitesThatAskForCookies(t *testing.T) {
	t.Parallel()
	var others string
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		others = r.Header.Get("Cookie")
		fmt.Fprint(w, "other")
	})
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		cookie := func(name, value string) { http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/"}) }
		switch r.URL.Path {
		case "/": // leads to itself until its cookie comes back
			if r.Header.Get("Cookie") == "" {
				cookie("seen", "1")
				http.Redirect(w, r, "/", http.StatusFound)
				return
			}
			fmt.Fprint(w, r.Header.Get("Cookie"))
		case "/wall": // never content
			cookie("n", fmt.Sprint(time.Now().UnixNano()))
			http.Redirect(w, r, "/wall", http.StatusFound)
		case "/away":
			cookie("secret", "1")
			http.Redirect(w, r, other, http.StatusFound)
		case "/two": // another value for the same name
			if c, err := r.Cookie("n"); err != nil {
				cookie("n", "1")
			} else if c.Value == "1" {
				cookie("n", "2")
			} else {
				fmt.Fprint(w, r.Header.Get("Cookie"))
				return
			}
			http.Redirect(w, r, "/two", http.StatusFound)
		}
	})
	c := local(t)
	for path, want := range map[string]string{"/": "seen=1", "/two": "n=2", "/away": "other"} {
		resp, err := c.Get(t.Context(), Request{URL: base + path})
		if err != nil || string(resp.Body) != want {
			t.Errorf("%s: %+v %v", path, resp, err)
		}
	}
	if others != "" {
		t.Errorf("another host got %q", others)
	}
	resp, err := c.Get(t.Context(), Request{URL: base, Cookie: "SOCS=CAI"})
	if err != nil || string(resp.Body) != "SOCS=CAI" {
		t.Errorf("a cookie of the request: %+v %v", resp, err)
	}
	if _, err = c.Get(t.Context(), Request{URL: base + "/away", Cookie: "SOCS=CAI"}); err != nil || others != "" {
		t.Errorf("%v; another host got %q", err, others)
	}
	_, err = c.Get(t.Context(), Request{URL: base + "/wall"})
	wantCode(t, err, CodeTooManyHops)
}

// TestErrorsSayNothingOfOurNetwork reads what whoever added a source is shown.
func TestErrorsSayNothingOfOurNetwork(t *testing.T) {
	t.Parallel()
	u := &url.URL{Scheme: "http", Host: "intranet.example"}
	for _, err := range []error{
		&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "intranet.example", Server: "10.1.2.3:53", IsNotFound: true}},
		&net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 80}, Err: fmt.Errorf("%w: 10.1.2.3 is private", ssrf.ErrProhibitedIP)},
	} {
		if text := classify(err, u).Error(); strings.Contains(text, "10.1.2.3") || !strings.Contains(text, "intranet.example") {
			t.Errorf("told: %s", text)
		}
	}
}
