package miniapp

import (
	"fmt"
	"regexp"
	"strings"
)

// advice is what the page says to people when something is refused, in English,
// by the refusal's code: who asks by another program is told the same mend.
type advice struct {
	texts map[string]string
	place *regexp.Regexp
}

// readAdvice takes the lines error.… out of the page's catalogue.
func readAdvice() (advice, error) {
	raw, err := pageFS.ReadFile("page/js/" + texts)
	if err != nil {
		return advice{}, fmt.Errorf("the page's texts: %w", err)
	}
	a := advice{texts: map[string]string{}, place: regexp.MustCompile(`\{(\w+)\}`)}
	for line := range strings.Lines(string(raw)) {
		if key, rest, ok := strings.Cut(line, "|"); ok && strings.HasPrefix(key, "error.") {
			a.texts[key], _, _ = strings.Cut(rest, "|")
		}
	}
	return a, nil
}

// of returns the text of a code, or of its area ("session" of "session.expired"),
// as the page looks it up; empty: there is none.
func (a advice) of(code string, args map[string]any) string {
	code = strings.TrimPrefix(code, "error.")
	area, _, _ := strings.Cut(code, ".")
	text := a.texts["error."+code]
	if text == "" {
		text = a.texts["error."+area]
	}
	return a.place.ReplaceAllStringFunc(text, func(name string) string {
		if v, known := args[strings.Trim(name, "{}")]; known {
			return fmt.Sprint(v)
		}
		return ""
	})
}
