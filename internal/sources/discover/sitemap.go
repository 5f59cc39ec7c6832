package discover

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"sort"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/sources/decode"
)

// maxSitemap bounds the entries of a sitemap that are looked at: the newest.
const maxSitemap = 200

// ErrNoSitemap means that a document is no sitemap.
var ErrNoSitemap = errors.New("not a sitemap")

// RobotsSitemaps lists the sitemaps that a robots.txt names.
func RobotsSitemaps(robots []byte, siteURL string) []string {
	var out []string
	for line := range strings.Lines(string(robots[:min(len(robots), 256<<10)])) {
		name, value, found := strings.Cut(line, ":")
		if found && strings.EqualFold(strings.TrimSpace(name), "sitemap") && len(out) < 10 {
			if abs := article.Resolve(siteURL, value); abs != "" && sameSite(abs, siteURL) {
				out = append(out, abs)
			}
		}
	}
	return out
}

// Sitemap reads a sitemap or a news sitemap as a document: its newest entries
// first. nested are the sitemaps of a sitemap index, the likeliest to hold
// news first.
func Sitemap(ctx context.Context, body []byte, siteURL string, now time.Time) (doc *decode.Document, nested []string, err error) {
	body, _ = decode.ToUTF8(decode.Unpacked(body), "")
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	s := sitemapReader{now: now, site: siteURL}
	for {
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		tok, err := d.Token()
		if err != nil {
			break
		}
		if !s.take(tok) {
			break
		}
	}
	if !s.isSitemap {
		return nil, nil, ErrNoSitemap
	}
	sort.SliceStable(s.entries, func(i, j int) bool { return s.entries[i].Published.After(s.entries[j].Published) })
	if len(s.entries) > maxSitemap {
		s.entries = s.entries[:maxSitemap]
	}
	sort.SliceStable(s.nested, func(i, j int) bool { return newsRank(s.nested[i]) > newsRank(s.nested[j]) })
	return &decode.Document{Format: decode.Sitemap, Home: siteURL, Entries: s.entries}, s.nested, nil
}

func newsRank(u string) int {
	l := strings.ToLower(u)
	for i, w := range []string{"news", "post", "article", "blog"} {
		if strings.Contains(l, w) {
			return 10 - i
		}
	}
	return 0
}

// sitemapReader follows the tokens of one sitemap; its depth is bounded by
// the few names that it keeps.
type sitemapReader struct {
	now       time.Time
	site      string
	isSitemap bool
	depth     int
	name      string
	text      strings.Builder
	cur       decode.Entry
	lastmod   string
	inIndex   bool
	entries   []decode.Entry
	nested    []string
}

func (s *sitemapReader) take(tok xml.Token) bool {
	switch t := tok.(type) {
	case xml.StartElement:
		s.depth++
		s.name = t.Name.Local
		s.text.Reset()
		switch t.Name.Local {
		case "urlset":
			s.isSitemap = true
		case "sitemapindex":
			s.isSitemap, s.inIndex = true, true
		case "url", "sitemap":
			s.cur, s.lastmod = decode.Entry{}, ""
		}
		return s.depth < 50 && (s.isSitemap || s.depth < 3)
	case xml.CharData:
		if s.text.Len() < 4096 {
			s.text.Write(t[:min(len(t), 4096)])
		}
	case xml.EndElement:
		s.depth--
		s.end(t.Name.Local)
		return len(s.entries) < 50_000 && len(s.nested) < 1000
	}
	return true
}

func (s *sitemapReader) end(name string) {
	text := strings.TrimSpace(s.text.String())
	switch name {
	case "loc":
		if s.cur.Link == "" {
			s.cur.Link = article.Resolve(s.site, text)
		} else if s.cur.Image == "" { // image:loc
			s.cur.Image = article.Resolve(s.site, text)
		}
	case "lastmod":
		s.lastmod = text
	case "publication_date":
		s.cur.RawDate = text
	case "title":
		s.cur.Title = article.Title(text)
	case "language":
		s.cur.Language = text
	case "sitemap":
		if s.inIndex && s.cur.Link != "" {
			s.nested = append(s.nested, s.cur.Link)
		}
	case "url":
		if s.cur.Link == "" || article.IsHome(s.cur.Link) {
			return
		}
		if s.cur.RawDate == "" {
			s.cur.RawDate = s.lastmod
		}
		if t, ok := decode.ParseDate(s.cur.RawDate); ok {
			s.cur.Published = decode.Plausible(t, s.now)
		}
		s.entries = append(s.entries, s.cur)
	}
}
