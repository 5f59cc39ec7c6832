package article

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Text returns the readable text of an HTML fragment: paragraphs separated by
// an empty line, list items led by "• ", table cells on their own lines,
// scripts, styles and hidden parts left out, white space folded. At most limit
// runes are kept (0 = no limit). Plain text passes through unchanged but for
// its white space.
func Text(fragment string, limit int) string {
	if !strings.ContainsAny(fragment, "<&") {
		return clip(foldPlain(fragment), limit)
	}
	w := textWriter{limit: limit}
	z := html.NewTokenizer(strings.NewReader(fragment))
	z.SetMaxBuf(1 << 20)
	for {
		switch tt := z.Next(); tt {
		case html.ErrorToken:
			return clip(strings.TrimSpace(w.b.String()), limit)
		case html.TextToken:
			w.text(string(z.Text()))
		case html.StartTagToken, html.SelfClosingTagToken:
			w.open(z, tt)
		case html.EndTagToken:
			name, _ := z.TagName()
			w.close(atom.Lookup(name))
		}
		if w.full() {
			return clip(strings.TrimSpace(w.b.String()), limit)
		}
	}
}

// textWriter folds the token stream into text. Not for concurrent use.
type textWriter struct {
	b      strings.Builder
	limit  int
	breaks int       // line breaks owed before the next word
	space  bool      // a space is owed before the next word
	skip   atom.Atom // the element whose content is left out
	depth  int       // nesting of skip within itself
	pre    int
}

func (w *textWriter) full() bool { return w.limit > 0 && w.b.Len() > w.limit*4+64 }

func (w *textWriter) open(z *html.Tokenizer, tt html.TokenType) {
	name, _ := z.TagName()
	a := atom.Lookup(name)
	if w.skip != 0 {
		if a == w.skip {
			w.depth++
		}
		return
	}
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Iframe, atom.Object, atom.Form,
		atom.Select, atom.Button, atom.Head:
		if tt != html.SelfClosingTagToken {
			w.skip, w.depth = a, 1
		}
	case atom.Br:
		w.line(1, true)
	case atom.Li:
		w.line(1, false)
		w.word("• ")
	case atom.Pre:
		w.pre++
		w.line(2, false)
	default:
		w.line(blockBreaks(a), false)
	}
}

func (w *textWriter) close(a atom.Atom) {
	if w.skip != 0 {
		if a == w.skip {
			if w.depth--; w.depth <= 0 {
				w.skip = 0
			}
		}
		return
	}
	if a == atom.Pre && w.pre > 0 {
		w.pre--
	}
	w.line(blockBreaks(a), false)
}

// blockBreaks is the number of line breaks that an element puts around itself.
func blockBreaks(a atom.Atom) int {
	switch a {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Blockquote, atom.Ul, atom.Ol, atom.Dl,
		atom.Pre, atom.Table, atom.Figure, atom.Section, atom.Article, atom.Hr:
		return 2
	case atom.Div, atom.Li, atom.Tr, atom.Td, atom.Th, atom.Dt, atom.Dd, atom.Header, atom.Footer, atom.Figcaption,
		atom.Main, atom.Aside, atom.Nav, atom.Caption, atom.Details, atom.Summary:
		return 1
	}
	return 0
}

// line owes n line breaks; add makes repeated <br> count up to two.
func (w *textWriter) line(n int, add bool) {
	if n == 0 {
		return
	}
	if add {
		n = min(2, w.breaks+n)
	}
	w.breaks = max(w.breaks, n)
	w.space = false
}

func (w *textWriter) text(s string) {
	if w.skip != 0 || s == "" {
		return
	}
	if w.pre > 0 {
		for i, l := range strings.Split(strings.ReplaceAll(s, "\r", ""), "\n") {
			if i > 0 {
				w.line(1, true)
			}
			if t := strings.TrimRightFunc(Visible(l), unicode.IsSpace); t != "" {
				w.word(t)
			}
		}
		return
	}
	if r, _ := utf8.DecodeRuneInString(s); unicode.IsSpace(r) {
		w.space = true
	}
	for i, f := range strings.Fields(Visible(s)) {
		if i > 0 {
			w.space = true
		}
		w.word(f)
	}
	if r, _ := utf8.DecodeLastRuneInString(s); unicode.IsSpace(r) {
		w.space = true
	}
}

func (w *textWriter) word(s string) {
	if w.b.Len() > 0 {
		switch {
		case w.breaks > 0:
			w.b.WriteString(strings.Repeat("\n", w.breaks))
		case w.space:
			if t := w.b.String(); !strings.HasSuffix(t, "• ") {
				w.b.WriteByte(' ')
			}
		}
	}
	w.breaks, w.space = 0, false
	w.b.WriteString(s)
}

// Visible removes characters that no reader sees and no database takes: NUL
// and other controls, zero-width marks, soft hyphens, bidi overrides.
func Visible(s string) string {
	clean := true
	for _, r := range s {
		if hidden(r) {
			clean = false
			break
		}
	}
	if clean && utf8.ValidString(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return false
	case r < 0x20, r >= 0x7F && r < 0xA0:
		return r != 0x85
	case r == 0xAD, r == 0x200B, r == 0x2060, r == 0xFEFF, r == 0xFFFE, r == 0xFFFF:
		return true
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// foldPlain folds white space in plain text and keeps its paragraphs.
func foldPlain(s string) string {
	return Fold(Visible(s))
}

// Fold trims every line, folds the white space in it, and leaves at most one
// empty line in a row.
func Fold(s string) string {
	if !strings.ContainsAny(s, "\n") {
		return strings.Join(strings.Fields(s), " ")
	}
	var b strings.Builder
	empty := 0
	for l := range strings.Lines(s) {
		l = strings.Join(strings.Fields(l), " ")
		if l == "" {
			empty++
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
			if empty > 0 {
				b.WriteByte('\n')
			}
		}
		empty = 0
		b.WriteString(l)
	}
	return b.String()
}

// clip cuts at a rune boundary, at the last white space when one is near.
func clip(s string, limit int) string {
	if limit <= 0 || len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	n := 0
	for i := range s {
		if n == limit-1 {
			cut := s[:i]
			if j := strings.LastIndexFunc(cut, unicode.IsSpace); j > i*4/5 {
				cut = cut[:j]
			}
			return strings.TrimRightFunc(cut, unicode.IsSpace) + "…"
		}
		n++
	}
	return s
}
