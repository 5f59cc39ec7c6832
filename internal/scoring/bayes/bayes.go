// Package bayes learns from decisions which words a channel keeps and which it
// skips: Naive Bayes over the words that occur in an item, as plain counts, so that
// every lesson can be added and taken back exactly.
//
// It is pure: the counts live in scoring's tables and are handed in.
package bayes

import "math"

// Chosen on BBC articles and held against AG News, which had no part in the choice
// (docs/benchmarks.md).
const (
	// shrink draws a word's rate in a class towards its rate overall, as if so many
	// decisions had been seen; a word seen once moves the number little.
	shrink = 3.0
	// doubt lets a word that was seen n times count n/(n+doubt): one occurrence is
	// half chance.
	doubt = 1.0
	// perWord bounds what one word may add, so that no single word decides.
	perWord = 3.0
	// damping widens the sum of dependent words into an honest probability.
	damping = 0.25
	// blendHalf is the number of decisions at which counts and topics weigh the same.
	blendHalf = 50.0
)

// Totals are the decisions of one channel.
type Totals struct {
	Liked    int
	Disliked int
}

// Decisions returns how many decisions taught.
func (t Totals) Decisions() int { return t.Liked + t.Disliked }

// Count is in how many kept and skipped items a word occurred.
type Count struct {
	Liked    int
	Disliked int
}

// Evidence is one word's part in the number.
type Evidence struct {
	Index  int     // of the word in the counts that were handed in
	Weight float64 // log odds, as they entered the number
}

// weight returns the log odds that one word adds. A word that was never seen adds
// nothing.
func weight(t Totals, c Count) float64 {
	n := float64(t.Decisions())
	seen := float64(c.Liked + c.Disliked)
	if seen == 0 || t.Liked == 0 || t.Disliked == 0 {
		return 0
	}
	rate := seen / n
	liked := (float64(c.Liked) + shrink*rate) / (float64(t.Liked) + shrink)
	disliked := (float64(c.Disliked) + shrink*rate) / (float64(t.Disliked) + shrink)
	return max(-perWord, min(perWord, math.Log(liked/disliked))) * seen / (seen + doubt)
}

// Probability returns how likely the channel keeps an item with these words, and
// calls explain, where it is given, for every word that moved the number.
// Without decisions of both kinds it returns one half.
func Probability(t Totals, counts []Count, explain func(Evidence)) float64 {
	if t.Liked == 0 || t.Disliked == 0 {
		return 0.5
	}
	sum := 0.0
	for i, c := range counts {
		w := weight(t, c)
		if w == 0 {
			continue
		}
		sum += w
		if explain != nil {
			explain(Evidence{Index: i, Weight: damping * w})
		}
	}
	prior := math.Log(float64(t.Liked+1) / float64(t.Disliked+1))
	return logistic(damping*sum + max(-1, min(1, prior)))
}

// Trust returns the part of the blended number that decisions have: n/(n+50),
// and nothing while only one kind of decision exists. Measured on AG News against
// other schedules; see docs/benchmarks.md.
func Trust(t Totals) float64 {
	if t.Liked == 0 || t.Disliked == 0 {
		return 0
	}
	n := float64(t.Decisions())
	return n / (n + blendHalf)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
