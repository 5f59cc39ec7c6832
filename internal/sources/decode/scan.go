package decode

import (
	"bytes"
)

// Bounds of one document. They are far above real feeds and keep the worst
// document below the memory and time that the program grants a source: gofeed
// spends about 500 bytes on an element of a foreign namespace.
const (
	maxDepth    = 100
	maxElements = 120_000
	maxAttrs    = 200_000
	maxScopes   = 20_000 // elements that declare namespaces: each copies all bindings in scope
	maxBindings = 256
	maxEntries  = 10_000
	maxProlog   = 64 << 10
	// gofeed joins the pieces of a foreign element's text one by one, which
	// grows with the square of their number. These bound the bytes so copied.
	maxJoined        = 8 << 30
	maxJoinedElement = 2 << 30
)

// span is a part of the scanned document.
type span struct{ start, end int }

// scanned is an XML document that gofeed can be trusted with.
type scanned struct {
	doc     []byte
	format  Format
	rootTag []byte
	wrapped bool // a bare <channel> was given its <rss>
	bare    bool // items were given their <channel> too
	entries []span
	inChan  bool // entries stand in <channel>, not beside it
	repairs []string
	cut     bool
}

// scanner walks once over the markup and mends what encoding/xml refuses: it
// closes what is left open, drops stray end tags, comments and instructions,
// escapes lone "<" and "]]>", quotes attributes, and cuts a torn end back to
// the last whole entry. Text is copied only from the first change on.
type scanner struct {
	scanned
	src       []byte
	entities  entities
	out       []byte
	last      int // src[:last] is in out already
	stack     [][]byte
	entryAt   int // depth of the open entry, 0 = none
	entryPos  int
	elements  int
	attrs     int
	scopes    int
	bindings  int
	textLen   [maxDepth + 2]int // text so far, by depth
	joined    [maxDepth + 2]int // bytes copied to join it
	allJoined int
	wholeEnd  int      // end of the last whole entry, in output positions
	wholeTop  [][]byte // what was open there
}

// scanXML finds the root and walks the document. The error is an *Error.
func scanXML(src []byte) (*scanned, error) {
	s := &scanner{src: src}
	root, format, err := findRoot(src)
	s.format = format
	if err != nil {
		return &s.scanned, err
	}
	if root > 0 && len(bytes.TrimSpace(src[:root])) > 0 && !bytes.HasPrefix(bytes.TrimSpace(src), []byte("<?xml")) && !bytes.HasPrefix(bytes.TrimSpace(src), []byte("<!")) {
		s.note("junk before the feed")
	}
	s.last = root
	s.entities = declaredEntities(src[:root])
	switch local(tagName(src[root+1:])) {
	case "channel":
		s.wrap("rss", `<rss version="2.0">`)
	case "item": // items without a channel around them
		s.wrap("rss", `<rss version="2.0">`)
		s.wrap("channel", "<channel>")
		s.rootTag, s.bare = []byte(`<rss version="2.0">`), true
	case "entry": // a document of one entry
		s.wrap("feed", `<feed xmlns="`+atomNamespace+`">`)
	}
	if err := s.walk(root); err != nil {
		return &s.scanned, err
	}
	if len(s.entries) == 0 && wrapsPage(src[:root]) {
		return &s.scanned, fail(CodeHTML, "a web page")
	}
	if len(s.out) == 0 {
		s.doc = src[s.last:]
	} else {
		s.doc = append(s.out, src[s.last:]...)
	}
	return &s.scanned, nil
}

// wrap gives a document the root that it lacks.
func (s *scanner) wrap(name, tag string) {
	s.wrapped = true
	s.out = append(s.out, tag...)
	s.rootTag = []byte(tag)
	s.stack = append(s.stack, []byte(name))
	s.note("no root element")
}

// walk goes from tag to tag until the root element closes or the bytes end.
func (s *scanner) walk(i int) error {
	for i < len(s.src) {
		j := bytes.IndexByte(s.src[i:], '<')
		if j < 0 {
			break
		}
		s.text(i, i+j)
		if err := s.join(j); err != nil {
			return err
		}
		next, err := s.markup(i + j)
		if err != nil {
			return err
		}
		if next < 0 { // torn inside a tag
			break
		}
		i = next
		if len(s.stack) == 0 || (s.wrapped && len(s.stack) == 1) || len(s.entries) >= maxEntries {
			break
		}
	}
	return s.end(i)
}

