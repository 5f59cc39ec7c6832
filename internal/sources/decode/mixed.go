package decode

import (
	"bytes"
	"regexp"
)

// Some generators put the entries of one format into a document of the other:
// <entry> into an RSS channel, <item> into an Atom feed. gofeed passes over
// them. Each is read by what is in it.

// run is a stretch of entries of one format.
type run struct {
	as      Format
	entries []span
}

// maxRuns bounds how often a document is parsed for its runs. Beyond it the
// entries of one format come before those of the other.
const maxRuns = 100

// runs parts the entries of a document by their format, in their order.
func (p *xmlParse) runs() []run {
	var out []run
	for _, e := range p.s.entries {
		as := p.s.formatOf(e)
		if as != p.s.format {
			p.doc.repair("entries of another format")
		}
		if n := len(out); n > 0 && out[n-1].as == as {
			out[n-1].entries = append(out[n-1].entries, e)
			continue
		}
		if len(out) >= maxRuns { // none of them is of the last one's format; one before is
			out[len(out)-2].entries = append(out[len(out)-2].entries, e)
			continue
		}
		out = append(out, run{as, []span{e}})
	}
	return out
}

// partOfRSS is a part that an item of RSS has, and no entry of Atom.
var partOfRSS = regexp.MustCompile(`(?i)<(?:guid|pubdate|description)[\s>]|<link>`)

// formatOf is the format in which an entry is written: the document's, unless
// its name and its parts are the other's.
func (s *scanned) formatOf(e span) Format {
	if (local(tagName(s.doc[e.start+1:])) == "entry") == (s.format == Atom) {
		return s.format
	}
	if partOfRSS.Match(s.doc[e.start:e.end]) {
		return RSS
	}
	return Atom
}

// around is the markup that makes a document of entries of a format, with the
// namespaces of the document that they come from.
func (p *xmlParse) around(as Format) (open, shut string) {
	native := as == p.s.format || as == RSS && p.s.format == RDF
	if name := string(tagName(p.s.rootTag[1:])); native && len(p.s.rootTag) <= maxRootTag {
		open, shut = string(p.s.rootTag), "</"+name+">"
		if p.s.inChan {
			open, shut = open+"<channel>", "</channel>"+shut
		}
		return open, shut
	}
	if p.bindings == nil {
		p.bindings = append(p.bindings, []byte(nil))
		p.bindings = append(p.bindings, namespaceAttribute.FindAll(p.s.rootTag[:min(len(p.s.rootTag), maxProlog)], maxBindings)...)
	}
	rest := string(bytes.Join(p.bindings, []byte(" ")))
	if as == Atom {
		return `<feed xmlns="` + atomNamespace + `"` + rest + `>`, "</feed>"
	}
	return `<rss version="2.0"` + rest + `><channel>`, "</channel></rss>"
}

// maxRootTag bounds, in bytes, the root element that is repeated for each part.
const maxRootTag = 8 << 10

// namespaceAttribute is what a root element says for all that is in it; not
// the default namespace, which is that of the other format.
var namespaceAttribute = regexp.MustCompile(`\b(?:xmlns:[A-Za-z_][\w.\-]*|xml:base|xml:lang)\s*=\s*(?:"[^"<]{0,300}"|'[^'<]{0,300}')`)

// entry is the markup of an entry under the name that its format gives it.
func (s *scanned) entry(e span, as Format) []byte {
	markup := s.doc[e.start:e.end]
	name, want := tagName(markup[1:]), "item"
	if as == Atom {
		want = "entry"
	}
	if local(name) == want {
		return markup
	}
	out := append(append(make([]byte, 0, len(markup)+8), '<'), want...)
	out = append(out, markup[1+len(name):]...)
	if end := bytes.LastIndex(out, []byte("</")); end >= 0 && !bytes.HasSuffix(out, []byte("/>")) {
		out = append(append(append(out[:end:end], "</"...), want...), '>')
	}
	return out
}
