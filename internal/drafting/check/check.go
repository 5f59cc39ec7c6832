// Package check compares a written post with the item that it was written from:
// what is not in the source, or may not stand in a post, is a finding.
//
// It is pure and treats the writer as hostile. It must never mend a text; the
// composers decide what a finding leads to.
package check

import (
	"fmt"
	"strings"

	"github.com/postonce/postonce/internal/drafting/render"
)

// Code names a finding; texts for people are looked up by it.
type Code string

// The codes. Hard ones keep a text from becoming a draft; soft ones are a badge.
const (
	Empty     Code = "empty"
	Length    Code = "length"
	Links     Code = "links"
	Invisible Code = "invisible"
	Markup    Code = "markup"
	Language  Code = "language"
	Numbers   Code = "numbers"
	Quotes    Code = "quotes"
	Evidence  Code = "evidence"
	Echo      Code = "echo"
	Foreign   Code = "foreign" // speaks of something else than the source
	Similar   Code = "similar" // nearly a post that the channel already had
	Names     Code = "names"
	Negation  Code = "negation"
)

// Finding is one thing that a check found.
type Finding struct {
	Code   Code   `json:"code"`
	Detail string `json:"detail,omitempty"`
	Soft   bool   `json:"soft,omitempty"`
}

func (f Finding) String() string {
	if f.Detail == "" {
		return string(f.Code)
	}
	return fmt.Sprintf("%s: %s", f.Code, f.Detail)
}

// Source is what the post was written from.
type Source struct {
	Title string
	Text  string
}

func (s Source) all() string { return s.Title + "\n" + s.Text }

// Claim is a statement of the post with the words of the source that carry it.
type Claim struct {
	Claim string `json:"claim"`
	Quote string `json:"quote"`
}

// Text is what a writer wrote: plain text, no link, no markup.
type Text struct {
	Headline string
	Body     string
	Evidence []Claim
}

func (t Text) all() string { return t.Headline + "\n" + t.Body }

// Rules are what a text is held against beside its source.
type Rules struct {
	Language string   // BCP 47 of the posts; empty: not checked
	MaxUnits int      // of headline and body together
	Past     []string // the channel's last posts, as plain text
	Prompt   string   // what the model was told, for echoes of it
	Evidence bool     // claims must come with quotes
}

// All runs every check. The text passes where no finding is hard.
func All(t Text, src Source, r Rules) []Finding {
	var out []Finding
	hard := func(c Code, details ...string) {
		for _, d := range details {
			out = append(out, Finding{Code: c, Detail: short(d)})
		}
	}
	if strings.TrimSpace(t.Headline) == "" && strings.TrimSpace(t.Body) == "" {
		return []Finding{{Code: Empty}}
	}
	if n := render.TextUnits(t.all()); r.MaxUnits > 0 && n > r.MaxUnits {
		hard(Length, fmt.Sprintf("%d units, at most %d", n, r.MaxUnits))
	}
	hard(Links, render.Autolinks(t.all())...)
	hard(Invisible, hiddenIn(t.all())...)
	hard(Markup, markupIn(t.all())...)
	hard(Language, wrongLanguage(t.all(), r.Language)...)
	hard(Numbers, MissingNumbers(t.all(), src.all())...)
	hard(Quotes, MissingQuotes(t.all(), src.all())...)
	hard(Echo, echoes(t.all(), r.Prompt, src.all())...)
	hard(Foreign, strays(t.all(), src.all())...)
	if r.Evidence {
		hard(Evidence, badEvidence(t.Evidence, src.all())...)
	}
	if past := Nearest(t.all(), r.Past); past != "" {
		hard(Similar, past)
	}
	return append(out, soft(t.all(), src.all())...)
}

// Passes tells that no finding is hard.
func Passes(findings []Finding) bool {
	for _, f := range findings {
		if !f.Soft {
			return false
		}
	}
	return true
}

func short(s string) string {
	s = render.Line(s)
	if r := []rune(s); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return s
}

func hiddenIn(s string) []string {
	if render.Clean(s) == strings.TrimSpace(s) {
		return nil
	}
	for _, r := range s {
		if render.Invisible(r) && r != 0x200D {
			return []string{fmt.Sprintf("U+%04X", r)}
		}
	}
	return nil
}

// markupIn finds what a model writes for formatting, which posts must not show.
func markupIn(s string) []string {
	for _, mark := range []string{"**", "__", "```", "](", "</", "/>", "<b>", "<a ", "<i>", "<script", "<img", "<br>", "<p>", "&lt;", "&#", "[link]"} {
		if strings.Contains(strings.ToLower(s), mark) {
			return []string{mark}
		}
	}
	for line := range strings.Lines(s) {
		if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "## ") {
			return []string{"#"}
		}
	}
	return nil
}
