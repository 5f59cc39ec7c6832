package discover

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/sources/decode"
)

// fewest links make a page a list of articles.
const fewest = 4

var (
	slugLike = regexp.MustCompile(`(?i)/(\d{4}/\d{1,2}|\d{4}-\d{2}-\d{2})(/|-)|/[a-z0-9%]+([-_][a-z0-9%]+){2,}(\.html?|/)?$|/(news|article|articles|story|post|posts|blog|novosti|statya)s?/[^/]+|[/-]\d{5,}(\.html?|/)?$`)
	notOurs  = regexp.MustCompile(`(?i)/(tag|tags|category|categories|author|authors|about|contacts?|privacy|terms|login|signin|signup|register|search|page|archive|rss|feed|advert\w*|subscribe|user|users|wp-admin|cart|policy|help|faq)(/|$|\?)`)
)

// Articles reads a page as a list of links to its own articles, for sites that
// have neither feed nor sitemap. It returns a document without entries when
// the page is no such list.
func Articles(page []byte, pageURL string) *decode.Document {
	out := &decode.Document{Format: decode.HTML, Home: pageURL}
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return out
	}
	base := baseOf(doc, pageURL)
	seen := map[string]int{}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "title" && out.Title == "" {
			out.Title = article.Title(textOf(n))
		}
		if n.Data != "a" || len(out.Entries) >= 200 {
			continue
		}
		e, ok := articleLink(n, base, pageURL)
		if !ok {
			continue
		}
		key := article.Canonical(e.Link)
		if i, dup := seen[key]; dup {
			if len(e.Title) > len(out.Entries[i].Title) && inHeading(n) {
				out.Entries[i].Title = e.Title
			}
			continue
		}
		seen[key] = len(out.Entries)
		out.Entries = append(out.Entries, e)
	}
	if len(out.Entries) < fewest {
		out.Entries = nil
	}
	return out
}

// articleLink judges one link by where it leads, where it stands and what it says.
func articleLink(n *html.Node, base, pageURL string) (decode.Entry, bool) {
	href := article.CleanURL(article.Resolve(base, attrs(n)["href"]))
	if href == "" || !sameSite(href, pageURL) || article.IsHome(href) || article.Canonical(href) == article.Canonical(pageURL) {
		return decode.Entry{}, false
	}
	u, err := url.Parse(href)
	if err != nil || notOurs.MatchString(u.RequestURI()) {
		return decode.Entry{}, false
	}
	title := article.Title(textOf(n))
	runes := utf8.RuneCountInString(title)
	if runes < 12 || runes > 300 || within(n, "nav", "footer", "header", "aside") && !inHeading(n) {
		return decode.Entry{}, false
	}
	score := 0
	if inHeading(n) {
		score += 2
	}
	if within(n, "article", "main") {
		score++
	}
	if slugLike.MatchString(u.RequestURI()) {
		score += 2
	}
	if runes >= 25 && strings.Count(title, " ") >= 3 {
		score++
	}
	return decode.Entry{Link: href, Title: title, ID: ""}, score >= 3
}

func inHeading(n *html.Node) bool {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && isHeading(d.Data) {
			return true
		}
	}
	return within(n, "h1", "h2", "h3", "h4")
}

func isHeading(s string) bool { return s == "h1" || s == "h2" || s == "h3" || s == "h4" }

func within(n *html.Node, names ...string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		for _, name := range names {
			if p.Data == name {
				return true
			}
		}
	}
	return false
}
