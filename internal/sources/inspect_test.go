package sources_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/sources"
)

func testClient(t testing.TB) *fetch.Client {
	t.Helper()
	c := fetch.New(fetch.Config{AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	t.Cleanup(c.Close)
	return c
}

func fixedNow() time.Time { return time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC) }

// site serves fixed pages.
func site(t testing.TB, pages map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, strings.ReplaceAll(body, "HOST", r.Host))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

const smallFeed = `<rss version="2.0"><channel><title>Wire</title><link>http://e.org/</link><item><title>One</title><link>http://e.org/1?utm_source=rss</link><guid>http://e.org/1</guid><pubDate>Mon, 04 May 2026 07:00:00 GMT</pubDate><description>&lt;p&gt;Text&lt;/p&gt;</description></item></channel></rss>`

const telegramPage = `<html><head><meta property="og:title" content="Wire"></head><body><div class="tgme_channel_info"></div><section class="tgme_channel_history">
<div class="tgme_widget_message_wrap"><div class="tgme_widget_message" data-post="wire/7"><a class="tgme_widget_message_photo_wrap" style="width:1px;background-image:url('https://cdn.example/p.jpg')"></a><div class="tgme_widget_message_text">First line<br/>second <b>bold</b></div><a class="tgme_widget_message_date" href="https://t.me/wire/7"><time datetime="2026-05-04T07:00:00+00:00"></time></a></div></div>
<div class="tgme_widget_message_wrap"><div class="tgme_widget_message service_message" data-post="wire/8"><div class="tgme_widget_message_text">Channel photo updated</div></div></div>
<div class="tgme_widget_message_wrap"><div class="tgme_widget_message" data-post="wire/9"><a class="tgme_widget_message_reply"><div class="tgme_widget_message_text">quoted</div></a><div class="tgme_widget_message_text">Newest</div></div></div></section></body></html>`

func TestInspectSeesWhatAnAddressIs(t *testing.T) {
	t.Parallel()
	list := ""
	for i := range 5 {
		list += fmt.Sprintf(`<article><h2><a href="/news/2026/05/story-number-%d">A long headline of story number %d</a></h2></article>`, i, i)
	}
	base := site(t, map[string]string{
		"/wire.xml":      smallFeed,
		"/page":          `<!doctype html><link rel="alternate" type="application/rss+xml" title="Comments" href="/comments.xml"><link rel="alternate" type="application/rss+xml" href="/wire.xml">`,
		"/comments.xml":  smallFeed,
		"/s/wire":        telegramPage,
		"/list/":         "<html><head><title>News</title></head><body>" + list + "</body></html>",
		"/subscriptions": `<opml><body><outline xmlUrl="http://a.example/feed"/></body></opml>`,
		"/sitemap-news":  `<urlset xmlns:news="n"><url><loc>http://HOST/a-b-c</loc><news:news><news:publication_date>2026-05-04</news:publication_date><news:title>News title</news:title></news:news></url></urlset>`,
		"/empty":         " ",
		"/blank-page":    "<!doctype html><p>nothing",
		"/error.json":    `{"error":"rate limited"}`,
	})
	r := sources.NewReader(testClient(t), base+"/s", fixedNow)
	for in, want := range map[string][]string{ // kind, format, entries, error
		base + "/wire.xml":      {"feed", "rss", "1", ""},
		base + "/page":          {"feed", "rss", "1", ""},
		"@wire":                 {"telegram", "telegram", "2", ""},
		base + "/list/":         {"site", "html", "5", ""},
		base + "/sitemap-news":  {"site", "sitemap", "1", ""},
		base + "/subscriptions": {"opml", "opml", "0", "opml"},
		base + "/empty":         {"feed", "", "0", "empty"},
		base + "/missing":       {"feed", "", "0", "not_found"},
		base + "/error.json":    {"feed", "", "0", "json_error"},
		"@nobody":               {"telegram", "", "0", "not_found"},
		"http://10.0.0.1/":      {"feed", "", "0", "private_address"},
		"https://t.me/+abc":     {"", "", "0", "telegram_private"},
		"hello":                 {"", "", "0", "no_address"},
	} {
		rep := sources.Inspect(t.Context(), r, in)
		code := ""
		if rep.Error != nil {
			code = rep.Error.Code
			if rep.Error.Message == "" {
				t.Errorf("%s: no sentence for %s", in, code)
			}
		}
		if diff := cmp.Diff(want, []string{rep.Kind, rep.Format, fmt.Sprint(len(rep.Entries)), code}); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}

func TestInspectReportsEntriesAsTheyWouldBeTaken(t *testing.T) {
	t.Parallel()
	base := site(t, map[string]string{"/wire.xml": smallFeed, "/s/wire": telegramPage})
	r := sources.NewReader(testClient(t), base+"/s", fixedNow)
	rep := sources.Inspect(t.Context(), r, base+"/wire.xml")
	want := sources.ReportEntry{
		ID: "http://e.org/1", URL: "http://e.org/1", Title: "One", Text: "Text", Published: "2026-05-04T07:00:00Z",
		Keys: []string{"id:e.org/1", "id-path:/1", "link:e.org/1"},
	}
	if diff := cmp.Diff(want, rep.Entries[0]); diff != "" {
		t.Error(diff)
	}
	tg := sources.Inspect(t.Context(), r, "https://t.me/wire/7")
	got := []string{tg.Entries[0].Title, tg.Entries[1].Title, tg.Entries[1].Text, tg.Entries[1].Image, tg.Entries[1].URL, tg.Entries[1].Keys[0]}
	if diff := cmp.Diff([]string{"Newest", "First line", "First line\nsecond bold", "https://cdn.example/p.jpg", "https://t.me/wire/7", "platform:telegram:wire/7"}, got); diff != "" {
		t.Error(diff)
	}
	var js bytes.Buffer
	if err := json.NewEncoder(&js).Encode(rep); err != nil || !strings.Contains(js.String(), `"final_url"`) {
		t.Errorf("%v %s", err, &js)
	}
}
