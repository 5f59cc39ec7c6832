package sources_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/sources"
)

// web is the whole web as far as a test needs it: one server on the usual ports
// of a loopback address of its own, and a name server that leads every host there.
type web struct {
	pages  map[string]string // by host and request, "body" or "-> address" or "!status"
	client *fetch.Client
}

func newWeb(t *testing.T, pages map[string]string) *web {
	t.Helper()
	w := &web{pages: pages}
	ip := fmt.Sprintf("127.%d.%d.1", 70+os.Getpid()%100, os.Getpid()/100%250)
	for port, start := range map[string]func(*httptest.Server){"80": (*httptest.Server).Start, "443": (*httptest.Server).StartTLS} {
		s := httptest.NewUnstartedServer(w)
		_ = s.Listener.Close()
		l, err := net.Listen("tcp4", net.JoinHostPort(ip, port))
		if err != nil {
			t.Skipf("the usual ports of %s are not to be had: %v", ip, err)
		}
		s.Listener = l
		start(s)
		t.Cleanup(s.Close)
	}
	w.client = fetch.New(fetch.Config{
		AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Resolver:  nameServer(t, netip.MustParseAddr(ip)),
		TLS:       &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // the server stands for all hosts
	})
	t.Cleanup(w.client.Close)
	return w
}

func (w *web) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	page, ok := w.pages[r.Host+r.URL.RequestURI()]
	if to, leads := strings.CutPrefix(page, "-> "); leads {
		http.Redirect(rw, r, to, http.StatusFound)
		return
	}
	if !ok {
		http.NotFound(rw, r)
		return
	}
	_, _ = fmt.Fprint(rw, page)
}

// nameServer answers every question with one address.
func nameServer(t *testing.T, ip netip.Addr) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply := nameReply(buf[:n], ip); reply != nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp4", conn.LocalAddr().String())
	}}
}

func nameReply(q []byte, ip netip.Addr) []byte {
	var p dnsmessage.Parser
	h, err := p.Start(q)
	if err != nil {
		return nil
	}
	question, err := p.Question()
	if err != nil {
		return nil
	}
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: h.ID, Response: true, Authoritative: true, RecursionAvailable: true})
	_ = b.StartQuestions()
	_ = b.Question(question)
	_ = b.StartAnswers()
	if question.Type == dnsmessage.TypeA {
		_ = b.AResource(dnsmessage.ResourceHeader{Name: question.Name, Class: dnsmessage.ClassINET}, dnsmessage.AResource{A: ip.As4()})
	}
	out, err := b.Finish()
	if err != nil {
		return nil
	}
	return out
}

