package miniapp

import "strings"

// squeeze drops comments and the white space that a script does not need. It
// changes nothing else: names, strings, templates and regular expressions stay.
// A line break stays wherever a semicolon might be inserted.
func squeeze(src string) string {
	s := squeezer{in: src}
	for s.at < len(s.in) {
		s.step()
	}
	return s.out.String() + "\n"
}

type squeezer struct {
	in        string
	at        int
	out       strings.Builder
	last      byte  // the last that was written
	gap, line bool  // white space was left out, with a line break in it
	templates []int // open braces in each ${…} that is open
}

func (s *squeezer) step() {
	c, rest := s.in[s.at], s.in[s.at:]
	switch {
	case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		s.gap, s.line = true, s.line || c == '\n'
		s.at++
	case strings.HasPrefix(rest, "//"):
		s.skip(strings.IndexByte(rest, '\n'))
	case strings.HasPrefix(rest, "/*"):
		s.skip(strings.Index(rest, "*/") + len("*/"))
	case c == '\'' || c == '"':
		s.write(quoted(rest, c))
	case c == '`':
		s.write(s.template(rest, 1))
	case c == '/' && s.startsPattern():
		s.write(pattern(rest))
	case c == '}' && len(s.templates) > 0 && s.templates[len(s.templates)-1] == 0:
		s.templates = s.templates[:len(s.templates)-1]
		s.write(s.template(rest, 1))
	default:
		s.brace(c)
		s.write(rest[:1])
	}
}

// skip leaves a comment out; it separates words as white space does.
func (s *squeezer) skip(n int) {
	if n < 0 {
		n = len(s.in) - s.at
	}
	s.gap = true
	s.at += n
}

// write puts a token out, and before it as much of the gap as is needed.
func (s *squeezer) write(token string) {
	first := token[0]
	if s.gap && s.out.Len() > 0 {
		switch {
		case s.line && !strings.ContainsRune(";{,([=>?:&|\n", rune(s.last)) && !strings.ContainsRune("})].?:&|;,", rune(first)):
			s.out.WriteByte('\n')
		case word(s.last) && word(first), s.last == first && (first == '+' || first == '-'), s.last == '/' || first == '/':
			s.out.WriteByte(' ')
		}
	}
	s.gap, s.line = false, false
	s.out.WriteString(token)
	s.last = token[len(token)-1]
	s.at += len(token)
}

// brace counts the braces inside of ${…}.
func (s *squeezer) brace(c byte) {
	if n := len(s.templates); n > 0 && c == '{' {
		s.templates[n-1]++
	} else if n > 0 && c == '}' {
		s.templates[n-1]--
	}
}

// template returns a piece of a template literal: to its end, or to its next ${.
func (s *squeezer) template(rest string, from int) string {
	for i := from; i < len(rest); i++ {
		switch {
		case rest[i] == '\\':
			i++
		case rest[i] == '`':
			return rest[:i+1]
		case strings.HasPrefix(rest[i:], "${"):
			s.templates = append(s.templates, 0)
			return rest[:i+2]
		}
	}
	return rest
}

// startsPattern tells a regular expression from a division: by what stands before it.
func (s *squeezer) startsPattern() bool {
	return strings.ContainsRune("(,=:[!&|?{};>\n", rune(s.last)) || s.out.Len() == 0 || strings.HasSuffix(s.out.String(), "return")
}

func quoted(rest string, q byte) string {
	for i := 1; i < len(rest); i++ {
		if rest[i] == '\\' {
			i++
		} else if rest[i] == q {
			return rest[:i+1]
		}
	}
	return rest
}

// pattern returns a regular expression; a slash in a class does not end it.
func pattern(rest string) string {
	class := false
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '\\':
			i++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			return rest[:i+1]
		}
	}
	return rest
}

func word(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
