package html

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tags are the elements that Telegram accepts; anything else is an error.
var tags = []string{
	"a", "b", "strong", "i", "em", "s", "strike", "del", "u", "ins", "tg-spoiler", "tg-emoji",
	"tg-time", "span", "pre", "code", "blockquote",
}

// Error is a markup that Telegram refuses. Message is its wording; the Bot API
// puts "Bad Request: can't parse entities: " before it.
type Error struct{ Message string }

func (e *Error) Error() string { return e.Message }

func errorf(format string, args ...any) error { return &Error{Message: fmt.Sprintf(format, args...)} }

// Parse turns markup into text and entities as Telegram does before it cleans
// and trims (see Clean). The error is always an *Error. Byte offsets in errors
// count the bytes of s, as Telegram's do.
func Parse(s string) (Text, error) {
	p := parser{in: s}
	if err := p.run(); err != nil {
		return Text{}, err
	}
	return p.finish()
}

type openTag struct {
	name     string
	argument string
	date     int32
	offset   int // UTF-16 offset of the content
	bytes    int // byte offset of the content in out
}

type parser struct {
	in       string
	pos      int
	out      []byte
	units    int
	open     []openTag
	entities []Entity
	recheck  bool // half of a surrogate pair was written by a reference
}

// at is the byte at i, or 0 behind the end: the terminator that the rules of
// the dialect are written against.
func (p *parser) at(i int) byte {
	if i < len(p.in) {
		return p.in[i]
	}
	return 0
}

func (p *parser) run() error {
	for p.pos < len(p.in) {
		c := p.in[p.pos]
		switch {
		case c == '&' && p.reference():
		case c == '<' && p.at(p.pos+1) == '/':
			if err := p.endTag(); err != nil {
				return err
			}
		case c == '<':
			if err := p.startTag(); err != nil {
				return err
			}
		default:
			p.units += unitsOfLead(c)
			p.out = append(p.out, c)
			p.pos++
		}
	}
	return nil
}

func (p *parser) finish() (Text, error) {
	if n := len(p.open); n > 0 {
		return Text{}, errorf("Can't find end tag corresponding to start tag \"%s\"", p.open[n-1].name)
	}
	if p.recheck && !utf8.Valid(p.out) {
		return Text{}, errorf("Text contains invalid Unicode characters after decoding HTML entities, check for unmatched surrogate code units")
	}
	for i := range p.entities {
		if p.entities[i].Type == Code {
			p.entities[i].Language = ""
		}
	}
	sortEntities(p.entities)
	return Text{Text: string(p.out), Entities: p.entities}, nil
}

// reference decodes a character reference at pos; false leaves pos where it is.
func (p *parser) reference() bool {
	code, next := decodeReference(p.in, p.pos)
	if code == 0 {
		return false
	}
	p.pos = next
	p.units++
	if code > 0xffff {
		p.units++
	}
	p.recheck = p.recheck || (code >= 0xd800 && code <= 0xdfff)
	p.out = appendCode(p.out, code)
	return true
}

func (p *parser) startTag() error {
	begin := p.pos
	i := begin + 1
	for !isSpace(p.at(i)) && p.at(i) != '>' {
		i++
	}
	if p.at(i) == 0 {
		return errorf("Unclosed start tag at byte offset %d", begin)
	}
	tag := openTag{name: lower(p.in[begin+1 : i]), offset: p.units, bytes: len(p.out)}
	if !slices.Contains(tags, tag.name) {
		return errorf("Unsupported start tag \"%s\" at byte offset %d", tag.name, begin)
	}
	i, err := p.attributes(&tag, i, begin)
	if err != nil {
		return err
	}
	if tag.name == "span" && tag.argument != "spoiler" {
		return errorf("Tag \"span\" must have class \"tg-spoiler\" at byte offset %d", begin)
	}
	p.open = append(p.open, tag)
	p.pos = i + 1
	return nil
}

