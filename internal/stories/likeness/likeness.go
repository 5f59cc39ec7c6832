// Package likeness tells how much two news items say the same: by their titles'
// words, by the words of title and lead, and by the numbers that they name.
//
// It is pure. Likeness groups; it never drops (stories' duty).
package likeness

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/postonce/postonce/internal/article/words"
)

// leadBytes is how much of a text counts as its lead.
const leadBytes = 700

// Item is a news item as it is compared.
type Item struct {
	Title   []string // distinct terms of the title
	All     []string // distinct terms of title and lead
	Numbers []string // of the title
	figures []string // numbers of title and lead, "4-3" and "9.2" in one piece
	months  []string // of the title
	names   []string // capitalised terms of title and lead, sentence openings included
	titled  []string // those of the title
}

// New cuts title and text into what is compared.
func New(title, text string) Item {
	lead := text
	if len(lead) > leadBytes {
		lead = strings.ToValidUTF8(lead[:leadBytes], "")
	}
	it := Item{Title: words.Set(title), All: words.Set(title + "\n" + lead)}
	it.Numbers, it.figures = figures(title), figures(title+"\n"+lead)
	words.Scan(title, func(w words.Word) bool {
		word := words.Fold(w.Surface)
		if n := ordinal(word); n != "" {
			it.Numbers = append(it.Numbers, n)
		}
		if m := month(word); m != "" {
			it.months = append(it.months, m)
		}
		return true
	})
	it.names, it.titled = named(title+". "+lead), named(title)
	return it
}

// named returns the capitalised terms and the longer numbers of a text.
func named(text string) []string {
	var out []string
	words.Scan(text, func(w words.Word) bool {
		if words.Carries(w) && w.Surface[:1] != strings.ToLower(w.Surface[:1]) || w.Number && len(w.Surface) > 1 {
			if !slices.Contains(out, w.Stem) {
				out = append(out, w.Stem)
			}
		}
		return true
	})
	return out
}

// Group is the likeness from which two items are one story; tuned for precision
// on the labelled set (docs/benchmarks.md).
const Group = 0.4

// Of returns the likeness of two items, 0 to 1. Titles with different numbers
// ("version 3.1", "version 3.2") are different news however like they are, and
// likeness alone, without evidence of one event, stays below Group.
func Of(a, b Item) float64 {
	if apart(a.Numbers, b.Numbers, 1) || apart(a.months, b.months, 1) || apart(a.figures, b.figures, 2) {
		return 0
	}
	shared := common(a.Title, b.Title)
	if shared < 2 && common(a.names, b.names) < 2 {
		return 0
	}
	like := 0.45*dice(a.Title, b.Title) + 0.35*dice(a.All, b.All) + 0.2*overlap(a.names, b.names)
	if like >= Group && !oneEvent(a, b) {
		return below
	}
	return like
}

// below is the likeness of items that share words and names, but perhaps not the event.
const below = Group - 0.01

// The weights were fitted on the first labelled set and on each second pair of the second.
const (
	figureSays    = 3.2
	wordDenies    = 1.25
	nameDenies    = 0.65
	coveringSays  = 1.5
	eventEvidence = 0.7
	templateLike  = 0.75
)

// oneEvent tells events that share people, places and wording from one event that is told twice. Reports of one
// event name the same figures, and what one headline says stands in the other's headline or lead; where each
// headline says what the other report does not know, they are about different things. Headlines that are
// alike but for a word on each side follow a template, and the word is the point.
func oneEvent(a, b Item) bool {
	foreign := min(len(a.Title)-common(a.Title, b.All), len(b.Title)-common(b.Title, a.All))
	if foreign > 0 && dice(a.Title, b.Title) >= templateLike {
		return false
	}
	strangers := min(strange(a, b), strange(b, a))
	covered := min(share(a.Title, b.All), share(b.Title, a.All))
	figures := min(2, common(a.figures, b.figures))
	return figureSays*float64(figures)+coveringSays*covered-wordDenies*float64(foreign)-nameDenies*float64(strangers) >= eventEvidence
}

