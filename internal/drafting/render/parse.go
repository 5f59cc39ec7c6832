package render

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// SyntaxError says what in a text is no Telegram HTML that posts may carry.
type SyntaxError struct {
	Offset int // in bytes
	What   string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.What) }

// maxDepth bounds nesting; Telegram's own formatting never comes near it.
const maxDepth = 16

// Parse reads Telegram HTML as posts may carry it. Telegram's aliases of the tags
// are accepted and written in one spelling. What is not on the lists is an error,
// never dropped silently.
func Parse(html string) ([]Node, error) {
	p := parser{in: html}
	nodes, err := p.nodes("", 0)
	if err != nil {
		return nil, err
	}
	return nodes, nil
}

type parser struct {
	in  string
	pos int
}

func (p *parser) fail(at int, format string, args ...any) error {
	return &SyntaxError{Offset: at, What: fmt.Sprintf(format, args...)}
}

// nodes reads until the closing tag of open, or to the end where open is empty.
func (p *parser) nodes(open Tag, depth int) ([]Node, error) {
	if depth > maxDepth {
		return nil, p.fail(p.pos, "nested too deeply")
	}
	var out []Node
	for p.pos < len(p.in) {
		if p.in[p.pos] != '<' {
			out = append(out, T(p.text()))
			continue
		}
		at := p.pos
		end := strings.IndexByte(p.in[at:], '>')
		if end < 0 {
			return nil, p.fail(at, "unclosed <")
		}
		inner := p.in[at+1 : at+end]
		p.pos = at + end + 1
		if name, closing := strings.CutPrefix(inner, "/"); closing {
			if tag, ok := tagOf(strings.TrimSpace(name), ""); ok && tag == open && open != Plain {
				return out, nil
			}
			if strings.EqualFold(strings.TrimSpace(name), "span") && open == Spoiler {
				return out, nil
			}
			return nil, p.fail(at, "unexpected </%s>", name)
		}
		n, err := p.element(at, inner, depth)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	if open != Plain {
		return nil, p.fail(p.pos, "<%s> is not closed", open)
	}
	return out, nil
}

func (p *parser) element(at int, inner string, depth int) (Node, error) {
	name, attrs, _ := strings.Cut(strings.TrimSpace(inner), " ")
	attrs = strings.TrimSpace(attrs)
	if strings.EqualFold(name, "br") || strings.EqualFold(name, "br/") {
		return T("\n"), nil
	}
	tag, ok := tagOf(name, attrs)
	if !ok {
		return Node{}, p.fail(at, "<%s> cannot stand in a post", name)
	}
	n := Node{Tag: tag}
	if tag == Link {
		href, err := p.href(at, attrs)
		if err != nil {
			return Node{}, err
		}
		n.Href = href
	}
	kids, err := p.nodes(tag, depth+1)
	if err != nil {
		return Node{}, err
	}
	n.Kids = kids
	return n, nil
}

// tagOf maps Telegram's spellings to ours.
func tagOf(name, attrs string) (Tag, bool) {
	switch strings.ToLower(name) {
	case "b", "strong":
		return Bold, true
	case "i", "em":
		return Italic, true
	case "u", "ins":
		return Underline, true
	case "s", "strike", "del":
		return Strike, true
	case "tg-spoiler":
		return Spoiler, true
	case "span":
		return Spoiler, attrs == `class="tg-spoiler"` || attrs == `class='tg-spoiler'`
	case "a":
		return Link, true
	case "code":
		return Code, true
	case "pre":
		return Pre, true
	case "blockquote":
		return Quote, true
	}
	return Plain, false
}

func (p *parser) href(at int, attrs string) (string, error) {
	value, ok := strings.CutPrefix(attrs, "href=")
	if !ok || len(value) < 2 || (value[0] != '"' && value[0] != '\'') || value[len(value)-1] != value[0] {
		return "", p.fail(at, "a link needs href=\"…\" and nothing else")
	}
	href := unescape(value[1 : len(value)-1])
	if !Address(href) {
		return "", p.fail(at, "a post cannot link to %q", href)
	}
	return href, nil
}

// text reads up to the next tag.
func (p *parser) text() string {
	end := strings.IndexByte(p.in[p.pos:], '<')
	if end < 0 {
		end = len(p.in) - p.pos
	}
	raw := p.in[p.pos : p.pos+end]
	p.pos += end
	return unescape(raw)
}

// unescape decodes the references that Telegram decodes; any other & stays.
func unescape(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '&')
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		end := strings.IndexByte(s, ';')
		if end < 0 || end > 10 {
			b.WriteByte('&')
			s = s[1:]
			continue
		}
		if r, ok := reference(s[1:end]); ok {
			b.WriteRune(r)
			s = s[end+1:]
			continue
		}
		b.WriteByte('&')
		s = s[1:]
	}
	b.WriteString(s)
	return b.String()
}

func reference(name string) (rune, bool) {
	switch name {
	case "lt":
		return '<', true
	case "gt":
		return '>', true
	case "amp":
		return '&', true
	case "quot":
		return '"', true
	}
	digits, ok := strings.CutPrefix(name, "#")
	if !ok {
		return 0, false
	}
	base := 10
	if hex, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseInt(digits, base, 32)
	if err != nil || n <= 0 || !utf8.ValidRune(rune(n)) {
		return 0, false
	}
	return rune(n), true
}
