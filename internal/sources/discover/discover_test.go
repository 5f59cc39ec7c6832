package discover

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestFeedsAreRanked(t *testing.T) {
	t.Parallel()
	page := `<html><head><base href="https://e.org/blog/">
<link rel="alternate" type="application/rss+xml" title="Comments Feed" href="/comments/feed">
<link rel="alternate" type="application/json+oembed" href="/wp-json/oembed?x">
<link rel="alternate" hreflang="de" href="/de/">
<link rel=ALTERNATE type=application/atom+xml href=atom.xml title="Main &amp; all">
<link rel="alternate" type="application/rss+xml" href="//e.org/blog/cats/feed">
<link rel="stylesheet" type="text/css" href="x.css"></head>
<body><a href="/rss.xml">RSS</a><a href="https://other.org/feed">theirs</a><a href="atom.xml">again</a></body></html>`
	var got []string
	for _, c := range Feeds([]byte(page), "https://e.org/blog/cats") {
		got = append(got, c.URL)
	}
	want := []string{"https://e.org/blog/cats/feed", "https://e.org/blog/atom.xml", "https://e.org/rss.xml", "https://e.org/comments/feed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestYouTubePagesNameTheirChannel(t *testing.T) {
	t.Parallel()
	const id = "UCabcdefghijklmnopqrstuv"
	for _, page := range []string{`{"externalId":"` + id + `"}`, `<meta itemprop="channelId" content="` + id + `">`} {
		if got := YouTubeFeed([]byte(page)); !strings.HasSuffix(got, "channel_id="+id) {
			t.Errorf("YouTubeFeed(%s) = %q", page, got)
		}
	}
	if got := YouTubeFeed([]byte("nothing")); got != "" {
		t.Errorf("found %q", got)
	}
}

func TestArticlesLeavesNavigationOut(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`<html><head><title>News</title></head><body><nav><a href="/news/about-us-and-our-history">About us and our long history</a></nav>`)
	for i := range 5 {
		fmt.Fprintf(&b, `<article><a href="/2026/05/story-%d"><img></a><h3><a href="/2026/05/story-%d?utm_source=main">A headline of story number %d</a></h3><a href="/tag/city">a tag that is long enough</a></article>`, i, i, i)
	}
	b.WriteString(`<footer><a href="/privacy-policy-of-the-site">The privacy policy of this site</a></footer>`)
	doc := Articles([]byte(b.String()), "https://e.org/")
	if len(doc.Entries) != 5 || doc.Entries[0].Title != "A headline of story number 0" || doc.Entries[0].Link != "https://e.org/2026/05/story-0" || doc.Title != "News" {
		t.Errorf("%+v", doc)
	}
	if doc := Articles([]byte(`<h1><a href="/2026/05/only-one-here">One single headline of a page</a></h1>`), "https://e.org/"); len(doc.Entries) > 0 {
		t.Errorf("one link is a list: %+v", doc.Entries)
	}
}

func TestSitemaps(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	doc, _, err := Sitemap(t.Context(), []byte(`<?xml version="1.0"?><urlset xmlns:n="x"><url><loc>https://e.org/old</loc><lastmod>2026-05-01</lastmod></url><url><loc> https://e.org/new </loc><n:news><n:title>New &amp; good</n:title><n:publication_date>2026-05-03T10:00:00+03:00</n:publication_date></n:news></url><url><loc>https://e.org/</loc></url></urlset>`), "https://e.org", now)
	if err != nil || len(doc.Entries) != 2 || doc.Entries[0].Title != "New & good" || doc.Entries[0].Link != "https://e.org/new" {
		t.Errorf("%+v %v", doc, err)
	}
	_, nested, err := Sitemap(t.Context(), []byte(`<sitemapindex><sitemap><loc>https://e.org/pages.xml</loc></sitemap><sitemap><loc>https://e.org/news.xml</loc></sitemap></sitemapindex>`), "https://e.org", now)
	if err != nil || len(nested) != 2 || nested[0] != "https://e.org/news.xml" {
		t.Errorf("%v %v", nested, err)
	}
	if _, _, err := Sitemap(t.Context(), []byte("<html></html>"), "https://e.org", now); err == nil {
		t.Error("a page is a sitemap")
	}
	if got := RobotsSitemaps([]byte("User-agent: *\nSitemap: https://e.org/s.xml\nsitemap: https://evil.org/s.xml\n"), "https://e.org"); len(got) != 1 {
		t.Errorf("robots: %v", got)
	}
}

func FuzzPages(f *testing.F) {
	f.Add([]byte(`<link rel=alternate type=application/rss+xml href=x><a href="/2026/05/a-b-c">words words words</a>`))
	f.Add([]byte(`<urlset><url><loc>http://e.org/a</loc><lastmod>2026</lastmod></url></urlset>`))
	f.Add([]byte("Sitemap: x\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range Feeds(b, "https://e.org/x") {
			if !strings.HasPrefix(c.URL, "http") {
				t.Errorf("candidate %q", c.URL)
			}
		}
		Articles(b, "https://e.org/x")
		YouTubeFeed(b)
		RobotsSitemaps(b, "https://e.org")
		_, _, _ = Sitemap(context.Background(), b, "https://e.org", time.Now())
	})
}

func TestASitemapStoredAsAGzipFileIsRead(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://e.org/a</loc><lastmod>2026-05-01</lastmod></url></urlset>`))
	_ = z.Close()
	doc, _, err := Sitemap(t.Context(), b.Bytes(), "https://e.org/sitemap.xml.gz", time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC))
	if err != nil || len(doc.Entries) != 1 || doc.Entries[0].Link != "https://e.org/a" {
		t.Errorf("%+v %v", doc, err)
	}
}
