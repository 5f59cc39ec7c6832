package sources

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"
)

// guessable is the least text, in runes, from which a language is guessed.
const guessable = 100

// languageIn is the language of a text, as a primary subtag: what the words
// show when there are enough of them, else what the feed declares. Feeds that
// leave their generator's "en-us" are common.
func languageIn(text, declared string) string {
	declared = languageOf(declared)
	if utf8.RuneCountInString(text) < guessable {
		return declared
	}
	info := whatlanggo.DetectWithOptions(text[:min(len(text), 2000)], whatlanggo.Options{Whitelist: expected()})
	guessed := info.Lang.Iso6391()
	foreign := info.Script == unicode.Cyrillic && declared != "" && !strings.Contains(" ru uk be bg sr mk kk ky mn tg ", " "+declared+" ")
	if guessed != "" && (declared == "" || foreign || info.IsReliable()) {
		return guessed
	}
	return declared
}

// expected are the languages that are told apart; with all of the world's,
// related ones are taken for one another.
func expected() map[whatlanggo.Lang]bool {
	return map[whatlanggo.Lang]bool{
		whatlanggo.Eng: true, whatlanggo.Rus: true, whatlanggo.Ukr: true, whatlanggo.Deu: true, whatlanggo.Fra: true, whatlanggo.Spa: true,
		whatlanggo.Ita: true, whatlanggo.Por: true, whatlanggo.Pol: true, whatlanggo.Nld: true, whatlanggo.Tur: true, whatlanggo.Ces: true,
		whatlanggo.Bul: true, whatlanggo.Bel: true, whatlanggo.Srp: true, whatlanggo.Arb: true, whatlanggo.Pes: true,
		whatlanggo.Heb: true, whatlanggo.Jpn: true, whatlanggo.Kor: true, whatlanggo.Cmn: true, whatlanggo.Hin: true, whatlanggo.Swe: true,
	}
}

// languageOf keeps the primary subtag of a language tag.
func languageOf(tag string) string {
	if i := strings.IndexAny(tag, "-_"); i >= 0 {
		tag = tag[:i]
	}
	tag = strings.ToLower(strings.TrimSpace(tag))
	if len(tag) < 2 || len(tag) > 3 || strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return tag
}
