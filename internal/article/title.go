package article

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxTitle bounds titles, in runes. Longer ones are texts in the wrong place.
const maxTitle = 500

// Title returns a feed title as plain text: entities decoded (RSS titles are
// often escaped twice), real HTML elements removed, white space folded.
// "Vec<T>" keeps its angle brackets, because T is no element.
func Title(s string) string {
	for range 3 {
		if strings.Contains(s, "<") {
			s = dropTags(s)
		}
		if !strings.Contains(s, "&") {
			break
		}
		u := html.UnescapeString(s)
		if u == s {
			break
		}
		s = u
	}
	// No-break spaces stay: they are the author's.
	return clip(strings.Join(strings.FieldsFunc(Visible(s), breakable), " "), maxTitle)
}

func breakable(r rune) bool { return unicode.IsSpace(r) && r != '\u00A0' && r != '\u202F' }

// tagLike finds what could be a tag; dropTags asks whether HTML knows it.
var tagLike = regexp.MustCompile(`</?([a-zA-Z][a-zA-Z0-9]*)(\s[^<>]*)?/?>`)

// program is a script or a style with what is in it.
var program = regexp.MustCompile(`(?is)<script\b.*?</script\s*>|<style\b.*?</style\s*>`)

func dropTags(s string) string {
	if strings.Contains(s, "</s") || strings.Contains(s, "</S") {
		s = program.ReplaceAllString(s, "")
	}
	return tagLike.ReplaceAllStringFunc(s, func(tag string) string {
		name := strings.ToLower(tagLike.FindStringSubmatch(tag)[1])
		switch atom.Lookup([]byte(name)) {
		case 0, atom.Output, atom.Data, atom.Object, atom.Map, atom.Time, atom.Source, atom.Template, atom.Select:
			// Not an element, or a word that programmers write in angle brackets.
			return tag
		case atom.Br, atom.P, atom.Div, atom.Li:
			return " "
		}
		return ""
	})
}
