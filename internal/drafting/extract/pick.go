package extract

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postonce/postonce/internal/article/words"
	"github.com/postonce/postonce/internal/drafting/render"
)

// A set of sentences is worth the words that it covers. A word counts by how
// central it is to the text, how early it first stands, as news is written, and
// by whether the headline has it. Measured against lead-3 on BBC articles
// (docs/benchmarks.md).
const (
	// early halves a word's weight when it first stands this many sentences down.
	early = .7
	// titleBonus multiplies the weight of a word that the headline has.
	titleBonus = 1.3
	// hanging is the share of its worth that a sentence loses which leans on one
	// that is not chosen, or asks a question.
	hanging = .5
	// window is how many sentences are looked at, depth how many are chosen.
	window = 14
	depth  = 5
)

// pick chooses the sentences up to units and returns their indexes in order.
func pick(sents []string, headline string, units int) []int {
	if len(sents) == 0 {
		return nil
	}
	if total(sents) <= units && len(sents) <= depth {
		return upTo(len(sents))
	}
	s := newSearch(sents[:min(len(sents), window)], sents, headline)
	s.extend(0, units, 0)
	if len(s.best) == 0 {
		return []int{0} // one sentence longer than the aim; the layout still cuts at its own limit
	}
	return s.best
}

func total(sents []string) int {
	n := 0
	for _, s := range sents {
		n += render.TextUnits(s) + 1
	}
	return n
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// search goes through the sets of sentences in the window.
type search struct {
	units   []int
	ids     [][]int // distinct words of each sentence, as indexes into weight
	weight  []float64
	cost    []float64 // what a sentence loses by hanging in the air
	leaning []bool
	broken  []bool
	covered []int // how many chosen sentences cover a word
	chosen  []int
	best    []int
	value   float64
}

func newSearch(sents, all []string, headline string) *search {
	s := &search{value: -1}
	freq := map[string]float64{}
	for _, text := range all {
		for _, w := range words.Set(text) {
			freq[w]++
		}
	}
	head := map[string]bool{}
	for _, w := range words.Set(headline) {
		head[w] = true
	}
	index := map[string]int{}
	for i, text := range sents {
		var ids []int
		sum := 0.0
		for _, w := range words.Set(text) {
			id, seen := index[w]
			if !seen {
				id = len(s.weight)
				index[w] = id
				v := math.Log1p(freq[w]) / (1 + float64(i)/early)
				if head[w] {
					v *= titleBonus
				}
				s.weight = append(s.weight, v)
			}
			ids = append(ids, id)
			sum += s.weight[id]
		}
		s.units = append(s.units, render.TextUnits(text)+1)
		s.ids = append(s.ids, ids)
		s.leaning = append(s.leaning, leans(text))
		s.broken = append(s.broken, brokenQuote(text))
		lost := hanging * sum
		if !s.leaning[i] && !strings.HasSuffix(text, "?") && !brokenQuote(text) {
			lost = 0
		}
		s.cost = append(s.cost, lost)
	}
	s.covered = make([]int, len(s.weight))
	return s
}

// extend tries every sentence from index from on in addition to the chosen ones.
func (s *search) extend(from, left int, value float64) {
	if value > s.value && len(s.chosen) > 0 {
		s.value, s.best = value, append(s.best[:0], s.chosen...)
	}
	if len(s.chosen) == depth {
		return
	}
	for i := from; i < len(s.units); i++ {
		if s.units[i] > left {
			continue
		}
		gain := -s.cost[i]
		if n := len(s.chosen); s.leaning[i] && n > 0 && s.chosen[n-1] == i-1 && !s.broken[i] {
			gain = 0
		}
		for _, id := range s.ids[i] {
			if s.covered[id] == 0 {
				gain += s.weight[id]
			}
			s.covered[id]++
		}
		s.chosen = append(s.chosen, i)
		s.extend(i+1, left-s.units[i], value+gain)
		s.chosen = s.chosen[:len(s.chosen)-1]
		for _, id := range s.ids[i] {
			s.covered[id]--
		}
	}
}

// leans tells a sentence that cannot be understood without the one before it.
func leans(s string) bool {
	s = strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) })
	word, _, _ := strings.Cut(s, " ")
	switch words.Fold(strings.TrimRightFunc(word, unicode.IsPunct)) {
	case "he", "she", "it", "they", "this", "that", "these", "those", "his", "her", "their", "its", "but", "and", "so", "also", "however", "instead", "then",
		"он", "она", "оно", "они", "это", "этот", "эта", "эти", "его", "ее", "их", "но", "а", "и", "также", "однако", "при", "тем", "кроме", "поэтому", "затем", "впрочем", "причем":
		return true
	}
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(r)
}

// brokenQuote tells a sentence that opens or closes a quotation only.
func brokenQuote(s string) bool {
	return strings.Count(s, `"`)%2 != 0 || strings.Count(s, "«") != strings.Count(s, "»") || strings.Count(s, "“") != strings.Count(s, "”")
}
