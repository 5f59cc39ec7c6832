package html

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Escape makes text safe to stand in markup or in an attribute.
func Escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

// Render writes text and entities as markup that Parse turns into the same.
// Entities must nest or lie apart; what intersects is cut at the outer's end.
func Render(t Text) string {
	es := slices.Clone(t.Entities)
	sortEntities(es)
	var b strings.Builder
	var open []Entity
	next, units := 0, 0
	step := func() {
		for len(open) > 0 && open[len(open)-1].End() <= units {
			b.WriteString(endTag(open[len(open)-1]))
			open = open[:len(open)-1]
		}
		for ; next < len(es) && es[next].Offset <= units; next++ {
			e := es[next]
			if n := len(open); n > 0 {
				e.Length = min(e.Length, open[n-1].End()-e.Offset)
			}
			if e.Length <= 0 || e.Offset < units {
				continue
			}
			b.WriteString(startTag(e))
			open = append(open, e)
		}
	}
	for _, r := range t.Text {
		step()
		b.WriteString(Escape(string(r)))
		units++
		if r > 0xffff {
			units++
		}
	}
	units = max(units, 1<<30)
	step()
	return b.String()
}

func startTag(e Entity) string {
	switch e.Type {
	case TextLink:
		return `<a href="` + Escape(e.URL) + `">`
	case TextMention:
		return `<a href="tg://user?id=` + strconv.FormatInt(e.UserID, 10) + `">`
	case Pre:
		if e.Language != "" {
			return `<pre><code class="language-` + Escape(e.Language) + `">`
		}
	case Bold, Italic, Underline, Strikethrough, Spoiler, Code, Blockquote:
	case ExpandableBlockquote:
		return "<blockquote expandable>"
	case CustomEmoji:
		return `<tg-emoji emoji-id="` + strconv.FormatInt(e.CustomEmojiID, 10) + `">`
	case DateTime:
		return `<tg-time unix="` + strconv.Itoa(int(e.UnixTime)) + `" format="` + Escape(e.DateFormat) + `">`
	}
	return "<" + tagOf(e.Type) + ">"
}

func endTag(e Entity) string {
	if e.Type == Pre && e.Language != "" {
		return "</code></pre>"
	}
	return "</" + tagOf(e.Type) + ">"
}

func tagOf(t Type) string {
	switch t {
	case Bold:
		return "b"
	case Italic:
		return "i"
	case Underline:
		return "u"
	case Strikethrough:
		return "s"
	case Spoiler:
		return "tg-spoiler"
	case TextLink, TextMention:
		return "a"
	case CustomEmoji:
		return "tg-emoji"
	case DateTime:
		return "tg-time"
	case ExpandableBlockquote:
		return "blockquote"
	case Code, Pre, Blockquote:
	}
	return string(t)
}

// Slice cuts the text between two UTF-16 offsets, never inside a surrogate
// pair (the cut moves left), and keeps what it can of the entities.
func Slice(t Text, from, to int) Text {
	begin, end := byteAt(t.Text, from), byteAt(t.Text, to)
	out := Text{Text: t.Text[begin:end]}
	from, to = UTF16Len(t.Text[:begin]), UTF16Len(t.Text[:end])
	for _, e := range t.Entities {
		b, f := max(e.Offset, from), min(e.End(), to)
		if f > b {
			e.Offset, e.Length = b-from, f-b
			out.Entities = append(out.Entities, e)
		}
	}
	sortEntities(out.Entities)
	return out
}

// byteAt is the byte offset of a UTF-16 offset, rounded down to a character.
func byteAt(s string, units int) int {
	n := 0
	for i, r := range s {
		w := 1
		if r > 0xffff {
			w = 2
		}
		if n+w > units {
			return i
		}
		n += w
	}
	return len(s)
}

// Plain is the text without markup, or the markup itself where it does not
// parse: for logs, previews and fallbacks.
func Plain(markup string) string {
	t, err := Parse(markup)
	if err != nil || !utf8.ValidString(t.Text) {
		return markup
	}
	return t.Text
}
