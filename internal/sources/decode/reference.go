package decode

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf16"
)

// mendReference measures a numeric reference. bad: XML 1.0 forbids its
// character, and text is what stands for it: the character that two halves of
// a UTF-16 pair name, else nothing.
func mendReference(b []byte) (width int, text string, bad bool) {
	w, n := numericReference(b)
	if w == 0 {
		return 1, "", false
	}
	switch {
	case n == 9 || n == 10 || n == 13 || (n >= 0x20 && n < 0xD800) || (n >= 0xE000 && n < 0xFFFE) || (n >= 0x10000 && n <= 0x10FFFF):
		return w, "", false
	case n >= 0xD800 && n < 0xDC00:
		if w2, low := numericReference(b[w:]); w2 > 0 && low >= 0xDC00 && low < 0xE000 {
			return w + w2, string(utf16.DecodeRune(rune(n), rune(low))), true
		}
	}
	return w, "", true
}

// numericReference reads "&#…;" at the start of b; width 0: there is none.
func numericReference(b []byte) (width, value int) {
	if len(b) < 4 || b[0] != '&' || b[1] != '#' {
		return 0, 0
	}
	i, base := 2, 10
	if b[2] == 'x' || b[2] == 'X' {
		i, base = 3, 16
	}
	start := i
	for ; i < len(b) && i-start < 40; i++ {
		d := hexValue(b[i])
		if d < 0 || d >= base {
			break
		}
		value = min(value*base+d, 0x110000)
	}
	if i == start || i >= len(b) || b[i] != ';' {
		return 0, 0
	}
	return i + 1, value
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// Bounds of the entities that a document declares. A document that needs more
// is read with its references as they stand.
const (
	maxEntity   = 256      // bytes of one value
	maxExpanded = 64 << 10 // bytes that they may add to a document
)

// entities are the harmless entities of a document's internal subset, by
// name: short text without markup. External ones are never resolved.
type entities struct {
	values map[string]string
	spent  int
}

var entityDeclaration = regexp.MustCompile(`<!ENTITY\s+([A-Za-z_][A-Za-z0-9_.\-]{0,63})\s+(?:"([^"]{0,512})"|'([^']{0,512})')\s*>`)

var namedReference = regexp.MustCompile(`&([A-Za-z_][A-Za-z0-9_.\-]{0,63});`)

// declaredEntities reads the internal subset in what stands before the root.
func declaredEntities(prolog []byte) entities {
	i := bytes.Index(prolog, []byte("<!DOCTYPE"))
	if i < 0 || !bytes.Contains(prolog[i:], []byte("<!ENTITY")) {
		return entities{}
	}
	found := map[string]string{}
	for _, m := range entityDeclaration.FindAllSubmatch(prolog[i:], 256) {
		name, value := string(m[1]), string(m[2])+string(m[3])
		switch name {
		case "amp", "lt", "gt", "quot", "apos":
			continue
		}
		if _, twice := found[name]; !twice && !strings.Contains(value, "<") {
			found[name] = strings.ReplaceAll(value, "&#38;", "&")
		}
	}
	e := entities{values: make(map[string]string, len(found))}
	for name, value := range found {
		for range 2 { // entities in entities; a third level is somebody's bomb
			value = namedReference.ReplaceAllStringFunc(value, func(ref string) string {
				if inner, ok := found[ref[1:len(ref)-1]]; ok {
					return inner
				}
				return ref
			})
			if len(value) > maxEntity {
				break
			}
		}
		whole := len(value) <= maxEntity
		for _, m := range namedReference.FindAllStringSubmatch(value, -1) {
			_, open := found[m[1]]
			whole = whole && !open
		}
		if whole {
			e.values[name] = value
		}
	}
	return e
}

// at returns the value of the entity that is referred to at the start of b,
// and the width of the reference; 0: it is none, or the document has expanded
// enough.
func (e *entities) at(b []byte) (int, string) {
	if len(e.values) == 0 {
		return 0, ""
	}
	m := namedReference.FindSubmatchIndex(b[:min(len(b), 80)])
	if m == nil || m[0] != 0 {
		return 0, ""
	}
	value, ok := e.values[string(b[m[2]:m[3]])]
	if !ok || e.spent+len(value) > maxExpanded {
		return 0, ""
	}
	e.spent += len(value)
	return m[1], value
}
