// Package language tells in which language a text is written: by its letters, by
// its commonest words, and by trigrams where these say too little.
//
// It is pure: no tables, no network, no state. It must never take a declared
// language for a wrong one on the strength of a short text.
package language

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

const (
	// guessable is the least text, in runes, from which a language is guessed.
	guessable = 100
	// legible is how much of a text is looked at, in runes: what more of it
	// says changed no answer on the texts of the tests.
	legible = 300
)

// Of is the language of a text, as a primary subtag (ISO 639-1), or "": what the words
// show when there are enough of them, else what the feed declares. Feeds that
// leave their generator's "en-us" are common. A declared language that is not
// told apart from its relatives (Danish, Kazakh, Urdu) stands.
func Of(text, declared string) string {
	declared = Tag(declared)
	text, n := opening(text, legible)
	if n < guessable {
		return declared
	}
	l := countLetters(text)
	guessed, sure := l.language(text)
	switch {
	case guessed == "":
		return declared
	case declared == "":
		return guessed
	case strings.Contains(toldApart, " "+declared+" "):
		if sure || !l.mayBe(declared) {
			return guessed
		}
	case !l.mayBe(declared):
		return guessed
	}
	return declared
}

// opening is the beginning of a text, at most that many runes, and their number.
func opening(text string, most int) (string, int) {
	n := 0
	for i := range text {
		if n == most {
			return text[:i], n
		}
		n++
	}
	return text, n
}

// toldApart are the languages that a text is given; with all of the world's,
// related ones are taken for one another.
const toldApart = " en ru uk de fr es it pt pl nl tr cs bg be sr ar fa he ja ko zh hi sv "

// letters counts what the letters of a text show: its script, and the ones that
// only some languages of a script have.
type letters struct {
	latin, cyrillic, arabic, hebrew, devanagari, kana, han, hangul, other int

	ukrainian, belarusian, russian, hard, serbian, macedonian, turkic int // Cyrillic
	persian                                                           int // Arabic
}

func countLetters(text string) letters {
	var l letters
	for _, r := range text {
		switch {
		case r < 0x80:
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
				l.latin++
			}
		case r >= 0xC0 && r < 0x250 || r >= 0x1E00 && r < 0x1F00:
			l.latin++
		case r >= 0x400 && r < 0x530:
			l.cyrillic++
			l.cyrillicLetter(unicode.ToLower(r))
		case r >= 0x590 && r < 0x600:
			l.hebrew++
		case r >= 0x600 && r < 0x780 || r >= 0xFB50 && r < 0xFE00 || r >= 0xFE70 && r < 0xFF00:
			l.arabic++
			if strings.ContainsRune("پچژگکی", r) {
				l.persian++
			}
		case r >= 0x900 && r < 0x980:
			l.devanagari++
		case r >= 0x3040 && r < 0x3100:
			l.kana++
		case r >= 0x4E00 && r < 0xA000:
			l.han++
		case r >= 0xAC00 && r < 0xD7B0:
			l.hangul++
		case unicode.IsLetter(r):
			l.other++
		}
	}
	return l
}

func (l *letters) cyrillicLetter(r rune) {
	switch r {
	case 'і', 'ї', 'є', 'ґ':
		l.ukrainian++
	case 'ў':
		l.belarusian++
	case 'ы', 'э', 'ё':
		l.russian++
	case 'ъ':
		l.hard++
	case 'ђ', 'ј', 'љ', 'њ', 'ћ', 'џ':
		l.serbian++
	case 'ѓ', 'ќ', 'ѕ':
		l.macedonian++
	case 'ә', 'ғ', 'қ', 'ң', 'ө', 'ұ', 'ү', 'һ', 'җ', 'ҷ', 'ӣ', 'ҳ', 'ӯ':
		l.turkic++
	}
}

// language is what letters and words show; sure: enough to believe them more
// than the feed.
func (l *letters) language(text string) (lang string, sure bool) {
	switch script := max(l.latin, l.cyrillic, l.arabic, l.hebrew, l.devanagari, l.kana+l.han, l.hangul, l.other); {
	case script == 0 || script == l.other:
		return "", false
	case script == l.cyrillic:
		return l.slavic(text)
	case script == l.latin:
		return latin(text)
	case script == l.arabic && 50*l.persian > l.arabic:
		return "fa", true
	case script == l.arabic:
		return "ar", true
	case script == l.hebrew:
		return "he", true
	case script == l.devanagari:
		return "hi", true
	case script == l.hangul:
		return "ko", true
	case 10*l.kana > l.han:
		return "ja", true
	}
	return "zh", true
}

