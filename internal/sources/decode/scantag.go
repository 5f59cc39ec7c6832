package decode

import (
	"bytes"
	"strings"
)

// startTag reads a start tag, mends its attributes, and keeps the stack.
func (s *scanner) startTag(i int) (int, error) {
	name := tagName(s.src[i+1:])
	t := readAttrs(s.src, i+1+len(name), name, &s.entities)
	if t.end < 0 {
		return -1, nil
	}
	if t.broken || bytes.Count(name, []byte(":")) > 1 {
		s.replace(i, t.end, "")
		s.note("broken tags")
		return t.end, s.count(t.attrs)
	}
	if t.xmlns > 0 {
		s.scopes++
		s.bindings = max(s.bindings, t.xmlns*min(len(s.stack)+1, 4))
	}
	if err := s.count(t.attrs); err != nil {
		return 0, err
	}
	if s.isStranded(name) {
		for len(s.stack) > 2 {
			s.replace(i, i, "</"+string(s.stack[len(s.stack)-1])+">")
			s.pop(i)
		}
		s.note("unclosed elements")
	}
	void := s.entryAt > 0 && !t.closed && isVoid(name)
	hadRoot := s.rootTag != nil
	if !t.closed && !void {
		if err := s.push(i, t.end, name); err != nil {
			return 0, err
		}
	}
	if !hadRoot && s.rootTag != nil {
		s.rootTag = t.mended(s.src, i)
	}
	for _, q := range t.quote { // unquoted values, "<" inside quoted ones, namespaces
		s.replace(q.start, q.end, q.text)
		if q.namespace {
			s.note("namespaces put right")
		} else {
			s.note("attributes mended")
		}
	}
	if void {
		s.replace(t.end-1, t.end, "/>")
		s.note("html inside xml")
	}
	if t.closed && s.isEntry(name) { // <item/>
		s.openEntry(i)
		s.closeEntry(t.end)
	}
	return t.end, nil
}

// push opens an element; an entry that starts inside an entry closes it.
func (s *scanner) push(i, end int, name []byte) error {
	if s.entryAt > 0 && len(s.stack) == s.entryAt && isEntryName(name) && bytes.Equal(name, s.stack[s.entryAt-1]) {
		s.replace(i, i, "</"+string(name)+">")
		s.stack = s.stack[:len(s.stack)-1]
		s.closeEntry(i)
		s.note("unclosed elements")
	}
	if len(s.stack) == 0 || (s.wrapped && len(s.stack) == 1 && s.rootTag == nil) {
		s.rootTag = s.src[i:end]
	}
	if s.entryAt == 0 && s.isEntry(name) {
		s.openEntry(i)
		s.entryAt = len(s.stack) + 1
	}
	s.stack = append(s.stack, name)
	if d := len(s.stack); d <= maxDepth {
		s.textLen[d], s.joined[d] = 0, 0
	}
	if len(s.stack) > maxDepth {
		return fail(CodeTooDeep, "elements nested deeper than 100")
	}
	return nil
}

// isEntry reports whether an element of this name is an entry here: directly
// below the root or its channel.
func (s *scanner) isEntry(name []byte) bool {
	if !isEntryName(name) || len(s.stack) == 0 || len(s.stack) > 2 || s.entryAt > 0 {
		return false
	}
	switch local(s.stack[len(s.stack)-1]) {
	case "channel", "rss", "rdf", "feed":
		return true
	}
	return false
}

// isStranded reports whether this would be an entry, had not an element of the
// channel before it been left open.
func (s *scanner) isStranded(name []byte) bool {
	return s.entryAt == 0 && len(s.stack) > 2 && bytes.Equal(name, []byte("item")) && local(s.stack[1]) == "channel"
}

func isEntryName(name []byte) bool {
	l := local(name)
	return l == "item" || l == "entry"
}

func (s *scanner) openEntry(i int) {
	s.entryPos = s.pos(i)
	s.inChan = s.inChan || local(s.stack[len(s.stack)-1]) == "channel"
}

func (s *scanner) closeEntry(end int) {
	s.entries = append(s.entries, span{s.entryPos, s.pos(end)})
	s.entryAt = 0
	s.wholeEnd = s.pos(end)
	s.wholeTop = append(s.wholeTop[:0], s.stack...)
}

// endTag closes the element and whatever was left open inside it.
func (s *scanner) endTag(i int) (int, error) {
	n := bytes.IndexByte(s.src[i:], '>')
	if n < 0 {
		return -1, nil
	}
	end := i + n + 1
	name := tagName(s.src[i+2:])
	if junk := bytes.IndexByte(s.src[i+2:end-1], '<'); junk >= 0 { // "</p <b>"
		s.replace(i, i+2+junk, "")
		s.note("broken tags")
		return i + 2 + junk, s.count(0)
	}
	at := len(s.stack) - 1
	for at >= 0 && !bytes.EqualFold(s.stack[at], name) {
		at--
	}
	if at < 0 || (s.entryAt > 0 && at < s.entryAt-1 && !s.closesFeed(at)) {
		s.replace(i, end, "")
		s.note("stray end tags")
		return end, s.count(0)
	}
	for k := len(s.stack) - 1; k > at; k-- {
		s.replace(i, i, "</"+string(s.stack[k])+">")
		s.note("unclosed elements")
		s.pop(i)
	}
	if !bytes.Equal(s.stack[at], name) || len(bytes.TrimSpace(s.src[i+2+len(name):end-1])) > 0 {
		s.replace(i, end, "</"+string(s.stack[at])+">")
	}
	s.pop(end)
	return end, nil
}

