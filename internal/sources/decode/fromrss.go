package decode

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"

	ext "github.com/mmcdole/gofeed/extensions"
	"github.com/mmcdole/gofeed/rss"
	"golang.org/x/net/html"

	"github.com/postonce/postonce/internal/article"
)

// rss translates a parsed RSS or RDF document.
func (p *xmlParse) rss(f *rss.Feed, raw []span, src []byte) {
	d := p.doc
	d.Version = f.Version
	if d.Title == "" {
		d.Title = article.Title(first(f.Title, child(f.Extensions, "itunes", "title"), child(f.Extensions, "dc", "title")))
	}
	if d.Home == "" {
		d.Home = p.resolve(first(f.Link, atomLink(f.Extensions, "alternate")))
	}
	d.Language = first(d.Language, strings.TrimSpace(f.Language), child(f.Extensions, "dc", "language"))
	if n, err := strconv.Atoi(strings.TrimSpace(f.TTL)); err == nil && n > 0 {
		d.TTL = time.Duration(min(n, 7*24*60)) * time.Minute
	}
	if len(raw) != len(f.Items) {
		raw = nil
	}
	for i, it := range f.Items {
		if it == nil {
			continue
		}
		var markup []byte
		if raw != nil {
			markup = src[raw[i].start:raw[i].end]
		}
		d.Entries = append(d.Entries, p.rssItem(it, markup))
	}
}

func (p *xmlParse) rssItem(it *rss.Item, markup []byte) Entry {
	x := it.Extensions
	e := Entry{
		Title:   plainTitle(it.Title, child(x, "itunes", "title"), mediaText(x, "title"), child(x, "dc", "title")),
		Summary: unwrapped(it.Description, child(x, "dc", "description"), child(x, "itunes", "summary"), child(x, "atom", "summary"), mediaText(x, "description")),
		Author:  article.Title(first(child(x, "dc", "creator"), it.Author, child(x, "itunes", "author"), child(x, "dc", "author"))),
	}
	e.Body = unwrapped(it.Content, it.Custom["encoded"], child(x, "atom", "content"), xhtmlBody(x, markup), e.Summary)
	if len(e.Body) < len(e.Summary)/2 {
		e.Body = e.Summary
	}
	if it.GUID != nil {
		e.ID = CleanID(it.GUID.Value)
		e.PermaID = !strings.EqualFold(strings.TrimSpace(it.GUID.IsPermalink), "false")
	}
	about := rdfAbout(markup)
	if e.ID == "" {
		e.ID = first(CleanID(about), CleanID(child(x, "atom", "id")), CleanID(child(x, "dc", "identifier")))
	}
	e.Origin = p.resolve(first(child(x, "feedburner", "origLink"), child(x, "pheedo", "origLink")))
	e.Link = p.link(e, it.Link, atomLink(x, "alternate"), e.Origin, about)
	e.RawDate, e.Published = p.dateOf(it.PubDate, child(x, "dc", "date"), child(x, "dcterms", "issued"), child(x, "dcterms", "created"),
		child(x, "atom", "published"), child(x, "atom", "updated"), child(x, "prism", "publicationDate"),
		it.Custom["published"], it.Custom["date"], child(x, "dcterms", "date"), child(x, "dcterms", "modified"), it.Custom["updated"])
	for _, enc := range it.Enclosures {
		p.enclose(&e, enc.URL, enc.Type)
	}
	p.media(&e, x)
	return e
}

// link takes the first candidate that is an address; a permalink id counts.
func (p *xmlParse) link(e Entry, candidates ...string) string {
	for i, c := range candidates {
		if c = mendLink(c); c == "" {
			continue
		}
		if abs := p.resolve(c); abs != "" {
			if i == 3 {
				p.doc.repair("links taken from rdf:about")
			}
			return abs
		}
	}
	if e.PermaID && strings.Contains(e.ID, "://") {
		if abs := article.Resolve("", e.ID); abs != "" {
			p.doc.repair("links taken from ids")
			return abs
		}
	}
	return ""
}

// resolve makes an address absolute. xml:base was applied by gofeed.
func (p *xmlParse) resolve(ref string) string {
	if strings.TrimSpace(ref) == "" {
		return ""
	}
	if strings.Contains(ref, "://") || p.in.URL == "" {
		return article.Resolve("", ref)
	}
	abs := article.Resolve(p.in.URL, ref)
	if abs != "" {
		p.doc.repair("relative links")
	}
	return abs
}

// dateOf takes the first of an entry's dates that can be believed.
func (p *xmlParse) dateOf(candidates ...string) (raw string, at time.Time) {
	for _, c := range candidates {
		if at = p.date(c); !at.IsZero() {
			return c, at
		}
	}
	return first(candidates...), time.Time{}
}

func (p *xmlParse) date(raw string) time.Time {
	if strings.TrimSpace(raw) == "" {
		return time.Time{}
	}
	t, ok := ParseDate(raw)
	if ok {
		t = Plausible(t, p.in.Now)
	}
	if t.IsZero() {
		p.doc.repair("absurd dates ignored")
	}
	return t
}

