package article

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"time"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
)

// Page is what a web page says, once navigation and advertising are gone.
type Page struct {
	Title     string
	Text      string // clean text, paragraphs separated by an empty line
	Image     string // absolute address, or ""
	SiteName  string
	Language  string // as the page declares it
	Canonical string // the page's own rel=canonical, absolute, or ""
	Published time.Time
}

// maxPageText bounds the text kept of one page, in runes.
const maxPageText = 60_000

// Extract reads the article of an HTML page (UTF-8). It returns an error when
// the page holds no article text. The parser refuses documents nested deeper
// than 512 elements, so a hostile page costs no stack.
func Extract(body []byte, pageURL string) (Page, error) {
	u, err := url.Parse(pageURL)
	if err != nil {
		return Page{}, fmt.Errorf("read page: %w", err)
	}
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return Page{}, fmt.Errorf("read page: %w", err)
	}
	canonical := Resolve(pageURL, linkCanonical(doc))
	art, err := readability.FromDocument(doc, u)
	if err != nil {
		return Page{}, fmt.Errorf("read page: %w", err)
	}
	p := Page{
		Title: Title(art.Title()), SiteName: Title(art.SiteName()), Language: art.Language(),
		Image: Resolve(pageURL, art.ImageURL()), Canonical: canonical,
	}
	if t, err := art.PublishedTime(); err == nil {
		p.Published = t.UTC()
	}
	var b strings.Builder
	if art.Node != nil {
		if err := art.RenderHTML(&b); err != nil {
			return Page{}, fmt.Errorf("render page: %w", err)
		}
	}
	p.Text = Text(b.String(), maxPageText)
	if p.Text == "" {
		p.Text = Text(art.Excerpt(), maxPageText)
	}
	if p.Text == "" {
		return p, fmt.Errorf("read page: no article text in %q", u.Host)
	}
	return p, nil
}

func linkCanonical(n *html.Node) string {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == "link" {
			var rel, href string
			for _, a := range d.Attr {
				switch a.Key {
				case "rel":
					rel = strings.ToLower(a.Val)
				case "href":
					href = a.Val
				}
			}
			if rel == "canonical" {
				return href
			}
		}
		if d.Type == html.ElementNode && d.Data == "body" {
			return ""
		}
	}
	return ""
}