// TestPagesThatPeoplePaste: what stands behind the address of a page on a
// platform is found, or the sentence names what to paste instead.
func TestPagesThatPeoplePaste(t *testing.T) {
	t.Parallel()
	const uc = "UCabcdefghijklmnopqrstuv"
	const ytFeed = "www.youtube.com/feeds/videos.xml?channel_id=" + uc
	atom := `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:yt="http://www.youtube.com/xml/schemas/2015" xmlns:media="http://search.yahoo.com/mrss/"><title>T</title><link rel="alternate" href="https://www.youtube.com/channel/` + uc + `"/><entry><id>yt:video:abcdefghijk</id><yt:videoId>abcdefghijk</yt:videoId><title>A video</title><link rel="alternate" href="https://www.youtube.com/watch?v=abcdefghijk"/><published>2026-05-03T10:00:00+00:00</published><media:group><media:title>A video</media:title><media:thumbnail url="https://i.ytimg.com/vi/abcdefghijk/hq.jpg"/><media:description>About</media:description></media:group></entry></feed>`
	alternate := func(href string) string {
		return `<!doctype html><html><head><link href="` + href + `" rel="alternate" type="application/rss+xml"></head><body>x</body></html>`
	}
	w := newWeb(t, map[string]string{
		ytFeed:                                                    atom,
		"www.youtube.com/@Handle":                                 `<!doctype html><script>{"guideEntry":{"browseId":"UCzzzzzzzzzzzzzzzzzzzzzz"}}</script><link rel="alternate" type="application/rss+xml" title="RSS" href="https://` + ytFeed + `">`,
		"www.youtube.com/c/Named":                                 "-> https://consent.youtube.com/m?continue=x",
		"consent.youtube.com/m?continue=x":                        `<!doctype html><title>Before you continue to YouTube</title>`,
		"www.youtube.com/watch?v=abcdefghijk":                     `<!doctype html><script>var r = {"videoDetails":{"videoId":"abcdefghijk","title":"A","channelId":"` + uc + `","isOwnerViewing":false}};var d={"channelId":"UCzzzzzzzzzzzzzzzzzzzzzz"}</script>`,
		"www.youtube.com/feeds/videos.xml?playlist_id=PL1":        atom,
		"www.reddit.com/r/golang/.rss":                            smallFeed,
		"www.reddit.com/r/golang/s/AbC":                           "-> https://www.reddit.com/r/golang/comments/1abc/title/?share_id=1",
		"www.reddit.com/r/golang/comments/1abc/title/?share_id=1": `<!doctype html><p>post`,
		"www.reddit.com/r/golang/comments/1abc/title/.rss":        smallFeed,
		"hnrss.org/newest":                                        smallFeed,
		"news.ycombinator.com/rss":                                smallFeed,
		"github.com/golang/go/releases.atom":                      atom,
		"t.me/s/wire":                                             telegramPage,
		"t.me/s/closed_one":                                       "-> https://t.me/closed_one",
		"mastodon.example/@user":                                  alternate("https://mastodon.example/@user.rss"),
		"bare.example/@user":                                      `<!doctype html><p>needs a script`,
		"mastodon.example/@user.rss":                              smallFeed,
		"bare.example/@user.rss":                                  smallFeed,
		"bsky.app/profile/jay.bsky.social/rss":                    smallFeed,
		"medium.com/feed/@user":                                   smallFeed,
		"name.substack.com/feed":                                  "-> https://www.own.example/feed",
		"www.own.example/feed":                                    smallFeed,
		"wp.example/2026/05/a-post/":                              alternate("https://wp.example/2026/05/a-post/feed/") + alternate("/feed/"),
		"wp.example/feed/":                                        smallFeed,
		"wp.example/2026/05/a-post/feed/":                         `<rss version="2.0"><channel><title>Comments on: A post</title></channel></rss>`,
		"plain-wp.example/blog/":                                  `<!doctype html><p>x`,
		"plain-wp.example/blog/feed":                              smallFeed,
		"name.blogspot.com/":                                      `<!doctype html><link rel="alternate" type="application/atom+xml" title="Name - Atom" href="https://name.blogspot.com/feeds/posts/default"><link rel="service.post" type="application/atom+xml" href="https://www.blogger.com/feeds/1/posts/default">`,
		"name.blogspot.com/feeds/posts/default":                   atom,
		"name.tumblr.com/rss":                                     smallFeed,
		"itunes.apple.com/lookup?entity=podcast&id=1200361736":    `{"resultCount":1,"results":[{"collectionName":"Pod","feedUrl":"https://pod.example/rss"}]}`,
		"itunes.apple.com/lookup?entity=podcast&id=1":             `{"resultCount":0,"results":[]}`,
		"itunes.apple.com/lookup?entity=podcast&id=99999":         `{"resultCount":1,"results":[{"collectionName":"Only here"}]}`,
		"pod.example/rss":                                         smallFeed,
		"news.google.com/rss/search?q=bridge":                     smallFeed,
		"short.example/1":                                         "-> https://github.com/golang/go",
		"github.com/golang/go":                                    `<!doctype html><p>repository`,
		"short.example/2":                                         "-> https://t.me/wire",
		"t.me/wire":                                               `<!doctype html><p>t.me page`,
		"short.example/3":                                         "-> https://x.com/user/status/1",
		"x.com/user/status/1":                                     `<!doctype html><p>log in`,
	})
	r := sources.NewReader(w.client, "", time.Now)
	for in, want := range map[string][3]string{ // kind, what is polled, error
		"https://www.youtube.com/@Handle/featured":                {"youtube", "https://" + ytFeed, ""},
		"https://youtu.be/abcdefghijk":                            {"youtube", "https://" + ytFeed, ""},
		"https://www.youtube.com/playlist?list=PL1":               {"youtube", "https://www.youtube.com/feeds/videos.xml?playlist_id=PL1", ""},
		"https://www.youtube.com/c/Named":                         {"youtube", "", "no_channel"},
		"https://www.youtube.com/feed/trending":                   {"", "", "no_channel"},
		"https://old.reddit.com/r/golang":                         {"reddit", "https://www.reddit.com/r/golang/.rss", ""},
		"https://www.reddit.com/r/golang/s/AbC":                   {"reddit", "https://www.reddit.com/r/golang/comments/1abc/title/.rss", ""},
		"https://news.ycombinator.com/newest":                     {"hackernews", "https://hnrss.org/newest", ""},
		"news.ycombinator.com":                                    {"hackernews", "https://news.ycombinator.com/rss", ""},
		"https://github.com/golang/go/tree/master":                {"github", "https://github.com/golang/go/releases.atom", ""},
		"https://github.com/golang/missing":                       {"github", "", "not_found"},
		"https://t.me/wire/123":                                   {"telegram", "https://t.me/s/wire", ""},
		"@closed_one":                                             {"telegram", "", "preview_off"},
		"@user@mastodon.example":                                  {"feed", "https://mastodon.example/@user.rss", ""},
		"https://bare.example/@user/112345678901234567":           {"feed", "https://bare.example/@user.rss", ""},
		"https://bsky.app/profile/jay.bsky.social":                {"feed", "https://bsky.app/profile/jay.bsky.social/rss", ""},
		"https://medium.com/@user/a-title-0123456789ab":           {"feed", "https://medium.com/feed/@user", ""},
		"https://name.substack.com/p/a-post":                      {"feed", "https://www.own.example/feed", ""},
		"https://wp.example/2026/05/a-post/":                      {"feed", "https://wp.example/feed/", ""},
		"https://plain-wp.example/blog/":                          {"feed", "https://plain-wp.example/blog/feed", ""},
		"name.blogspot.com":                                       {"feed", "https://name.blogspot.com/feeds/posts/default", ""},
		"https://www.tumblr.com/name/1/x":                         {"feed", "https://name.tumblr.com/rss", ""},
		"https://podcasts.apple.com/us/podcast/pod/id1200361736":  {"feed", "https://pod.example/rss", ""},
		"https://podcasts.apple.com/us/podcast/only-here/id99999": {"feed", "", "podcast_without_feed"},
		"https://open.spotify.com/show/1":                         {"", "", "podcast_without_feed"},
		"https://news.google.com/search?q=bridge":                 {"feed", "https://news.google.com/rss/search?q=bridge", ""},
		"https://short.example/1":                                 {"github", "https://github.com/golang/go/releases.atom", ""},
		"https://short.example/2":                                 {"telegram", "https://t.me/s/wire", ""},
		"https://short.example/3":                                 {"feed", "", "closed_platform"},
		"https://www.instagram.com/user":                          {"", "", "closed_platform"},
	} {
		found, err := r.Look(t.Context(), in)
		rep := sources.Inspect(t.Context(), r, in)
		code := ""
		if rep.Error != nil {
			code = rep.Error.Code
		}
		if string(found.Kind) != want[0] || code != want[2] || err == nil && found.FinalURL != want[1] {
			t.Errorf("%s: %s, %s, %s (%v); want %s", in, found.Kind, found.FinalURL, code, err, want)
		}
		if rep.Error == nil && len(rep.Entries) != 1 && found.Kind != "telegram" {
			t.Errorf("%s: %d entries", in, len(rep.Entries))
		}
		t.Logf("%-60s %s %s", in, rep.Kind, rep.FinalURL)
	}
}