var pictureFile = regexp.MustCompile(`(?i)\.(?:jpe?g|png|webp|gif)$`)

func (p *xmlParse) enclose(e *Entry, address, mime string) {
	address = p.resolve(address)
	switch {
	case address == "":
	case strings.HasPrefix(mime, "image/") || mime == "" && pictureFile.MatchString(address):
		e.Image = first(e.Image, address)
	default:
		e.Enclosure = first(e.Enclosure, address)
	}
}

// media reads Media RSS (YouTube's groups too) and iTunes pictures.
func (p *xmlParse) media(e *Entry, x ext.Extensions) {
	if id := child(x, "yt", "videoId"); id != "" {
		e.Platform = "youtube:" + id
	}
	groups := []map[string][]ext.Extension{x["media"]}
	for _, g := range x["media"]["group"] {
		groups = append(groups, g.Children)
	}
	for _, g := range groups {
		for _, c := range g["content"] {
			kind := c.Attrs["type"]
			if c.Attrs["medium"] == "image" {
				kind = "image/"
			}
			p.enclose(e, c.Attrs["url"], kind)
			for _, t := range c.Children["thumbnail"] {
				e.Image = first(e.Image, p.resolve(t.Attrs["url"]))
			}
		}
		for _, t := range g["thumbnail"] {
			e.Image = first(e.Image, p.resolve(t.Attrs["url"]))
		}
	}
	for _, i := range x["itunes"]["image"] {
		e.Image = first(e.Image, p.resolve(i.Attrs["href"]))
	}
}

// mediaText is the title or description of Media RSS, inside its group or
// outside.
func mediaText(x ext.Extensions, name string) string {
	if d := x["media"][name]; len(d) > 0 {
		return d[0].Value
	}
	for _, g := range x["media"]["group"] {
		if d := g.Children[name]; len(d) > 0 {
			return d[0].Value
		}
	}
	return ""
}

// xhtmlBody is the inner markup of an <xhtml:body>, which gofeed takes apart.
func xhtmlBody(x ext.Extensions, markup []byte) string {
	if len(x["xhtml"]["body"])+len(x["xhtml"]["div"]) == 0 {
		return ""
	}
	i := bytes.Index(markup, []byte("body"))
	if i < 0 {
		i = bytes.Index(markup, []byte("div"))
	}
	if i < 0 {
		return ""
	}
	inner := markup[i:]
	if a := bytes.IndexByte(inner, '>'); a >= 0 {
		inner = inner[a+1:]
	}
	if z := bytes.LastIndex(inner, []byte("</")); z >= 0 { // </item>
		inner = inner[:z]
	}
	return string(inner)
}

// rdfAbout reads the rdf:about of an item's start tag.
func rdfAbout(markup []byte) string {
	end := bytes.IndexByte(markup, '>')
	if end < 0 {
		return ""
	}
	i := bytes.Index(markup[:end], []byte(":about="))
	if i < 0 || i+8 >= end {
		return ""
	}
	q := markup[i+7]
	v := markup[i+8 : end]
	if n := bytes.IndexByte(v, q); n >= 0 && (q == '"' || q == '\'') {
		return html.UnescapeString(string(v[:n]))
	}
	return ""
}

// child is the text of the first extension element of that name.
func child(x ext.Extensions, prefix, name string) string {
	if e := x[prefix][name]; len(e) > 0 {
		return strings.TrimSpace(e[0].Value)
	}
	return ""
}

// atomLink is the address of an embedded atom:link.
func atomLink(x ext.Extensions, rel string) string {
	for _, prefix := range []string{"atom", "atom03", "atom10"} {
		for _, l := range x[prefix]["link"] {
			if r := l.Attrs["rel"]; r == rel || (r == "" && rel == "alternate") {
				return l.Attrs["href"]
			}
		}
	}
	return ""
}

// plainTitle is the first title that is one, plain.
func plainTitle(ss ...string) string { return article.Title(unwrapped(ss...)) }

// unwrapped is the first of the texts that is not blank, without the marks of a
// CDATA section that was escaped as if it were text, or put into another one.
func unwrapped(ss ...string) string {
	s := first(ss...)
	for range 3 {
		t := strings.TrimSpace(s)
		if len(t) < 9 || !strings.EqualFold(t[:9], "<![CDATA[") {
			break
		}
		s = strings.TrimSuffix(strings.TrimSuffix(t[9:], ">"), "]]")
	}
	return s
}

func first(ss ...string) string {
	for _, s := range ss {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// CleanID trims and unescapes an id, so that "&#038;" and "&amp;" are one. Ids
// that say nothing ("null", "-") count as none.
func CleanID(id string) string {
	id = strings.Join(strings.Fields(id), " ")
	for range 2 {
		if !strings.Contains(id, "&") {
			break
		}
		id = html.UnescapeString(id)
	}
	switch strings.ToLower(id) {
	case "null", "none", "undefined", "nil", "n/a", "-", "0", "false", "true":
		return ""
	}
	return id
}