// end closes what is open. A document whose root did not close is cut back to
// its last whole entry.
func (s *scanner) end(i int) error {
	switch {
	case len(s.stack) == 0:
		s.truncate(i)
		return nil
	case s.wrapped && len(s.stack) == 1:
		s.truncate(i)
		s.out = append(append(append(s.out, "</"...), s.stack[0]...), '>')
		return nil
	case s.bare && len(s.stack) == 2 && len(s.entries) > 0:
		s.truncate(i)
		s.out = append(s.out, "</channel></rss>"...)
		return nil
	case len(s.entries) == 0:
		return fail(CodeCut, "the document ends before its first whole entry")
	case len(s.entries) >= maxEntries:
		s.note("more entries than are read")
	default:
		s.cut = true
		s.note("end of the document missing")
	}
	if len(s.out) == 0 {
		s.out = append(make([]byte, 0, s.wholeEnd+64), s.src[s.last:s.last+s.wholeEnd]...)
		s.last = len(s.src)
	} else {
		if s.pos(s.last) < s.wholeEnd {
			s.out = append(s.out, s.src[s.last:s.last+s.wholeEnd-len(s.out)]...)
		}
		s.out = s.out[:s.wholeEnd]
		s.last = len(s.src)
	}
	for k := len(s.wholeTop) - 1; k >= 0; k-- {
		s.out = append(append(append(s.out, "</"...), s.wholeTop[k]...), '>')
	}
	return nil
}

// truncate leaves out what follows the root element.
func (s *scanner) truncate(i int) {
	if i < len(s.src) || len(s.out) > 0 {
		s.flush(i)
		s.last = len(s.src)
	}
}

// pos is where src[i] stands in the output.
func (s *scanner) pos(i int) int { return len(s.out) + i - s.last }

// flush copies the source up to i.
func (s *scanner) flush(i int) {
	if s.out == nil {
		s.out = make([]byte, 0, len(s.src)-s.last+256)
	}
	s.out = append(s.out, s.src[s.last:i]...)
	s.last = i
}

// replace puts text in place of src[i:j].
func (s *scanner) replace(i, j int, text string) {
	s.flush(i)
	s.out = append(s.out, text...)
	s.last = j
}

func (s *scanner) note(code string) {
	for _, r := range s.repairs {
		if r == code {
			return
		}
	}
	s.repairs = append(s.repairs, code)
}

// text mends character data: references to illegal characters and to entities
// of the document's own, "]]>".
func (s *scanner) text(i, j int) {
	for k := i; k < j; {
		a := bytes.IndexByte(s.src[k:j], '&')
		if a < 0 {
			break
		}
		k += a
		n, text, bad := mendReference(s.src[k:j])
		if bad {
			s.replace(k, k+n, text)
			s.note("illegal character references")
		} else if w, value := s.entities.at(s.src[k:j]); w > 0 {
			s.replace(k, k+w, value)
			n = w
		}
		k += max(n, 1)
	}
	for k := i; k < j; {
		a := bytes.Index(s.src[k:j], []byte("]]>"))
		if a < 0 {
			break
		}
		if k+a >= s.last {
			s.replace(k+a+2, k+a+3, "&gt;")
			s.note("stray ]]>")
		}
		k += a + 3
	}
}

// markup handles what starts at "<" and returns the index after it, -1 when
// the document ends inside.
func (s *scanner) markup(i int) (int, error) {
	rest := s.src[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		n := bytes.Index(rest, []byte("]]>"))
		if n < 0 {
			return -1, nil
		}
		if err := s.join(n); err != nil {
			return 0, err
		}
		return i + n + 3, s.count(0)
	case len(rest) > 9 && bytes.EqualFold(rest[:9], []byte("<![CDATA[")): // in other letters
		s.replace(i, i+9, "<![CDATA[")
		s.note("broken tags")
		n := bytes.Index(rest, []byte("]]>"))
		if n < 0 {
			return -1, nil
		}
		return i + n + 3, s.count(0)
	case bytes.HasPrefix(rest, []byte("<!--")):
		return s.drop(i, "-->", 4)
	case bytes.HasPrefix(rest, []byte("<?")):
		return s.drop(i, "?>", 2)
	case bytes.HasPrefix(rest, []byte("<!")):
		return s.drop(i, ">", 2)
	case bytes.HasPrefix(rest, []byte("</")) && len(rest) > 2 && nameStart(rest[2]):
		return s.endTag(i)
	case len(rest) > 1 && nameStart(rest[1]):
		return s.startTag(i)
	case len(rest) == 1:
		return -1, nil
	}
	s.replace(i, i+1, "&lt;")
	s.note("lone <")
	return i + 1, s.count(0)
}

func (s *scanner) drop(i int, end string, skip int) (int, error) {
	n := bytes.Index(s.src[i+skip:], []byte(end))
	if n < 0 {
		return -1, nil
	}
	j := i + skip + n + len(end)
	s.replace(i, j, "")
	return j, s.count(0)
}

// join accounts for a piece of text of n bytes in the open element.
func (s *scanner) join(n int) error {
	if n == 0 {
		return nil
	}
	d := len(s.stack)
	s.joined[d] += s.textLen[d]
	s.allJoined += s.textLen[d]
	s.textLen[d] += n
	if s.joined[d] > maxJoinedElement || s.allJoined > maxJoined {
		return fail(CodeTooComplex, "text in more pieces than any feed needs")
	}
	return nil
}

// count takes one more piece of markup in and keeps the bounds of the document.
func (s *scanner) count(attrs int) error {
	s.elements++
	s.attrs += attrs
	if s.elements > maxElements || s.attrs > maxAttrs || s.scopes > maxScopes || s.bindings > maxBindings {
		return fail(CodeTooComplex, "more markup than any feed needs")
	}
	return nil
}
