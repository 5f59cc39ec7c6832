// Package labelled holds news items written for this project, each with a topic
// and the number of the story that it tells, in English and Russian. Tests measure
// scoring, stories and drafting on them; nothing else imports it.
package labelled

import (
	_ "embed" // the items
	"strings"
)

//go:embed items.txt
var raw string

//go:embed pairs.txt
var rawPairs string

// Item is one labelled item. Items of one language with the same Story tell the
// same news.
type Item struct {
	Topic    string // space, money, sport, health, tech, city
	Story    string
	Language string // en, ru
	Title    string
	Text     string
}

// Items returns all items in the order of the file: one a line, fields parted by |.
func Items() []Item {
	var out []Item
	for line := range strings.Lines(raw) {
		f := strings.SplitN(strings.TrimSpace(line), "|", 5)
		if len(f) == 5 {
			out = append(out, Item{Topic: f[0], Story: f[1], Language: f[2], Title: f[3], Text: f[4]})
		}
	}
	return out
}

// Pair is two items beside each other. Kind is "same" for two reports of one event, "other" for two events
// that share names or wording, and "follow" for what came after an event.
type Pair struct {
	Kind, Language string
	A, B           Item // title and text alone
}

// Pairs returns the second set, which was written when the rule of likeness was already made: no
// constant of it was chosen on these.
func Pairs() []Pair {
	var out []Pair
	for line := range strings.Lines(rawPairs) {
		f := strings.SplitN(strings.TrimSpace(line), "|", 6)
		if len(f) == 6 {
			out = append(out, Pair{Kind: f[0], Language: f[1], A: Item{Title: f[2], Text: f[3]}, B: Item{Title: f[4], Text: f[5]}})
		}
	}
	return out
}
