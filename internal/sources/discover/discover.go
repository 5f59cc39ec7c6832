// Package discover finds what can be followed on a web page: the feeds that it
// names, the sitemaps beside it, or the links to its own articles. It is pure:
// the caller fetches.
package discover

import (
	"bytes"
	"net/url"
	"regexp"
	"sort"
	"strings"

	"golang.org/x/net/html"

	"github.com/postonce/postonce/internal/article"
)

// Candidate is a feed that a page may have.
type Candidate struct {
	URL   string
	Title string
	rank  int
	order int
}

// WellKnown are the paths at which the feed of a page stands when no page says
// so: below the page first, then on the site. They are tried when a person adds
// a site, never in the background.
func WellKnown(page string) []string {
	var out []string
	switch page = strings.TrimRight(page, "/"); {
	case strings.HasPrefix(page, "/@") && strings.Count(page, "/") == 1:
		out = append(out, page+".rss") // Mastodon and its kin
	case page != "" && !strings.Contains(page[strings.LastIndexByte(page, '/'):], "."):
		out = append(out, page+"/feed")
	}
	return append(out, "/feed", "/rss.xml", "/feed.xml", "/atom.xml", "/rss", "/index.xml")
}

// youtubeChannels are the places at which a page names its own channel, the
// surest first: further down pages name other channels too.
var youtubeChannels = []*regexp.Regexp{
	regexp.MustCompile(`feeds/videos\.xml\?channel_id=(UC[A-Za-z0-9_-]{20,30})`),
	regexp.MustCompile(`rel="canonical" href="https?://(?:www|m)\.youtube\.com/channel/(UC[A-Za-z0-9_-]{20,30})`),
	regexp.MustCompile(`"externalId":"(UC[A-Za-z0-9_-]{20,30})"`),
	regexp.MustCompile(`itemprop="(?:channelId|identifier)" content="(UC[A-Za-z0-9_-]{20,30})"`),
	regexp.MustCompile(`"channelId":"(UC[A-Za-z0-9_-]{20,30})","isOwnerViewing"`), // of the video that is played
	regexp.MustCompile(`"(?:externalChannelId|channelId|browseId)":"(UC[A-Za-z0-9_-]{20,30})"`),
}

// YouTubeFeed finds the feed of the channel that a YouTube page belongs to.
func YouTubeFeed(page []byte) string {
	for _, place := range youtubeChannels {
		if m := place.FindSubmatch(page); m != nil {
			return "https://www.youtube.com/feeds/videos.xml?channel_id=" + string(m[1])
		}
	}
	return ""
}

// Feeds lists the feeds that a page names, the best first: the page's own
// before the site's, main feeds before comments, declared before linked.
func Feeds(page []byte, pageURL string) []Candidate {
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil
	}
	base := baseOf(doc, pageURL)
	var out []Candidate
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || len(out) >= 50 {
			continue
		}
		var c Candidate
		switch n.Data {
		case "link":
			c = declared(n, base)
		case "a":
			c = linked(n, base, pageURL)
		}
		if c.URL != "" {
			c.rank += fit(c, pageURL)
			c.order = len(out)
			out = append(out, c)
		}
	}
	return ranked(out)
}

func ranked(out []Candidate) []Candidate {
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].rank != out[j].rank {
			return out[i].rank > out[j].rank
		}
		return out[i].order < out[j].order
	})
	seen := map[string]bool{}
	kept := out[:0]
	for _, c := range out {
		if key := article.Canonical(c.URL); !seen[key] {
			seen[key] = true
			kept = append(kept, c)
		}
	}
	return kept
}

// declared reads <link rel=alternate type=application/rss+xml href=…>.
func declared(n *html.Node, base string) Candidate {
	a := attrs(n)
	rel := " " + strings.ToLower(a["rel"]) + " "
	kind := strings.ToLower(strings.TrimSpace(a["type"]))
	if !strings.Contains(rel, " alternate ") && !strings.Contains(rel, " feed ") {
		return Candidate{}
	}
	switch {
	case strings.Contains(kind, "oembed"), strings.Contains(a["href"], "wp-json"):
		return Candidate{}
	case strings.Contains(kind, "rss"), strings.Contains(kind, "atom"), kind == "application/feed+json", kind == "application/rdf+xml",
		strings.HasSuffix(kind, "/xml"), kind == "application/json" && strings.Contains(a["href"], "feed"), strings.Contains(rel, " feed "):
		return Candidate{URL: article.Resolve(base, a["href"]), Title: article.Title(a["title"]), rank: 100}
	}
	return Candidate{}
}

var feedPath = regexp.MustCompile(`(?i)(\.(rss|atom|rdf)|/(rss|feed|feeds|atom)(\.xml|\.json|/index\.xml)?/?|/(index|news|rss\w*|feed\w*)\.xml|[?&]feed=\w+)$`)

// linked reads a visible link that looks like one to a feed of the same site.
func linked(n *html.Node, base, pageURL string) Candidate {
	href := article.Resolve(base, attrs(n)["href"])
	if href == "" || !feedPath.MatchString(href) || !sameSite(href, pageURL) {
		return Candidate{}
	}
	return Candidate{URL: href, Title: article.Title(textOf(n)), rank: 50}
}

// fit raises feeds that belong to the page and lowers those of comments.
func fit(c Candidate, pageURL string) int {
	low := strings.ToLower(c.URL + " " + c.Title)
	score := 0
	if strings.Contains(low, "comment") || strings.Contains(low, "комментари") || strings.Contains(low, "replies") {
		score -= 60
	}
	if strings.Contains(low, "podcast") || strings.Contains(low, "/tag/") {
		score -= 5
	}
	p, err1 := url.Parse(pageURL)
	f, err2 := url.Parse(c.URL)
	if err1 == nil && err2 == nil {
		if dir := strings.TrimRight(p.Path, "/"); strings.Count(dir, "/") > 0 && strings.HasPrefix(f.Path, dir+"/") {
			score += 10
		}
		if !sameSite(c.URL, pageURL) {
			score -= 3
		}
	}
	return score
}

func sameSite(a, b string) bool {
	ua, err1 := url.Parse(a)
	ub, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && article.CanonicalHost(ua.Hostname()) == article.CanonicalHost(ub.Hostname())
}

func baseOf(doc *html.Node, pageURL string) string {
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && n.Data == "base" {
			if b := article.Resolve(pageURL, attrs(n)["href"]); b != "" {
				return b
			}
		}
	}
	return pageURL
}

func attrs(n *html.Node) map[string]string {
	m := make(map[string]string, len(n.Attr))
	for _, a := range n.Attr {
		if _, ok := m[a.Key]; !ok {
			m[a.Key] = a.Val
		}
	}
	return m
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && b.Len() < 1000 {
			b.WriteString(d.Data + " ")
		}
	}
	return b.String()
}
