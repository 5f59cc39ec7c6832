package article

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/sentences"
)

// Sentences cuts plain text into sentences, trimmed and with single spaces
// inside. An empty line always ends a sentence; a single line break does unless
// the text goes on in lower case after it (hard-wrapped text).
//
// The boundaries are those of Unicode (UAX #29), mended where it cuts too early:
// after initials and abbreviations of English and Russian, and inside an open
// parenthesis or quotation.
func Sentences(text string) []string {
	var out []string
	for _, par := range paragraphs(text) {
		out = appendSentences(out, par)
	}
	return out
}

// paragraphs splits at line breaks and joins hard-wrapped lines again.
func paragraphs(text string) []string {
	var pars []string
	blank := true
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case line == "":
			blank = true
			continue
		case !blank && len(pars) > 0 && goesOn(pars[len(pars)-1], line):
			pars[len(pars)-1] += " " + line
		default:
			pars = append(pars, line)
		}
		blank = false
	}
	return pars
}

// goesOn tells that next continues the sentence that prev leaves open.
func goesOn(prev, next string) bool {
	last, _ := utf8.DecodeLastRuneInString(prev)
	first, _ := utf8.DecodeRuneInString(next)
	return unicode.IsLower(first) && (last == ',' || unicode.IsLetter(last) || unicode.IsDigit(last))
}

func appendSentences(out []string, par string) []string {
	open := ""
	for it := sentences.FromString(par); it.Next(); {
		open += it.Value()
		if endsTooEarly(open, par[it.End():]) {
			continue
		}
		if s := strings.TrimSpace(open); s != "" {
			out = append(out, s)
		}
		open = ""
	}
	if s := strings.TrimSpace(open); s != "" {
		out = append(out, s)
	}
	return out
}

// maxJoined bounds what an unclosed bracket may swallow, in bytes.
const maxJoined = 600

func endsTooEarly(s, rest string) bool {
	if rest == "" {
		return false
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " \"'«“„(—–-"))
	trimmed := strings.TrimSpace(s)
	if unicode.IsLower(first) && !strings.HasSuffix(trimmed, "!") && !strings.HasSuffix(trimmed, "?") {
		return true
	}
	if len(s) < maxJoined && (unbalanced(s, "(", ")") || unbalanced(s, "«", "»") || unbalanced(s, "“", "”")) {
		return true
	}
	return strings.HasSuffix(trimmed, ".") && endsInAbbreviation(strings.TrimSuffix(trimmed, "."), first)
}

func unbalanced(s, open, shut string) bool {
	return strings.Count(s, open) > strings.Count(s, shut)
}

// endsInAbbreviation looks at the word before the full stop. next is the first
// letter of what follows.
func endsInAbbreviation(s string, next rune) bool {
	i := strings.LastIndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("(\"«“—/", r) })
	word := s
	if i >= 0 {
		_, n := utf8.DecodeRuneInString(s[i:])
		word = s[i+n:]
	}
	if initial(word) || alwaysGoesOn(strings.ToLower(word)) {
		return true
	}
	return unicode.IsDigit(next) && goesOnBeforeNumber(strings.ToLower(word))
}

// initial tells a single capital letter or a chain such as "U.S" or "А.С".
func initial(word string) bool {
	letters := 0
	for part := range strings.SplitSeq(word, ".") {
		r, n := utf8.DecodeRuneInString(part)
		if n != len(part) || !unicode.IsUpper(r) {
			return false
		}
		letters++
	}
	// "U.S." may well end a sentence, but two sentences glued together read better
	// than one cut in the middle.
	return letters > 0 && word != "I" && word != "Я"
}

// alwaysGoesOn lists abbreviations that do not end a sentence.
func alwaysGoesOn(word string) bool {
	switch word {
	case "mr", "mrs", "ms", "dr", "prof", "sen", "rep", "gov", "gen", "col", "lt", "sgt", "capt", "st", "mt", "ft", "vs", "e.g", "i.e",
		"jan", "feb", "aug", "sept", "oct", "nov", "dec", "approx", "fig", "messrs", "hon", "rev", "ph", "ky", "calif", "mass", "pa", "ore",
		"т.е", "т.н", "т.к", "т.д", "им", "ул", "просп", "пер", "стр", "рис", "см", "напр", "др", "проф", "акад", "тов", "гг",
		"обл", "пос", "дер", "св", "ст", "кв", "корп", "нач", "зам", "ген", "чл", "ок":
		return word != "т.д" && word != "др"
	}
	return false
}

// goesOnBeforeNumber lists abbreviations that a number may follow: "No. 5", "г. 2026".
func goesOnBeforeNumber(word string) bool {
	switch word {
	case "no", "nos", "vol", "art", "ch", "sec", "p", "pp", "№", "п", "гл", "ч", "тел", "д", "т", "с", "ed":
		return true
	}
	return false
}
