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
	Opens      string   `json:"opens,omitempty"`       // emoji, question, plain
	Closes     string   `json:"closes,omitempty"`      // question, plain
	Hashtags   []string `json:"hashtags,omitempty"`    // usual ones, most used first
	AlwaysTags bool     `json:"always_tags,omitempty"` // most posts carry some
	Footer     string   `json:"footer,omitempty"`      // a last line that most posts share
	Formal     bool     `json:"formal,omitempty"`      // no exclamation marks
	Examples   []string `json:"examples,omitempty"`    // up to five posts to write like
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

// Learn looks at a channel's posts (plain text, newest first).
func Learn(posts []string) Voice {
	posts = slices.DeleteFunc(slices.Clone(posts), func(p string) bool { return len(strings.Fields(p)) < 4 })
	n := len(posts)
	if n < enough {
		return Voice{Posts: n}
	}
	var units, sents, emoji, opens, asks, shouts []int
	tags := map[string]int{}
	last := map[string]int{}
	tagged := 0
	for _, p := range posts {
		units = append(units, render.TextUnits(p))
		sents = append(sents, len(article.Sentences(p)))
		emoji = append(emoji, countFunc(p, pictograph))
		opens = append(opens, flag(strings.IndexFunc(strings.TrimSpace(p), pictograph) == 0))
		asks = append(asks, flag(strings.HasSuffix(strings.TrimSpace(p), "?")))
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
	if sum(asks)*3 > n {
		v.Closes = "question"
	}
	for line, c := range last {
		if c*2 > n && !strings.HasPrefix(line, "#") {
			v.Footer = line
		}
	}
	return v
}

// Rules puts a voice into sentences for a writer and for people to edit.
func (v Voice) Rules() []string {
	if v.Posts < enough {
		return nil
	}
	out := []string{fmt.Sprintf("About %d characters in %d sentences.", v.Units, max(1, v.Sentences))}
	switch v.Emoji {
	case "none":
		out = append(out, "No emoji.")
	case "often":
		out = append(out, "Emoji are welcome.")
	}
	if v.Opens == "emoji" {
		out = append(out, "Open with one fitting emoji.")
	}
	if v.Closes == "question" {
		out = append(out, "Close with a question to the readers.")
	}
	if v.Formal {
		out = append(out, "Sober: no exclamation marks.")
	}
	return out
}

// FromEdit compares a draft with what its editor made of it, and says in rules
// what was changed on purpose; nil where the edit teaches nothing about style.
func FromEdit(draft, edited string) []string {
	var out []string
	a, b := render.TextUnits(draft), render.TextUnits(edited)
	switch {
	case a > 200 && b*3 < a*2:
		out = append(out, fmt.Sprintf("Shorter: about %d characters.", b))
	case b > 200 && a*3 < b*2:
		out = append(out, fmt.Sprintf("Longer: about %d characters.", b))
	}
	switch ea, eb := countFunc(draft, pictograph), countFunc(edited, pictograph); {
	case ea > 0 && eb == 0:
		out = append(out, "No emoji.")
	case ea == 0 && eb > 1:
		out = append(out, "Emoji are welcome.")
	}
	if strings.Contains(draft, "!") && !strings.Contains(edited, "!") {
		out = append(out, "Sober: no exclamation marks.")
	}
	return out
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
