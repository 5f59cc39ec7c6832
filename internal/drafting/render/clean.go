package render

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postonce/postonce/internal/article"
)

// Invisible tells a rune that no reader sees and that can hide or reorder text:
// zero-width and joining characters, bidirectional controls, the tag block,
// variation selectors beyond the emoji one, soft hyphens, fillers, private use.
func Invisible(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r):
		return true
	case r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x2800, r == 0x034F, r == 0x17B4, r == 0x17B5:
		return true // fillers that render as nothing
	case 0xFE00 <= r && r <= 0xFE0E, 0xE0100 <= r && r <= 0xE01EF, 0xFFF0 <= r && r <= 0xFFFB:
		return true
	case r == utf8.RuneError, r == 0x2028, r == 0x2029:
		return true
	}
	return false
}

// maxMarks bounds the combining marks on one letter ("zalgo").
const maxMarks = 3

// Clean returns text as it may stand in a post: valid, without invisible
// characters (an emoji's joiner between two symbols stays), without stacked
// marks, with plain spaces and at most one empty line in a row.
func Clean(text string) string {
	text = strings.ToValidUTF8(text, "")
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n").Replace(text)
	var b strings.Builder
	b.Grow(len(text))
	marks, prev := 0, rune(0)
	for i, r := range text {
		switch {
		case r == 0x200D && symbol(prev) && symbol(nextRune(text[i+3:])):
			b.WriteRune(r)
		case Invisible(r):
			continue
		case unicode.Is(unicode.Mn, r) && r != 0xFE0F:
			if marks++; marks <= maxMarks {
				b.WriteRune(r)
			}
			continue
		case r == '\n':
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
		marks, prev = 0, r
	}
	return article.Fold(b.String())
}

// symbol tells an emoji part, which a zero-width joiner may tie to another.
func symbol(r rune) bool {
	return unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) && r >= 0x1F3FB || r == 0xFE0F || r == 0x2640 || r == 0x2642
}

func nextRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// Line is Clean for a text that must stand on one line.
func Line(text string) string { return strings.Join(strings.Fields(Clean(text)), " ") }

// SameText tells that two texts differ in blank space at most.
func SameText(a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}
