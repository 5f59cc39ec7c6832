// Package voice learns a channel's habits from its own posts, and from what its
// people make of drafts, as a short list that they can read and change.
//
// It is pure; the channel's row keeps the result.
package voice

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/drafting/render"
)

// Voice is how a channel writes. The zero value knows nothing.
type Voice struct {
	Posts      int      `json:"posts,omitempty"`       // from how many it was learned
	Units      int      `json:"units,omitempty"`       // usual length, UTF-16
	Sentences  int      `json:"sentences,omitempty"`   // usual number
	Emoji      string   `json:"emoji,omitempty"`       // none, some, often
	Opens      string   `json:"opens,omitempty"`       // emoji, plain
	Lead       string   `json:"lead,omitempty"`        // the emoji that most posts open with
	Closes     string   `json:"closes,omitempty"`      // question, plain
	Hashtags   []string `json:"hashtags,omitempty"`    // usual ones, most used first
	AlwaysTags bool     `json:"always_tags,omitempty"` // most posts carry some
	Footer     string   `json:"footer,omitempty"`      // a last line that most posts share
	Formal     bool     `json:"formal,omitempty"`      // no exclamation marks
	Examples   []string `json:"examples,omitempty"`    // up to five posts to write like
	Edits      Taught   `json:"edits"`                 // what people make of drafts; stronger than the habits
	Forgotten  []string `json:"forgotten,omitempty"`   // keys of lines that people took out; All: everything
}

// Scan reads the column of a channel; an empty object is the zero Voice.
func (v *Voice) Scan(src any) error {
	var b []byte
	switch s := src.(type) {
	case nil:
		return nil
	case string:
		b = []byte(s)
	case []byte:
		b = s
	default:
		return fmt.Errorf("voice: cannot read %T", src)
	}
	return json.Unmarshal(b, v)
}

// BodyUnits is the length that a body aims at; 0 where nothing is known.
func (v Voice) BodyUnits() int {
	if v.Units == 0 {
		return 0
	}
	return max(160, min(1500, v.Units*4/5))
}

// enough is the number of posts below which a habit is chance.
const enough = 3

// Knows tells that posts taught it something.
func (v Voice) Knows() bool { return v.Posts >= enough }

// Learn looks at a channel's posts (plain text, newest first).
func Learn(posts []string) Voice {
	posts = slices.DeleteFunc(slices.Clone(posts), func(p string) bool { return len(strings.Fields(p)) < 4 })
	n := len(posts)
	if n < enough {
		return Voice{Posts: n}
	}
	var units, sents, emoji, opens, asks, shouts []int
	tags, leads := map[string]int{}, map[string]int{}
	last := map[string]int{}
	tagged := 0
	for _, p := range posts {
		units = append(units, render.TextUnits(p))
		sents = append(sents, len(article.Sentences(p)))
		emoji = append(emoji, countFunc(p, pictograph))
		opens = append(opens, flag(strings.IndexFunc(strings.TrimSpace(p), pictograph) == 0))
		leads[lead(p)]++
		asks = append(asks, flag(asksReaders(p)))
		shouts = append(shouts, strings.Count(p, "!"))
		found := tagsOf(p)
		for _, t := range found {
			tags[t]++
		}
		tagged += flag(len(found) > 0)
		lines := strings.Split(strings.TrimSpace(p), "\n")
		if len(lines) > 1 {
			last[strings.TrimSpace(lines[len(lines)-1])]++
		}
	}
	v := Voice{
		Posts: n, Units: median(units), Sentences: median(sents), Emoji: degree(sum(emoji), n), Opens: "plain", Closes: "plain",
		Hashtags: top(tags, max(2, n/5)), AlwaysTags: tagged*3 > n*2, Formal: sum(shouts)*5 < n, Examples: examples(posts),
	}
	if sum(opens)*2 > n {
		v.Opens = "emoji"
	}
	for l, c := range leads {
		if c*2 > n {
			v.Lead = l
		}
	}
	if sum(asks)*3 > n {
		v.Closes = "question"
	}
	for line, c := range last {
		if c*2 > n && !strings.HasPrefix(line, "#") && len([]rune(line)) <= maxFooter {
			v.Footer = line
		}
	}
	return v
}

func examples(posts []string) []string {
	var out []string
	for _, p := range posts {
		if n := render.TextUnits(p); n >= 80 && n <= 1200 {
			out = append(out, p)
		}
		if len(out) == 5 {
			break
		}
	}
	return out
}

func tagsOf(p string) []string {
	var out []string
	for _, f := range strings.Fields(p) {
		if t := strings.TrimRightFunc(strings.TrimPrefix(f, "#"), unicode.IsPunct); t != "" && strings.HasPrefix(f, "#") {
			out = append(out, t)
		}
	}
	return out
}

func top(counts map[string]int, least int) []string {
	var out []string
	for t, c := range counts {
		if c >= least {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	return out[:min(len(out), 10)]
}

// maxFooter is the longest line that can be a footer.
const maxFooter = 200

// lead is the emoji that a post opens with, with its variation; else empty.
func lead(p string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(p), " ")
	for _, r := range first {
		if !pictograph(r) && r != 0xFE0F && r != 0x200D {
			return ""
		}
	}
	return first
}

// asksReaders tells that one of the last four lines is a question: below it stand tags and a footer.
func asksReaders(p string) bool {
	list := strings.Split(strings.TrimSpace(p), "\n")
	for i := len(list) - 1; i >= max(0, len(list)-4); i-- {
		if l := strings.TrimSpace(list[i]); strings.HasSuffix(l, "?") {
			return true
		}
	}
	return false
}

func pictograph(r rune) bool { return r >= 0x1F300 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF }

func countFunc(s string, is func(rune) bool) int {
	n := 0
	for _, r := range s {
		n += flag(is(r))
	}
	return n
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

func sum(list []int) int {
	n := 0
	for _, v := range list {
		n += v
	}
	return n
}

func median(list []int) int {
	s := slices.Sorted(slices.Values(list))
	return s[len(s)/2]
}

func degree(count, posts int) string {
	switch {
	case count*4 < posts:
		return "none"
	case count > 2*posts:
		return "often"
	}
	return "some"
}