// strange counts the names of a's title that b does not know.
func strange(a, b Item) int {
	n := 0
	for _, w := range a.titled {
		if !slices.Contains(b.names, w) && !slices.Contains(b.All, w) {
			n++
		}
	}
	return n
}

func share(part, of []string) float64 {
	return float64(common(part, of)) / float64(max(1, len(part)))
}

// apart tells that both sides have figures, at least so many, and none in common.
func apart(a, b []string, least int) bool {
	return len(a) >= least && len(b) >= least && common(a, b) == 0
}

// figures returns the numbers of a text, each with the marks inside it.
func figures(text string) []string {
	var out []string
	for _, f := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsDigit(r) && !strings.ContainsRune(".,:-–", r) }) {
		f = strings.NewReplacer("–", "-", ":", "-", ",", ".").Replace(strings.Trim(f, ".,:-–"))
		if f != "" && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// month names the month that a word means, in either language.
func month(w string) string {
	if len(w) < 3 {
		return ""
	}
	for i, stems := range [][]string{
		{"january", "январ"},
		{"february", "феврал"},
		{"march", "март"},
		{"april", "апрел"},
		{"may", "май", "мая", "мае"},
		{"june", "июн"},
		{"july", "июл"},
		{"august", "август"},
		{"september", "сентябр"},
		{"october", "октябр"},
		{"november", "ноябр"},
		{"december", "декабр"},
	} {
		for _, s := range stems {
			if strings.HasPrefix(w, s) && len(w) <= len(s)+4 && (s != "may" || w == "may") {
				return strconv.Itoa(i + 1)
			}
		}
	}
	return ""
}

// ordinal reads the number words by which titles of otherwise like news differ.
func ordinal(w string) string {
	switch w {
	case "first", "первый", "первая", "первое", "первого", "первой":
		return "1"
	case "second", "второй", "вторая", "второе", "второго":
		return "2"
	case "third", "третий", "третья", "третье", "третьего", "третьей":
		return "3"
	case "fourth", "четвертый", "четвертая", "четвертое", "четвертого":
		return "4"
	case "fifth", "пятый", "пятая", "пятое", "пятого":
		return "5"
	case "sixth", "шестой", "шестая", "шестого":
		return "6"
	case "seventh", "седьмой", "седьмая", "седьмого":
		return "7"
	case "eighth", "восьмой", "восьмая", "восьмого":
		return "8"
	case "ninth", "девятый", "девятая", "девятого":
		return "9"
	case "tenth", "десятый", "десятая", "десятого":
		return "10"
	case "eleventh":
		return "11"
	case "twelfth":
		return "12"
	}
	return ""
}

// Adds returns the share of b's terms that none of the known ones has.
func Adds(known, b []string) float64 {
	if len(b) == 0 {
		return 0
	}
	return 1 - float64(common(b, known))/float64(len(b))
}

func common(a, b []string) int {
	n := 0
	for _, w := range a {
		if slices.Contains(b, w) {
			n++
		}
	}
	return n
}

func dice(a, b []string) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	return 2 * float64(common(a, b)) / float64(len(a)+len(b))
}

func overlap(a, b []string) float64 {
	small := min(len(a), len(b))
	if small == 0 {
		return 0
	}
	return float64(common(a, b)) / float64(max(small, 3))
}

// Simhash is a 64-bit fingerprint of words (Charikar 2002): texts that share most
// of their words differ in few bits.
func Simhash(terms []string) uint64 {
	var weight [64]int
	for _, t := range terms {
		h := fnv.New64a()
		h.Write([]byte(t))
		v := h.Sum64()
		for i := range weight {
			weight[i] += int(v>>i&1)*2 - 1
		}
	}
	var out uint64
	for i, w := range weight {
		if w > 0 {
			out |= 1 << i
		}
	}
	return out
}

// Names returns the terms that name somebody or something, and the numbers.
func (it Item) Names() []string { return it.names }
