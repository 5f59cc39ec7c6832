// Package words turns text into the terms that scoring, stories and drafting
// compare: lower-cased, lightly stemmed, without stop words, for English and
// Russian, and unstemmed for everything else.
//
// It is pure: no tables, no network, no state. It must never decide what a term
// means for a channel; that is scoring's duty.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWord bounds a word in bytes; a longer run of letters is noise (a digest, a
// pasted key) and is not reported.
const maxWord = 64

// Word is one word of a text as Scan reports it.
type Word struct {
	// Surface is the word as it stands in the text.
	Surface string
	// Stem is the lower-cased stem; equal to the lower-cased word where no rule
	// of stemming applies.
	Stem string
	// Start is the byte at which Surface begins in the text.
	Start int
	// Stop tells a function word, which says nothing about a topic.
	Stop bool
	// Number tells a word without a letter.
	Number bool
}

// Scan calls yield for each word of text in order, until yield returns false.
func Scan(text string, yield func(Word) bool) {
	start, letters := -1, false
	for i, r := range text {
		if joins(r) {
			if start < 0 {
				start, letters = i, false
			}
			letters = letters || unicode.IsLetter(r)
			continue
		}
		if start >= 0 {
			if !emit(text, start, i, letters, yield) {
				return
			}
			start = -1
		}
	}
	if start >= 0 {
		emit(text, start, len(text), letters, yield)
	}
}

func joins(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func emit(text string, start, end int, letters bool, yield func(Word) bool) bool {
	if end-start > maxWord {
		return true
	}
	surface := text[start:end]
	lower := Fold(surface)
	w := Word{Surface: surface, Start: start, Number: !letters, Stop: stop(lower)}
	if w.Number || w.Stop {
		w.Stem = lower
	} else {
		w.Stem = Stem(lower)
	}
	return yield(w)
}

// Fold lower-cases a word and writes ё as е, which Russian print does not tell
// apart. It allocates only where something changes.
func Fold(s string) string {
	s = strings.ToLower(s)
	if strings.Contains(s, "ё") {
		s = strings.ReplaceAll(s, "ё", "е")
	}
	return s
}

// Terms returns the stems that carry the meaning of text, in order and with
// repetitions: no stop words, no bare numbers, no single letters.
func Terms(text string) []string {
	terms := make([]string, 0, len(text)/8)
	Scan(text, func(w Word) bool {
		if Carries(w) {
			terms = append(terms, w.Stem)
		}
		return true
	})
	return terms
}

// Carries tells whether a word carries meaning, as Terms sees it.
func Carries(w Word) bool {
	return !w.Stop && !w.Number && len(w.Stem) > 1 && utf8.RuneCountInString(w.Stem) > 1
}

// Set returns the distinct terms of text in the order of their first mention.
func Set(text string) []string { return Distinct(Terms(text)) }

// Distinct leaves of terms, in place, the first mention of each.
func Distinct(terms []string) []string {
	seen := make(map[string]struct{}, len(terms))
	kept := terms[:0]
	for _, t := range terms {
		if _, dup := seen[t]; !dup {
			seen[t] = struct{}{}
			kept = append(kept, t)
		}
	}
	return kept
}
