package editorial

import (
	"slices"
	"strings"
)

// InterfaceLanguage is a language that the bot and the page speak: one with a catalogue in internal/chat/texts.
// A language without a column in the page's catalogue is shown there in English.
type InterfaceLanguage struct {
	Tag  string // BCP 47, the name of the catalogue
	Name string // in itself
	// ReadBy are other languages whose speakers usually read this one.
	ReadBy []string
}

// InterfaceLanguages are in the order in which they are offered; the first is for those who read no other.
func InterfaceLanguages() []InterfaceLanguage {
	return []InterfaceLanguage{
		{Tag: "en", Name: "English"},
		{Tag: "ru", Name: "Русский", ReadBy: []string{"be", "uk", "kk"}},
	}
}

// InterfaceLanguageFor picks the catalogue for a language code of Telegram's, such as "pt-br".
func InterfaceLanguageFor(code string) string {
	base, _, _ := strings.Cut(strings.ToLower(code), "-")
	all := InterfaceLanguages()
	for _, l := range all {
		if l.Tag == base || slices.Contains(l.ReadBy, base) {
			return l.Tag
		}
	}
	return all[0].Tag
}

// IsInterfaceLanguage reports whether there is a catalogue of exactly this tag.
func IsInterfaceLanguage(tag string) bool {
	return slices.ContainsFunc(InterfaceLanguages(), func(l InterfaceLanguage) bool { return l.Tag == tag })
}
