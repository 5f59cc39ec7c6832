package decode

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"

	"github.com/mmcdole/gofeed/atom"

	"github.com/postonce/postonce/internal/article"
)

// atom translates a parsed Atom document.
func (p *xmlParse) atom(f *atom.Feed) {
	d := p.doc
	d.Version = f.Version
	if d.Title == "" {
		d.Title = article.Title(f.Title)
	}
	if d.Home == "" {
		d.Home = p.resolve(bestLink(f.Links))
	}
	d.Language = first(d.Language, f.Language)
	for _, e := range f.Entries {
		if e != nil {
			d.Entries = append(d.Entries, p.atomEntry(e))
		}
	}
}

func (p *xmlParse) atomEntry(a *atom.Entry) Entry {
	x := a.Extensions
	e := Entry{
		ID:      CleanID(a.ID),
		PermaID: strings.Contains(a.ID, "://"),
		Title:   plainTitle(a.Title, mediaText(x, "title")),
		Summary: unwrapped(a.Summary, mediaText(x, "description")),
	}
	if len(a.Authors) > 0 && a.Authors[0] != nil {
		e.Author = article.Title(first(a.Authors[0].Name, a.Authors[0].Email))
	}
	e.Body = unwrapped(contentText(a.Content, p.doc.Version == "0.3"), e.Summary)
	e.Origin = p.resolve(child(x, "feedburner", "origLink"))
	e.Link = p.link(e, bestLink(a.Links), e.Origin, contentSource(a.Content))
	e.RawDate, e.Published = p.dateOf(a.Published, child(x, "dc", "date"), a.Updated)
	for _, l := range a.Links {
		if l != nil && l.Rel == "enclosure" {
			p.enclose(&e, l.Href, l.Type)
		}
	}
	p.media(&e, x)
	return e
}

// bestLink prefers the page for people among the alternates, then a link that
// gives no relation. Links to the entry itself, edits and replies are not it.
func bestLink(links []*atom.Link) string {
	best, rank := "", 0
	for _, l := range links {
		if l == nil || strings.TrimSpace(l.Href) == "" {
			continue
		}
		r := 0
		switch strings.TrimPrefix(strings.ToLower(l.Rel), "http://www.iana.org/assignments/relation/") {
		case "alternate", "":
			r = 3
			switch {
			case l.Type == "" || strings.Contains(l.Type, "html"):
				r = 5
			case strings.HasPrefix(l.Type, "text/"):
				r = 4
			}
		case "related", "via":
			r = 1
		}
		if r > rank {
			best, rank = l.Href, r
		}
	}
	return best
}

// contentText is an entry's content, decoded when it is text in base64 (an
// atom:content of a type that is neither text nor XML).
// Atom 0.3 says it by mode="base64", which gofeed does not keep.
func contentText(c *atom.Content, mode bool) string {
	if c == nil {
		return ""
	}
	t := strings.ToLower(c.Type)
	if packed := strings.Join(strings.Fields(c.Value), ""); mode && len(packed) >= 16 && len(packed)%4 == 0 {
		if raw, err := base64.StdEncoding.DecodeString(packed); err == nil && utf8.Valid(raw) {
			return string(raw)
		}
	}
	if strings.Contains(t, "/") && !strings.HasPrefix(t, "text/") && !strings.Contains(t, "xml") {
		raw, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(c.Value), ""))
		if err != nil || !utf8.Valid(raw) {
			return ""
		}
		return string(raw)
	}
	return c.Value
}

func contentSource(c *atom.Content) string {
	if c == nil {
		return ""
	}
	return c.Src
}
