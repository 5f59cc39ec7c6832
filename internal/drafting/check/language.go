package check

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

// sureFrom is the length from which a guess at the language is to be trusted;
// below it only the script is looked at.
const sureFrom = 100

// DetectLanguage guesses the ISO 639-1 code of a text, or "" where the text is
// too short or too mixed to tell.
func DetectLanguage(text string) string {
	if utf8.RuneCountInString(text) < sureFrom {
		switch share := cyrillicShare(text); {
		case share > 0.6:
			return "ru"
		default:
			return ""
		}
	}
	info := whatlanggo.Detect(text)
	if !info.IsReliable() {
		return ""
	}
	return info.Lang.Iso6391()
}

// wrongLanguage reports a text that is clearly not in the wanted language.
func wrongLanguage(text, want string) []string {
	want, _, _ = strings.Cut(strings.ToLower(want), "-")
	if want == "" {
		return nil
	}
	share := cyrillicShare(text)
	if writtenInCyrillic(want) != (share > 0.5) && letters(text) >= 12 {
		if writtenInCyrillic(want) && share > 0.3 {
			return nil // a Russian text full of Latin names
		}
		return []string{"not " + want}
	}
	if otherScript(text) {
		return []string{"not " + want}
	}
	got := DetectLanguage(text)
	if got == "" || got == want || related(got, want) || utf8.RuneCountInString(text) < sureFrom {
		return nil
	}
	return []string{got + ", not " + want}
}

func writtenInCyrillic(lang string) bool {
	switch lang {
	case "ru", "uk", "be", "bg", "sr", "mk", "kk", "ky", "tg", "mn":
		return true
	}
	return false
}

// related pairs are told apart too badly to refuse a text for it.
func related(a, b string) bool {
	near := map[string]string{"ru": "cyr", "uk": "cyr", "bg": "cyr", "be": "cyr", "mk": "cyr", "sr": "cyr", "no": "sc", "nb": "sc", "nn": "sc", "da": "sc", "sv": "sc"}
	return near[a] != "" && near[a] == near[b] && !(a == "ru" || b == "ru") || near[a] == "cyr" && near[b] == "cyr" && (a == "bg" || b == "bg")
}

func letters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

func cyrillicShare(s string) float64 {
	all, cyr := 0, 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			all++
			if unicode.Is(unicode.Cyrillic, r) {
				cyr++
			}
		}
	}
	if all == 0 {
		return 0
	}
	return float64(cyr) / float64(all)
}

// otherScript tells that more than a third of the letters are neither Latin nor
// Cyrillic.
func otherScript(s string) bool {
	all, other := 0, 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			all++
			if !unicode.In(r, unicode.Latin, unicode.Cyrillic) {
				other++
			}
		}
	}
	return all > 0 && other*3 > all
}
