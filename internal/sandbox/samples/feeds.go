package samples

import (
	"encoding/json"
	"encoding/xml"
	"html"
	"net/http"
	"strings"
	"time"
)

type rss struct {
	XMLName xml.Name `xml:"rss"`
	Version string   `xml:"version,attr"`
	Content string   `xml:"xmlns:content,attr"`
	Channel struct {
		Title       string    `xml:"title"`
		Link        string    `xml:"link"`
		Description string    `xml:"description"`
		Language    string    `xml:"language"`
		TTL         int       `xml:"ttl"`
		Items       []rssItem `xml:"item"`
	} `xml:"channel"`
}

type rssItem struct {
	Title       string        `xml:"title"`
	Link        string        `xml:"link"`
	GUID        rssGUID       `xml:"guid"`
	PubDate     string        `xml:"pubDate"`
	Categories  []string      `xml:"category"`
	Description string        `xml:"description"`
	Content     string        `xml:"content:encoded"`
	Enclosure   *rssEnclosure `xml:"enclosure"`
}

type rssGUID struct {
	Permalink bool   `xml:"isPermaLink,attr"`
	Value     string `xml:",chardata"`
}

type rssEnclosure struct {
	URL    string `xml:"url,attr"`
	Type   string `xml:"type,attr"`
	Length int    `xml:"length,attr"`
}

type atom struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	Lang    string      `xml:"xml:lang,attr"`
	Title   string      `xml:"title"`
	ID      string      `xml:"id"`
	Updated string      `xml:"updated"`
	Links   []atomLink  `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Type string `xml:"type,attr,omitempty"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	Title      string         `xml:"title"`
	ID         string         `xml:"id"`
	Published  string         `xml:"published"`
	Updated    string         `xml:"updated"`
	Links      []atomLink     `xml:"link"`
	Categories []atomCategory `xml:"category"`
	Summary    string         `xml:"summary"`
	Content    atomContent    `xml:"content"`
}

type atomCategory struct {
	Term string `xml:"term,attr"`
}

type atomContent struct {
	Type string `xml:"type,attr"`
	Body string `xml:",chardata"`
}

// content is an entry as HTML.
func (e Entry) content() string {
	var b strings.Builder
	if e.Image != "" {
		b.WriteString(`<p><img src="` + html.EscapeString(e.Image) + `" alt=""></p>`)
	}
	for _, p := range e.Body {
		b.WriteString("<p>" + html.EscapeString(p) + "</p>")
	}
	return b.String()
}

func (n *Newsroom) writeRSS(w http.ResponseWriter, s *Source, list []Entry) error {
	f := rss{Version: "2.0", Content: "http://purl.org/rss/1.0/modules/content/"}
	f.Channel.Title, f.Channel.Link, f.Channel.Description = s.Name, n.Site(s), s.About
	f.Channel.Language, f.Channel.TTL = s.Lang, 1
	for _, e := range list {
		item := rssItem{
			Title: e.Title, Link: e.URL + "?utm_source=rss&utm_medium=feed", GUID: rssGUID{true, e.URL},
			PubDate: e.Published.Format(time.RFC1123Z), Categories: e.Tags, Description: e.Body[0], Content: e.content(),
		}
		if e.Image != "" {
			item.Enclosure = &rssEnclosure{e.Image, "image/jpeg", 40000}
		}
		f.Channel.Items = append(f.Channel.Items, item)
	}
	return writeXML(w, "application/rss+xml", f)
}

func (n *Newsroom) writeAtom(w http.ResponseWriter, s *Source, list []Entry) error {
	f := atom{Lang: s.Lang, Title: s.Name, ID: n.Site(s), Links: []atomLink{
		{"alternate", "text/html", n.Site(s)}, {"self", "application/atom+xml", n.Feed(s)},
	}}
	for i, e := range list {
		at := e.Published.Format(time.RFC3339)
		if i == 0 {
			f.Updated = at
		}
		a := atomEntry{
			Title: e.Title, ID: "tag:samples.postonce.test,2026:" + s.Slug + "/" + e.URL[strings.LastIndexByte(e.URL, '/')+1:],
			Published: at, Updated: at, Links: []atomLink{{"alternate", "text/html", e.URL}},
			Summary: e.Body[0], Content: atomContent{"html", e.content()},
		}
		if e.Image != "" {
			a.Links = append(a.Links, atomLink{"enclosure", "image/jpeg", e.Image})
		}
		for _, t := range e.Tags {
			a.Categories = append(a.Categories, atomCategory{t})
		}
		f.Entries = append(f.Entries, a)
	}
	return writeXML(w, "application/atom+xml", f)
}

func writeXML(w http.ResponseWriter, kind string, v any) error {
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	if _, err := w.Write([]byte(xml.Header)); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", " ")
	return enc.Encode(v)
}

func (n *Newsroom) writeJSON(w http.ResponseWriter, s *Source, list []Entry) error {
	items := make([]map[string]any, 0, len(list))
	for _, e := range list {
		item := map[string]any{
			"id": e.URL, "url": e.URL, "title": e.Title, "content_html": e.content(), "summary": e.Body[0],
			"date_published": e.Published.Format(time.RFC3339), "tags": e.Tags, "language": s.Lang,
		}
		if e.Image != "" {
			item["image"] = e.Image
		}
		items = append(items, item)
	}
	w.Header().Set("Content-Type", "application/feed+json; charset=utf-8")
	return json.NewEncoder(w).Encode(map[string]any{
		"version": "https://jsonfeed.org/version/1.1", "title": s.Name, "home_page_url": n.Site(s), "feed_url": n.Feed(s),
		"language": s.Lang, "description": s.About, "items": items,
	})
}