// attributes reads up to the closing '>' and returns its index.
func (p *parser) attributes(tag *openTag, i, begin int) (int, error) {
	for p.at(i) != '>' {
		i = p.skipSpace(i)
		if p.at(i) == '>' {
			break
		}
		start := i
		for !isSpace(p.at(i)) && !strings.ContainsRune("=>/\"'", rune(p.at(i))) {
			i++
		}
		name := p.in[min(start, len(p.in)):min(i, len(p.in))]
		if name == "" {
			return 0, errorf("Empty attribute name in the tag \"%s\" at byte offset %d", tag.name, begin)
		}
		i = p.skipSpace(i)
		if p.at(i) != '=' {
			if p.at(i) == 0 {
				return 0, errorf("Unclosed start tag \"%s\" at byte offset %d", tag.name, begin)
			}
			if tag.name == "blockquote" && name == "expandable" {
				tag.argument = "1"
			}
			continue
		}
		i = p.skipSpace(i + 1)
		if p.at(i) == 0 {
			return 0, errorf("Unclosed start tag \"%s\" at byte offset %d", tag.name, begin)
		}
		value, next, err := p.value(i)
		if err != nil {
			return 0, err
		}
		if i = next; p.at(i) == 0 {
			return 0, errorf("Unclosed start tag at byte offset %d", begin)
		}
		tag.set(name, value)
	}
	return i, nil
}

// value reads a name token or a quoted string and returns the index behind it.
func (p *parser) value(i int) (string, int, error) {
	quote := p.at(i)
	if quote != '\'' && quote != '"' {
		start := i
		for isAlnum(p.at(i)) || p.at(i) == '.' || p.at(i) == '-' {
			i++
		}
		if !isSpace(p.at(i)) && p.at(i) != '>' {
			return "", 0, errorf("Unexpected end of name token at byte offset %d", start)
		}
		return lower(p.in[start:min(i, len(p.in))]), i, nil
	}
	var out []byte
	for i++; p.at(i) != quote && p.at(i) != 0; {
		if p.in[i] == '&' {
			if code, next := decodeReference(p.in, i); code != 0 {
				out, i = appendCode(out, code), next
				continue
			}
		}
		out = append(out, p.in[i])
		i++
	}
	if p.at(i) == quote {
		i++
	}
	return string(out), i, nil
}

func (t *openTag) set(name, value string) {
	switch {
	case t.name == "a" && name == "href", t.name == "tg-emoji" && name == "emoji-id", t.name == "tg-time" && name == "format":
		t.argument = value
	case t.name == "code" && name == "class" && strings.HasPrefix(value, "language-"):
		t.argument = value[len("language-"):]
	case t.name == "span" && name == "class" && strings.HasPrefix(value, "tg-"):
		t.argument = value[len("tg-"):]
	case t.name == "blockquote" && name == "expandable":
		t.argument = "1"
	case t.name == "tg-time" && name == "unix":
		n, _ := strconv.ParseInt(value, 10, 32)
		t.date = int32(n)
	}
}

func (p *parser) endTag() error {
	begin := p.pos
	if len(p.open) == 0 {
		return errorf("Unexpected end tag at byte offset %d", begin)
	}
	i := begin + 2
	for !isSpace(p.at(i)) && p.at(i) != '>' {
		i++
	}
	name := lower(p.in[min(begin+2, len(p.in)):min(i, len(p.in))])
	if i = p.skipSpace(i); p.at(i) != '>' {
		return errorf("Unclosed end tag at byte offset %d", begin)
	}
	tag := p.open[len(p.open)-1]
	if name != "" && name != tag.name {
		return errorf("Unmatched end tag at byte offset %d, expected \"</%s>\", found \"</%s>\"", begin, tag.name, name)
	}
	if p.units > tag.offset {
		if err := p.close(tag); err != nil {
			return err
		}
	}
	p.open = p.open[:len(p.open)-1]
	p.pos = i + 1
	return nil
}

// skipSpace stops at the terminator, although the dialect counts it as a space.
func (p *parser) skipSpace(i int) int {
	for p.at(i) != 0 && isSpace(p.at(i)) {
		i++
	}
	return i
}

// isSpace includes the terminator 0, as the dialect does: a tag name also ends
// where the text ends.
func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0 || c == '\v'
}

func isAlnum(c byte) bool { return isAlpha(c) || (c >= '0' && c <= '9') }

func isAlpha(c byte) bool { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') }
