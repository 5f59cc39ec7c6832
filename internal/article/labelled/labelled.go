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
