package words

import (
	"strings"
	"unicode/utf8"
)

// Stem cuts the inflection from a lower-cased word. It only ever cuts, never
// rewrites, so that the stem is a slice of the word: "studies" and "study" meet
// at "stud", "ракетами" and "ракета" at "ракет".
func Stem(word string) string {
	r, _ := utf8.DecodeRuneInString(word)
	switch {
	case 'a' <= r && r <= 'z':
		return stemEnglish(word)
	case 'а' <= r && r <= 'я':
		return stemRussian(word)
	}
	return word
}

// stemEnglish is a weak stemmer: plurals, -ing, -ed, final e and y. Stronger ones
// (Porter) merge words that news keeps apart, such as "universe" and "university".
func stemEnglish(w string) string {
	if len(w) < 4 {
		return w
	}
	w = cutPlural(w)
	switch {
	case len(w) > 5 && strings.HasSuffix(w, "ing") && vowel(w[:len(w)-3]):
		w = undouble(w[:len(w)-3])
	case len(w) > 4 && strings.HasSuffix(w, "ed") && !strings.HasSuffix(w, "eed") && vowel(w[:len(w)-2]):
		w = undouble(w[:len(w)-2])
	}
	if n := len(w); n > 3 && (w[n-1] == 'e' || w[n-1] == 'y' || w[n-1] == 'i') {
		w = w[:n-1]
	}
	return w
}

func cutPlural(w string) string {
	n := len(w)
	switch {
	case w[n-1] != 's' || strings.HasSuffix(w, "ss") || strings.HasSuffix(w, "us") || strings.HasSuffix(w, "is"):
		return w
	case n > 4 && strings.HasSuffix(w, "ies"):
		return w[:n-2]
	case n > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "shes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "xes")):
		return w[:n-2]
	}
	return w[:n-1]
}

func vowel(w string) bool { return strings.ContainsAny(w, "aeiouy") }

// undouble takes back the consonant that English doubles before -ing and -ed.
func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeiouylsz", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}

// stemRussian follows the published Snowball description for Russian
// (snowballstem.org/algorithms/russian): endings are cut behind the first vowel
// only, a participle's, adjective's, verb's or noun's, in this order. The verb
// ending -ит stays, unlike there: news has more кредит, лимит and дефицит.
func stemRussian(w string) string {
	rv := regionV(w)
	if rv < 0 || rv >= len(w) {
		return w
	}
	head, tail := w[:rv], w[rv:]
	if t, cut := cutGerund(tail); cut {
		tail = t
	} else {
		tail = cutInflection(tail)
	}
	tail = strings.TrimSuffix(tail, "и")
	tail = cutDerived(head, tail)
	switch {
	case strings.HasSuffix(tail, "нн"):
		tail = strings.TrimSuffix(tail, "н")
	case strings.HasSuffix(tail, "ь"):
		tail = strings.TrimSuffix(tail, "ь")
	}
	return w[:len(head)+len(tail)]
}

// regionV is the byte after the first vowel, or -1.
func regionV(w string) int {
	for i, r := range w {
		switch r {
		case 'а', 'е', 'и', 'о', 'у', 'ы', 'э', 'ю', 'я':
			return i + utf8.RuneLen(r)
		}
	}
	return -1
}

// cutAny cuts the longest of the endings, which are listed longest first.
func cutAny(w string, endings ...string) (string, bool) {
	for _, e := range endings {
		if strings.HasSuffix(w, e) {
			return w[:len(w)-len(e)], true
		}
	}
	return w, false
}

// cutAfterA cuts the longest of the endings that stands behind а or я, which stays.
func cutAfterA(w string, endings ...string) (string, bool) {
	for _, e := range endings {
		rest, ok := strings.CutSuffix(w, e)
		if ok && (strings.HasSuffix(rest, "а") || strings.HasSuffix(rest, "я")) {
			return rest, true
		}
	}
	return w, false
}

func cutGerund(w string) (string, bool) {
	if r, ok := cutAfterA(w, "вшись", "вши", "в"); ok {
		return r, true
	}
	return cutAny(w, "ившись", "ывшись", "ивши", "ывши", "ив", "ыв")
}

func cutInflection(w string) string {
	w, _ = cutAny(w, "ся", "сь")
	if r, ok := cutAny(w, "ими", "ыми", "его", "ого", "ему", "ому", "ее", "ие", "ые", "ое", "ей", "ий", "ый", "ой",
		"ем", "им", "ым", "ом", "их", "ых", "ую", "юю", "ая", "яя", "ою", "ею"); ok {
		if p, ok := cutAfterA(r, "ющ", "ем", "нн", "вш", "щ"); ok {
			return p
		}
		r, _ = cutAny(r, "ивш", "ывш", "ующ")
		return r
	}
	if r, ok := cutAfterA(w, "ете", "йте", "ешь", "нно", "ла", "на", "ли", "ем", "ло", "но", "ет", "ют", "ны", "ть", "й", "л", "н"); ok {
		return r
	}
	if r, ok := cutAny(w, "уйте", "ейте", "ила", "ыла", "ена", "ите", "или", "ыли", "ило", "ыло", "ено", "ует", "уют", "ены",
		"ить", "ыть", "ишь", "ей", "уй", "ил", "ыл", "им", "ым", "ен", "ят", "ую", "ю"); ok {
		return r
	}
	w, _ = cutAny(w, "иями", "ями", "ами", "ией", "иям", "ием", "иях", "ев", "ов", "ие", "ье", "еи", "ии", "ей", "ой", "ий",
		"ям", "ем", "ам", "ом", "ях", "ах", "ию", "ью", "ия", "ья", "а", "е", "и", "й", "о", "у", "ы", "ь", "ю", "я")
	return w
}

// cutDerived cuts -ость, where a syllable is left before it.
func cutDerived(head, tail string) string {
	r, ok := cutAny(tail, "ость", "ост")
	if !ok || utf8.RuneCountInString(head)+utf8.RuneCountInString(r) < 4 {
		return tail
	}
	return r
}
