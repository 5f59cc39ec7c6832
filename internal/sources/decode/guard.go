package decode

import (
	"bytes"
	"regexp"
)

// wrapping is what servers put in front of JSON: a line that stops scripts
// which include it, a call (JSONP), an assignment, a comment. What is behind it
// must open an object or a list.
var wrapping = regexp.MustCompile(`^(?:\)\]\}'?,?|while\s*\(1\);?|for\s*\(;;\);?|throw[^;\n]{0,60};|\{\}\s*&&|&&&START&&&|` +
	`/\*[^*]*(?:\*+[^*/][^*]*)*\*+/|//[^\n]*\n|` +
	`typeof\s+[\w$.]+\s*={2,3}\s*['"]function['"]\s*&&|` +
	`(?:(?:var|let|const)\s+)?[A-Za-z_$][\w$.]{0,100}\s*=\s*|[A-Za-z_$][\w$.]{0,100}\s*\(|\()\s*`)

// unguard takes that off. A document that is no JSON is returned as it is.
func unguard(b []byte) []byte {
	inner := b
	for range 4 {
		if isJSON(inner) && !bytes.HasPrefix(inner, []byte("{}")) {
			return inner
		}
		m := wrapping.Find(inner[:min(len(inner), 4096)])
		if len(m) == 0 {
			break
		}
		inner = inner[len(m):]
	}
	if isJSON(inner) || len(inner) == 0 && bytes.HasPrefix(b, []byte(")]}'")) {
		return inner
	}
	return b
}

func isJSON(b []byte) bool { return len(b) > 0 && (b[0] == '{' || b[0] == '[') }

// behindJunk finds a JSON Feed behind the warnings of the program that wrote
// it, by the address of its version, which nothing else carries.
func behindJunk(b []byte) []byte {
	at := bytes.Index(b, []byte("jsonfeed.org/version/"))
	if at < 0 {
		at = bytes.Index(b, []byte(`jsonfeed.org\/version\/`))
	}
	if at < 0 || at > maxProlog {
		return nil
	}
	for i := bytes.IndexByte(b[:at], '{'); i >= 0 && i < at; {
		if rest := bytes.TrimLeft(b[i+1:], " \t\r\n"); len(rest) > 0 && rest[0] == '"' {
			return b[i:]
		}
		n := bytes.IndexByte(b[i+1:at], '{')
		if n < 0 {
			break
		}
		i += 1 + n
	}
	return nil
}