// slavic tells the languages of Cyrillic apart by the letters that the others
// lack. Trigrams take every third short Russian text for Bulgarian.
func (l *letters) slavic(text string) (lang string, sure bool) {
	switch {
	case 50*l.turkic > l.cyrillic:
		return "", false
	case l.macedonian > 1 && l.macedonian > l.russian:
		return "mk", true
	case 100*l.serbian > l.cyrillic && l.serbian > l.russian:
		return "sr", true
	case l.belarusian > 1 && l.ukrainian > 0:
		return "be", true
	case l.ukrainian > l.russian:
		return "uk", true
	case l.hard > 2*l.russian+1:
		return "bg", true
	case l.russian > 0:
		return "ru", true
	}
	ru, bg := 0, 0
	eachWord(text, func(word []byte) {
		switch string(word) {
		case "что", "как", "его", "для", "или", "был", "была", "это", "из", "но", "к", "года":
			ru++
		case "се", "да", "са", "че", "ще", "като", "е", "беше", "този", "от", "във", "със":
			bg++
		}
	})
	if bg > ru+1 {
		return "bg", bg > 2*ru
	}
	return "ru", ru > 2*bg
}

// latin tells the languages of the Latin script apart by their commonest words;
// where those are too few, or shared, by trigrams, which cost fifty times as much.
func latin(text string) (lang string, sure bool) {
	var score [len(commonWords)]int
	eachWord(text, func(word []byte) {
		for set := wordSets()[string(word)]; set != 0; set &= set - 1 {
			score[trailing(set)]++
		}
	})
	best, second := 0, -1
	for i := 1; i < len(score); i++ {
		switch {
		case score[i] > score[best]:
			best, second = i, best
		case second < 0 || score[i] > score[second]:
			second = i
		}
	}
	if score[best] >= 4 && 2*score[best] >= 3*score[second] {
		return commonWords[best].lang, true
	}
	info := whatlanggo.DetectWithOptions(text, whatlanggo.Options{Whitelist: latinOnly()})
	return info.Lang.Iso6391(), info.IsReliable()
}

// mayBe reports whether a text in these letters may be in a language.
func (l *letters) mayBe(lang string) bool {
	script := max(l.latin, l.cyrillic, l.arabic, l.hebrew, l.devanagari, l.kana+l.han, l.hangul, l.other)
	has := func(list string) bool { return slices.Contains(strings.Fields(list), lang) }
	switch {
	case has("ru uk be bg sr mk kk ky mn tg tt ba cv os ce"):
		return script == l.cyrillic || script == l.latin && has("sr kk")
	case has("ar fa ur ps ckb ug sd"):
		return script == l.arabic
	case has("he yi"):
		return script == l.hebrew
	case has("hi mr ne sa"):
		return script == l.devanagari
	case has("ja zh"):
		return script == l.kana+l.han
	case has("ko"):
		return script == l.hangul
	case has("el hy ka am th ta te kn ml bn gu pa si km my lo or"):
		return script == l.other
	}
	return script == l.latin
}

// eachWord calls f with the words of a text, in lower case.
func eachWord(text string, f func(word []byte)) {
	word := make([]byte, 0, 32)
	for _, r := range text {
		if unicode.IsLetter(r) {
			word = utf8.AppendRune(word, unicode.ToLower(r))
			continue
		}
		if len(word) > 0 {
			f(word)
			word = word[:0]
		}
	}
	if len(word) > 0 {
		f(word)
	}
}

// Tag is the primary subtag of a language tag (BCP 47), or "" where it is none.
func Tag(tag string) string {
	if i := strings.IndexAny(tag, "-_"); i >= 0 {
		tag = tag[:i]
	}
	tag = strings.ToLower(strings.TrimSpace(tag))
	if len(tag) < 2 || len(tag) > 3 || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return tag
}
