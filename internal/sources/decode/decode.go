package decode

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/mmcdole/gofeed/atom"
	"github.com/mmcdole/gofeed/rss"
)

// MaxBytes bounds a decoded document. A document of exactly this size is read.
const MaxBytes = 5 << 20

// Input is a document with what is known about it.
type Input struct {
	Body        []byte
	ContentType string    // the server's Content-Type, may lie
	URL         string    // where it was found: relative links are resolved against it
	Now         time.Time // dates far ahead of it are not believed
}

// Decode reads a feed of any format. The error is an *Error, or the context's
// when it ended first; a partly readable document is no error but says so in
// Repairs and Cut.
func Decode(ctx context.Context, in Input) (doc *Document, err error) {
	doc = &Document{}
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, fail(CodeBroken, fmt.Sprint("parser gave up: ", r))
		}
	}()
	body, err := unpack(in.Body, doc)
	if err != nil {
		return nil, err
	}
	if kind := fileType(body); kind != "" {
		return nil, fail(CodeNotAFeed, "a file of type "+kind)
	}
	body, how := ToUTF8(body, in.ContentType)
	if how != "" && how != "bom" {
		doc.repair(how)
	}
	body, stripped := stripControls(body)
	if stripped {
		doc.repair("control characters")
	}
	trimmed := unguard(bytes.TrimSpace(body))
	if len(trimmed) == 0 {
		return nil, fail(CodeEmpty, "the answer is empty")
	}
	if isJSON(trimmed) {
		err = decodeJSON(ctx, in, trimmed, doc)
	} else if err = decodeXML(ctx, in, body, doc); err != nil {
		if again := (&Document{Repairs: doc.Repairs}); decodeJSON(ctx, in, behindJunk(trimmed), again) == nil {
			doc, err = again, nil
			doc.repair("junk before the feed")
		}
	}
	if err != nil {
		return nil, err
	}
	if err := refuseBridge(doc); err != nil {
		return nil, err
	}
	return doc, nil
}

// decodeXML mends, parses, and parses in parts what does not parse whole.
func decodeXML(ctx context.Context, in Input, body []byte, doc *Document) error {
	s, err := scanXML(body)
	doc.Format = s.format
	if err != nil {
		return err
	}
	for _, r := range s.repairs {
		doc.repair(r)
	}
	doc.Cut = s.cut
	p := xmlParse{ctx: ctx, in: in, s: s, doc: doc}
	err = p.whole()
	if ctx.Err() == nil && len(s.entries) > len(doc.Entries) { // unreadable as a whole, or a second channel took the first one's place
		before, failed := *doc, err
		if err = p.parts(); failed == nil && len(before.Entries) > 0 && len(doc.Entries) <= len(before.Entries) {
			*doc, err = before, nil
			doc.Dropped += len(s.entries) - len(doc.Entries)
			doc.repair(fmt.Sprintf("%d unreadable entries left out", len(s.entries)-len(doc.Entries)))
		}
	}
	if ctx.Err() != nil {
		return fail(CodeTimeout, "its markup takes too long to read")
	}
	return err
}

// xmlParse is one document on its way through gofeed.
type xmlParse struct {
	ctx context.Context
	in  Input
	s   *scanned
	doc *Document
	// bindings are the namespaces of the root, for parts; nil until they are needed.
	bindings [][]byte
}

// whole parses the document in one go.
func (p *xmlParse) whole() error {
	return p.parse(p.s.format, p.s.doc, p.s.entries, p.s.doc)
}

// parse hands markup of a format to gofeed and translates what comes back. raw
// are the places of the entries inside src, for what gofeed does not keep.
func (p *xmlParse) parse(as Format, markup []byte, raw []span, src []byte) error {
	r := &timedReader{ctx: p.ctx, r: bytes.NewReader(markup)}
	if as == Atom {
		f, err := (&atom.Parser{}).Parse(r)
		if err != nil {
			return fail(CodeBroken, err.Error())
		}
		p.atom(f)
		return nil
	}
	f, err := (&rss.Parser{}).Parse(r)
	if err != nil {
		return fail(CodeBroken, err.Error())
	}
	p.rss(f, raw, src)
	return nil
}

// parts parses the entries in ever smaller groups, so that one bad entry costs
// only itself.
func (p *xmlParse) parts() error {
	p.doc.Entries = nil
	lost := 0
	for _, run := range p.runs() {
		lost += p.group(run.entries, run.as)
	}
	if len(p.doc.Entries) == 0 {
		return fail(CodeBroken, "none of its entries can be read")
	}
	if lost > 0 {
		p.doc.Dropped += lost
		p.doc.repair(fmt.Sprintf("%d unreadable entries left out", lost))
	}
	return nil
}

// group returns how many entries of the group were lost.
func (p *xmlParse) group(g []span, as Format) int {
	if len(g) == 0 || p.ctx.Err() != nil {
		return len(g)
	}
	open, shut := p.around(as)
	var b bytes.Buffer
	b.WriteString(open)
	for _, e := range g {
		b.Write(p.s.entry(e, as))
	}
	b.WriteString(shut)
	before := len(p.doc.Entries)
	if p.parse(as, b.Bytes(), g, p.s.doc) == nil && len(p.doc.Entries)-before >= len(g) {
		return 0
	}
	if p.doc.Entries = p.doc.Entries[:before]; len(g) == 1 {
		return 1
	}
	return p.group(g[:len(g)/2], as) + p.group(g[len(g)/2:], as)
}

// timedReader ends a parse with its context. The parser asks for 4 kB at a
// time, so that work which grows with the square of the document stops too.
type timedReader struct {
	ctx context.Context
	r   io.Reader
}

func (t *timedReader) Read(p []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	return t.r.Read(p[:min(len(p), 4096)])
}
