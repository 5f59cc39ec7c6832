// Package keywords tells how much of what a channel looks for, and of what it
// avoids, stands in a text: BM25 over the channel's own words and phrases.
//
// It is pure and keeps nothing. It must never learn; that is bayes' duty.
package keywords

import (
	"math"
	"strings"

	"github.com/postonce/postonce/internal/article/words"
)

// Constants of BM25 (Robertson, Zaragoza 2009) with the usual k1 and b, and the
// length of a title with its lead as the average document.
const (
	k1         = 1.2
	b          = 0.75
	usualTerms = 40.0
	// titleWeight counts a word of the title as so many of the text.
	titleWeight = 2
	// base and slope turn the sum into a probability; tuned on the labelled set so
	// that no hit is about one in four, one clear hit a little above one half.
	base  = -1.1
	slope = 0.9
	// avoidWeight makes one avoided word outweigh one wanted word.
	avoidWeight = 1.6
)

// Doc is a text as scoring sees it: the terms of words.Terms in order.
type Doc struct {
	Title []string
	Text  []string
}

// NewDoc cuts title and text into terms.
func NewDoc(title, text string) Doc {
	return Doc{Title: words.Terms(title), Text: words.Terms(text)}
}

// Topics are the words and phrases of a channel, ready to be matched. The zero
// value matches nothing. It is immutable and safe for concurrent use.
type Topics struct {
	look, avoid []phrase
}

type phrase struct {
	shown string
	terms []string
}

// New prepares the lists that an owner wrote. An entry is a word or a phrase;
// an entry without a term that carries meaning is left out.
func New(look, avoid []string) Topics {
	return Topics{look: phrases(look), avoid: phrases(avoid)}
}

func phrases(list []string) []phrase {
	var out []phrase
	for _, entry := range list {
		entry = strings.TrimSpace(entry)
		if terms := words.Terms(entry); len(terms) > 0 {
			out = append(out, phrase{shown: entry, terms: terms})
		}
	}
	return out
}

// Empty tells that the owner named no topic, so that Score says nothing.
func (t Topics) Empty() bool { return len(t.look) == 0 && len(t.avoid) == 0 }

// Hit is one entry of the lists that stands in a text, with what it added to the
// sum: positive for a wanted, negative for an avoided one.
type Hit struct {
	Entry  string
	Weight float64
}

// Score returns the probability that the text is on topic, and what spoke for
// and against it in the order of the lists. With lists of avoided words only, a
// text without any of them is as likely as not.
func (t Topics) Score(d Doc) (float64, []Hit) {
	norm := k1 * (1 - b + b*float64(len(d.Title)*titleWeight+len(d.Text))/usualTerms)
	var hits []Hit
	sum := 0.0
	add := func(list []phrase, sign float64) {
		for _, p := range list {
			tf := float64(titleWeight*count(d.Title, p.terms) + count(d.Text, p.terms))
			if tf == 0 {
				continue
			}
			w := sign * specificity(p) * tf * (k1 + 1) / (tf + norm)
			hits = append(hits, Hit{Entry: p.shown, Weight: w})
			sum += w
		}
	}
	add(t.look, 1)
	add(t.avoid, -avoidWeight)
	start := base
	if len(t.look) == 0 {
		start = 0
	}
	return 1 / (1 + math.Exp(-(start + slope*sum))), hits
}

// specificity stands for the inverse document frequency, which a list has none
// of: a phrase says more than a word.
func specificity(p phrase) float64 { return 1 + 0.5*math.Log(float64(len(p.terms))) }

// count returns how often terms stand next to each other in doc.
func count(doc, terms []string) int {
	n := 0
	for i := 0; i+len(terms) <= len(doc); i++ {
		if matches(doc[i:], terms) {
			n++
		}
	}
	return n
}

func matches(doc, terms []string) bool {
	for j, t := range terms {
		if doc[j] != t {
			return false
		}
	}
	return true
}
