package check

import (
	"strings"
	"unicode"

	"github.com/postonce/postonce/internal/article/words"
)

// MissingQuotes returns the quotations of text that do not stand in the source
// word for word. A quotation of one or two words is a name or an expression: its
// words must occur in the source in some form.
func MissingQuotes(text, source string) []string {
	flat := flatten(source)
	var stems map[string]bool
	var out []string
	for _, q := range quotations(text) {
		n := len(strings.Fields(flatten(q)))
		if n == 0 || contains(flat, q) {
			continue
		}
		if n > 2 {
			out = append(out, q)
			continue
		}
		if stems == nil {
			stems = map[string]bool{}
			for _, w := range words.Set(source) {
				stems[w] = true
			}
		}
		for _, w := range words.Terms(q) {
			if !stems[w] {
				out = append(out, q)
				break
			}
		}
	}
	return out
}

// quotations finds what stands between quotation marks of every fashion. An
// apostrophe is none.
func quotations(text string) []string {
	var out []string
	out = append(out, nested(text)...)
	for _, pair := range [][2]string{{"“", "”"}, {"„", "“"}} {
		rest := text
		for {
			i := strings.Index(rest, pair[0])
			if i < 0 {
				break
			}
			rest = rest[i+len(pair[0]):]
			j := strings.Index(rest, pair[1])
			if j < 0 {
				break
			}
			out = append(out, rest[:j])
		}
	}
	parts := strings.Split(text, `"`)
	for i := 1; i+1 < len(parts); i += 2 {
		out = append(out, parts[i])
	}
	return append(out, single(text)...)
}

// nested finds what stands between « and », the outer quotation and each one in it:
// names of firms stand in such marks as well.
func nested(text string) []string {
	var out []string
	var open []int
	for i, r := range text {
		switch {
		case r == '«':
			open = append(open, i+len("«"))
		case r == '»' && len(open) > 0:
			out = append(out, text[open[len(open)-1]:i])
			open = open[:len(open)-1]
		}
	}
	return out
}

// single finds 'quotations like this', whose marks double as apostrophes.
func single(text string) []string {
	var out []string
	r := []rune(strings.NewReplacer("‘", "'", "’", "'").Replace(text))
	start := -1
	for i, c := range r {
		if c != '\'' {
			continue
		}
		before, after := i > 0 && (unicode.IsLetter(r[i-1]) || unicode.IsDigit(r[i-1])), i+1 < len(r) && (unicode.IsLetter(r[i+1]) || unicode.IsDigit(r[i+1]))
		switch {
		case start < 0 && !before && after:
			start = i + 1
		case start >= 0 && !after:
			// A plural's apostrophe closes nothing that is worth checking.
			if q := string(r[start:i]); len(strings.Fields(q)) > 2 {
				out = append(out, q)
			}
			start = -1
		}
	}
	return out
}

// contains tells that quote stands in the flattened source; an ellipsis inside
// the quote leaves words out.
func contains(flat, quote string) bool {
	quote = strings.NewReplacer("…", "...", "[...]", "...").Replace(quote)
	for part := range strings.SplitSeq(quote, "...") {
		f := flatten(part)
		i := strings.Index(flat, f)
		if i < 0 {
			return false
		}
		flat = flat[i+len(f):]
		if f != "" {
			flat = " " + strings.TrimLeft(flat, " ")
		}
	}
	return true
}

// flatten leaves lower-cased words with single spaces around each, so that a
// substring of it is a run of whole words.
func flatten(s string) string {
	var b strings.Builder
	b.WriteByte(' ')
	gap := true
	for _, r := range strings.ToLower(s) {
		switch {
		case r == 'ё':
			b.WriteRune('е')
			gap = false
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
			gap = false
		case r == '\'' || r == '’' || unicode.IsMark(r):
		case !gap:
			b.WriteByte(' ')
			gap = true
		}
	}
	if !gap {
		b.WriteByte(' ')
	}
	return b.String()
}

// badEvidence returns the quotes that the source does not have, and complains
// where there is none at all.
func badEvidence(claims []Claim, source string) []string {
	if len(claims) == 0 {
		return []string{"none given"}
	}
	flat := flatten(source)
	var out []string
	for _, c := range claims {
		if strings.TrimSpace(c.Quote) == "" || !contains(flat, c.Quote) {
			out = append(out, c.Quote)
		}
	}
	return out
}

// NeedsEvidence tells a text with numbers or quotations, whose claims must be
// shown to stand in the source.
func NeedsEvidence(t Text) bool {
	return len(numbers(t.all(), false)) > 0 || len(quotations(t.all())) > 0
}