// closesFeed reports whether the element at this depth is the feed itself: its
// end closes an open entry, while any other outer end tag inside one is stray.
func (s *scanner) closesFeed(at int) bool { return at <= 1 }

func (s *scanner) pop(end int) {
	s.stack = s.stack[:len(s.stack)-1]
	if s.entryAt > 0 && len(s.stack) < s.entryAt {
		s.closeEntry(end)
	}
}

// isVoid names HTML elements that never have content; inside a feed they come
// unescaped and unclosed.
func isVoid(name []byte) bool {
	switch strings.ToLower(string(name)) {
	case "br", "hr", "img", "input", "wbr", "embed", "col", "area":
		return true
	}
	return false
}

// mend is a replacement inside a tag.
type mend struct {
	start, end int
	text       string
	namespace  bool
}

type tag struct {
	end    int // index after ">", -1 when the document ends first
	closed bool
	broken bool
	attrs  int
	xmlns  int
	quote  []mend

	element  []byte
	entities *entities
}

// mended is the tag that starts at i, with its mends.
func (t *tag) mended(src []byte, i int) []byte {
	if len(t.quote) == 0 {
		return src[i:t.end]
	}
	var out []byte
	for _, q := range t.quote {
		out = append(append(out, src[i:q.start]...), q.text...)
		i = q.end
	}
	return append(out, src[i:t.end]...)
}

// readAttrs reads the attributes of an element from i on to the end of the tag.
func readAttrs(b []byte, i int, element []byte, e *entities) tag {
	t := tag{element: element, entities: e}
	for {
		for i < len(b) && isSpace(b[i]) {
			i++
		}
		if i >= len(b) {
			return tag{end: -1}
		}
		switch c := b[i]; {
		case c == '>':
			t.end = i + 1
			return t
		case c == '/' && i+1 < len(b) && b[i+1] == '>':
			t.end, t.closed = i+2, true
			return t
		case c == '<': // the ">" is missing
			t.end, t.broken = i, true
			return t
		case nameStart(c):
			i = t.attr(b, i)
		default:
			t.broken = true
			i++
		}
		if t.end < 0 {
			return t
		}
	}
}

// attr reads one attribute at i and returns the index after it.
func (t *tag) attr(b []byte, i int) int {
	t.attrs++
	name := tagName(b[i:])
	namespace := bytes.HasPrefix(name, []byte("xmlns"))
	if namespace {
		t.xmlns++
	}
	if bytes.Count(name, []byte(":")) > 1 {
		t.broken = true
	}
	i += len(name)
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	if i >= len(b) || b[i] != '=' {
		return i
	}
	i++
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	if i >= len(b) {
		t.end = -1
		return i
	}
	if q := b[i]; q == '"' || q == '\'' {
		if n := bytes.IndexByte(b[i+1:], q); namespace && n >= 0 && n < 200 {
			if value := string(b[i+1 : i+1+n]); namespaceOf(t.element, name, value) != value {
				t.quote = append(t.quote, mend{i + 1, i + 1 + n, namespaceOf(t.element, name, value), true})
				return i + n + 2
			}
		}
		return t.quoted(b, i+1, q)
	}
	j := i
	for j < len(b) && !isSpace(b[j]) && b[j] != '>' && b[j] != '<' && (namespace || b[j] != '/' || j+1 >= len(b) || b[j+1] != '>') {
		j++
	}
	value := strings.NewReplacer(`"`, "&quot;").Replace(string(b[i:j]))
	if namespace {
		value = namespaceOf(t.element, name, value)
	}
	t.quote = append(t.quote, mend{i, j, `"` + value + `"`, false})
	return j
}

// quoted reads a quoted value from i on and escapes each "<" in it. An end tag
// in it, or no end, means that the quote was never closed: the tag is broken
// and ends at the next ">".
func (t *tag) quoted(b []byte, i int, q byte) int {
	n := bytes.IndexByte(b[i:], q)
	if n < 0 || n > 1<<16 || bytes.Contains(b[i:i+n], []byte("</")) {
		t.broken = true
		n = bytes.IndexByte(b[i:min(len(b), i+1<<16)], '>')
		if n < 0 {
			t.end = -1
		}
		return i + n
	}
	for k := i; k < i+n; k++ {
		switch b[k] {
		case '<':
			t.quote = append(t.quote, mend{k, k + 1, "&lt;", false})
		case '&':
			if w, text, bad := mendReference(b[k : i+n]); bad {
				t.quote = append(t.quote, mend{k, k + w, text, false})
				k += w - 1
			} else if w, value := t.entities.at(b[k : i+n]); w > 0 {
				t.quote = append(t.quote, mend{k, k + w, strings.ReplaceAll(value, `"`, "&quot;"), false})
				k += w - 1
			}
		}
	}
	return i + n + 1
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func nameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':' || c >= 0x80
}

// tagName returns the name that b starts with.
func tagName(b []byte) []byte {
	for i, c := range b {
		if !nameStart(c) && (c < '0' || c > '9') && c != '-' && c != '.' {
			return b[:i]
		}
	}
	return b
}

// local is a name without its prefix, lower case.
func local(name []byte) string {
	if i := bytes.IndexByte(name, ':'); i >= 0 {
		name = name[i+1:]
	}
	switch { // the names on the hot path, without an allocation
	case bytes.Equal(name, []byte("item")):
		return "item"
	case bytes.Equal(name, []byte("entry")):
		return "entry"
	case bytes.Equal(name, []byte("channel")):
		return "channel"
	}
	return strings.ToLower(string(name))
}
