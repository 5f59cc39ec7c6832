package check

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postonce/postonce/internal/article/words"
)

const (
	// nearly is the share of common pairs of words from which two posts are one.
	nearly = 0.6
	// echoRun is the number of words in a row that the prompt and the text share
	// only when the text repeats the prompt.
	echoRun = 7
	// grounded is the share of a text's terms that its source must have, where both
	// are written in one script.
	grounded = 0.35
)

// Nearest returns the start of a past post that the text nearly repeats, or "".
func Nearest(text string, past []string) string {
	mine := pairs(text)
	for _, p := range past {
		if alike(mine, pairs(p)) >= nearly {
			return p
		}
	}
	return ""
}

// repeats is the share of common pairs of words from which a text is told again: nothing is asked of
// a person then, so it is more than Nearest wants.
const repeats = 0.85

// Repeats tells that a text says what the post says, in the same words.
func Repeats(text, post string) bool { return alike(pairs(text), pairs(post)) >= repeats }

// alike is the share of common pairs, 0 to 1; a text of fewer than four says too little to be like another.
func alike(text, post map[string]bool) float64 {
	if len(text) < 4 {
		return 0
	}
	common := 0
	for k := range text {
		if post[k] {
			common++
		}
	}
	return float64(common) / float64(max(len(text), len(post)))
}

func pairs(text string) map[string]bool {
	terms := words.Terms(text)
	out := make(map[string]bool, len(terms))
	for i := 1; i < len(terms); i++ {
		out[terms[i-1]+" "+terms[i]] = true
	}
	return out
}

// echoes reports runs of words that stand in the prompt and not in the source.
func echoes(text, prompt, source string) []string {
	if prompt == "" {
		return nil
	}
	flatPrompt, flatSource := flatten(prompt), flatten(source)
	fields := strings.Fields(flatten(text))
	for i := 0; i+echoRun <= len(fields); i++ {
		run := " " + strings.Join(fields[i:i+echoRun], " ") + " "
		if strings.Contains(flatPrompt, run) && !strings.Contains(flatSource, run) {
			return []string{strings.TrimSpace(run)}
		}
	}
	return nil
}

// strays reports a text that has too few words in common with its source to be
// about it. A translation shares none, so texts in another script pass.
func strays(text, source string) []string {
	if (cyrillicShare(text) > 0.5) != (cyrillicShare(source) > 0.5) {
		return nil
	}
	mine := words.Set(text)
	if len(mine) < 4 {
		return nil
	}
	have := map[string]bool{}
	for _, w := range words.Set(source) {
		have[w] = true
	}
	n := 0
	for _, w := range mine {
		if have[w] {
			n++
		}
	}
	if float64(n) >= grounded*float64(len(mine)) {
		return nil
	}
	return []string{"few of its words stand in the source"}
}

// soft reports names that the source does not have, and a negation that only
// one of both has in a sentence with the same words.
func soft(text, source string) []Finding {
	var out []Finding
	if (cyrillicShare(text) > 0.5) == (cyrillicShare(source) > 0.5) {
		for _, n := range newNames(text, source) {
			out = append(out, Finding{Code: Names, Detail: short(n), Soft: true})
		}
	}
	if negations(text) > negations(source) {
		out = append(out, Finding{Code: Negation, Soft: true})
	}
	return out
}

// newNames returns capitalised words inside sentences whose stem the source lacks.
func newNames(text, source string) []string {
	have := map[string]bool{}
	words.Scan(source, func(w words.Word) bool {
		have[w.Stem] = true
		return true
	})
	var out []string
	words.Scan(text, func(w words.Word) bool {
		r, _ := utf8.DecodeRuneInString(w.Surface)
		if unicode.IsUpper(r) && words.Carries(w) && !have[w.Stem] && !opensSentence(text[:w.Start]) {
			out = append(out, w.Surface)
		}
		return len(out) < 5
	})
	return out
}

func opensSentence(before string) bool {
	before = strings.TrimRightFunc(before, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'«“„(—–-", r) })
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || strings.ContainsRune(".!?…:", r)
}

func negations(s string) int {
	n := 0
	for _, f := range strings.Fields(flatten(s)) {
		switch f {
		case "not", "no", "never", "none", "nobody", "cannot", "cant", "wont", "isnt", "doesnt", "didnt", "dont", "wasnt", "hasnt", "не", "нет", "никогда", "никто", "нельзя":
			n++
		}
	}
	return n
}
