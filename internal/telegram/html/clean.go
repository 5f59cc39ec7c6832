package html

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrEmpty is a text of which nothing is left after trimming. The Bot API says
// "message text is empty" or "text must be non-empty".
var ErrEmpty = errors.New("text must be non-empty")

// ErrNotUTF8 is a text with broken encoding. The Bot API says "strings must be
// encoded in UTF-8".
var ErrNotUTF8 = errors.New("strings must be encoded in UTF-8")

// Clean does what Telegram does to a parsed text before it is sent: control
// characters become spaces, carriage returns and direction overrides go, both
// ends are trimmed (leading white space only up to the first entity), and
// entities are moved and shortened accordingly. ErrEmpty if nothing is left.
func Clean(t Text) (Text, error) {
	if !utf8.ValidString(t.Text) {
		return Text{}, ErrNotUTF8
	}
	text, at := strip(t.Text)
	entities := make([]Entity, 0, len(t.Entities))
	for _, e := range t.Entities {
		begin, end := at(e.Offset), at(e.End())
		if e.Offset, e.Length = begin, end-begin; e.Length > 0 {
			entities = append(entities, e)
		}
	}
	text, entities = trim(text, entities)
	if text == "" || isBlank(text) {
		return Text{}, ErrEmpty
	}
	sortEntities(entities)
	return Text{Text: text, Entities: entities}, nil
}

// strip removes and replaces characters; at translates an old UTF-16 offset.
func strip(s string) (text string, at func(int) int) {
	var b strings.Builder
	var removed []int // old UTF-16 offsets of removed units
	units := 0
	for _, r := range s {
		switch {
		case r == '\r', r >= 0x2028 && r <= 0x202e, r == 0x333, r == 0x33f, r == 0x30a:
			removed = append(removed, units)
		case r < ' ' && r != '\n':
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
		units++
		if r > 0xffff {
			units++
		}
	}
	return b.String(), func(old int) int {
		n, _ := slices.BinarySearch(removed, old)
		return old - n
	}
}

func trim(text string, entities []Entity) (string, []Entity) {
	text = strings.TrimRight(text, " \n")
	end := UTF16Len(text)
	first := len(text)
	kept := entities[:0]
	for _, e := range entities {
		if e.Offset >= end {
			continue
		}
		e.Length = min(e.Length, end-e.Offset)
		first = min(first, e.Offset)
		kept = append(kept, e)
	}
	lead := 0
	for lead < len(text) && lead < first && (text[lead] == ' ' || text[lead] == '\n') {
		lead++
	}
	for i := range kept {
		kept[i].Offset -= lead
	}
	return text[lead:], kept
}

// isBlank sees through the characters that show nothing.
func isBlank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		switch r {
		case ' ', '\n', 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2060, 0xfeff, 0x3164, 0x2800, 0xa0, 0xad:
			return false
		}
		return true
	})
}

// Length parses and cleans markup and counts what Telegram would count against
// its limits (4,096 for a message, 1,024 for a caption): UTF-16 units of the
// visible text.
func Length(markup string) (int, error) {
	t, err := Parse(markup)
	if err != nil {
		return 0, err
	}
	if t, err = Clean(t); err != nil {
		return 0, err
	}
	return UTF16Len(t.Text), nil
}
