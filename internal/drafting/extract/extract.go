// Package extract writes a post from an item without a model: it picks sentences
// that the item itself contains and never writes a word of its own.
//
// It is pure. It must never change a sentence beyond taking away datelines,
// addresses and what no reader sees.
package extract

import (
	"slices"
	"strings"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/article/words"
	"github.com/postonce/postonce/internal/drafting/render"
)

// Input is the item to write from.
type Input struct {
	Title string
	Text  string
	// Source is the name of the source, which sites append to their titles.
	Source string
	// Units is the length that the body aims at, in UTF-16 units; 0 takes
	// DefaultUnits.
	Units int
}

// DefaultUnits is the body's length where the channel has no habit of its own.
const DefaultUnits = 480

// Draft is what the composer chose.
type Draft struct {
	Headline string
	Body     []string // paragraphs of one or two whole sentences
}

// Compose picks the headline and the sentences. An item without a usable
// sentence gives a headline alone; one without any text an empty Draft.
func Compose(in Input) Draft {
	units := in.Units
	if units <= 0 {
		units = DefaultUnits
	}
	sents := Clean(in.Text)
	headline := Headline(in.Title, in.Source)
	switch {
	case headline == "" && len(sents) > 0:
		headline, sents = opening(sents)
	case strings.HasSuffix(headline, "…") && len(sents) > 0 && resumes(sents[0], headline):
		headline, sents = opening(sents)
	}
	sents = withoutEcho(sents, headline)
	return Draft{Headline: strings.TrimSuffix(headline, "."), Body: paragraphs(sents, pick(sents, headline, units))}
}

// maxHeadline is what still reads as a headline, in UTF-16 units.
const maxHeadline = 140

// opening makes a headline of the first sentence where the item has none, as
// posts of Telegram channels do. A long one is cut at a clause; the whole
// sentence then stays in the body.
func opening(sents []string) (string, []string) {
	first := sents[0]
	if render.TextUnits(first) <= maxHeadline {
		return first, sents[1:]
	}
	for _, mark := range []string{": ", " — ", " – ", "; ", ", "} {
		for i := strings.LastIndex(first[:min(len(first), maxHeadline)], mark); i > 0; i = strings.LastIndex(first[:i], mark) {
			if words := strings.Fields(first[:i]); len(words) >= 5 {
				return first[:i], sents
			}
		}
	}
	cut := first
	for render.TextUnits(cut) > maxHeadline-1 {
		i := strings.LastIndexByte(cut, ' ')
		if i < 0 {
			return "", sents
		}
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:—–-") + "…", sents
}

func resumes(sentence, cut string) bool {
	return strings.HasPrefix(words.Fold(sentence), words.Fold(strings.TrimRight(strings.TrimSuffix(cut, "…"), " ,.")))
}

// withoutEcho drops sentences that only say the headline again.
func withoutEcho(sents []string, headline string) []string {
	head := words.Set(headline)
	return slices.DeleteFunc(sents, func(s string) bool {
		set := words.Set(s)
		common := overlap(set, head)
		return len(set) > 0 && len(head) > 0 && float64(common) >= 0.9*float64(len(set)) && common >= len(set)-1 && len(set) <= len(head)+1
	})
}

func overlap(a, b []string) int {
	n := 0
	for _, w := range a {
		if slices.Contains(b, w) {
			n++
		}
	}
	return n
}

// paragraphs puts the chosen sentences together: two that stand next to each
// other in the item share a paragraph.
func paragraphs(sents []string, chosen []int) []string {
	var out []string
	count := 0
	for i, at := range chosen {
		if i > 0 && chosen[i-1] == at-1 && count < 2 {
			out[len(out)-1] += " " + sents[at]
			count++
			continue
		}
		out = append(out, sents[at])
		count = 1
	}
	return out
}

// Clean cuts a text into the sentences that a post may carry, each cleaned.
func Clean(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, s := range article.Sentences(render.Clean(text)) {
		s = tidy(s, len(out) == 0)
		key := words.Fold(s)
		if s == "" || seen[key] || boilerplate(s) {
			continue
		}
		seen[key] = true
		out = append(out, s)
	}
	return dropCut(out)
}

// dropCut drops a last sentence that the feed cut off, where others are left.
func dropCut(sents []string) []string {
	if n := len(sents); n > 1 && cutOff(sents[n-1]) {
		return sents[:n-1]
	}
	return sents
}

func cutOff(s string) bool {
	return strings.HasSuffix(s, "…") || strings.HasSuffix(s, "...") || strings.HasSuffix(s, "[…]") || strings.HasSuffix(s, "[...]")
}
