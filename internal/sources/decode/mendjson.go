package decode

import "bytes"

// jsonMender copies a JSON document and mends what a strict reader refuses:
// comments, commas too many or missing, raw controls and wrong escapes in
// strings, and a torn end, which is cut back to the last whole item.
type jsonMender struct {
	in    []byte
	out   []byte
	stack []byte // what is open: { and [
	items int    // how deep the items stand: 2 in a feed, 1 in a bare list
	whole int    // length of out behind the last whole item, -1: there was none
	open  string // what was open there
	last  byte   // the last byte that was copied and is no blank
}

// mendJSON returns the mended document; cut: its end is missing.
func mendJSON(b []byte) (out []byte, cut bool) {
	m := jsonMender{in: b, out: make([]byte, 0, len(b)+16), items: 2, whole: -1}
	if len(b) > 0 && b[0] == '[' {
		m.items = 1
	}
	for i := 0; i < len(b); {
		i = m.step(i)
		if len(m.stack) == 0 && len(m.out) > 0 {
			return m.out, false
		}
	}
	if m.whole < 0 {
		return m.out, true
	}
	m.out = m.out[:m.whole]
	for i := len(m.open) - 1; i >= 0; i-- {
		m.out = append(m.out, map[byte]byte{'{': '}', '[': ']'}[m.open[i]])
	}
	return m.out, true
}

// step copies what starts at i, outside of strings, and returns the index
// behind it.
func (m *jsonMender) step(i int) int {
	switch c := m.in[i]; c {
	case '"':
		m.comma()
		return m.text(i)
	case '/':
		return m.comment(i)
	case '{', '[':
		m.comma()
		m.stack = append(m.stack, c)
		m.put(c)
	case ',':
		if m.last != ',' && m.last != '{' && m.last != '[' {
			m.put(c)
		}
	case '}', ']':
		m.close(c)
	default:
		m.put(c)
	}
	return i + 1
}

func (m *jsonMender) close(c byte) {
	m.out = bytes.TrimSuffix(m.out, []byte(","))
	m.put(c)
	if len(m.stack) > 0 {
		m.stack = m.stack[:len(m.stack)-1]
	}
	if c == '}' && len(m.stack) == m.items {
		m.whole, m.open = len(m.out), string(m.stack)
	}
}

// put copies one byte that is no blank.
func (m *jsonMender) put(c byte) {
	if !isSpace(c) {
		m.out = append(m.out, c)
		m.last = c
	}
}

// comma puts in the comma that is missing between two values.
func (m *jsonMender) comma() {
	if m.last == '}' || m.last == ']' || m.last == '"' {
		m.put(',')
	}
}

// comment passes over // to the end of the line and /* to its end.
func (m *jsonMender) comment(i int) int {
	rest := m.in[i:]
	var end int
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		end = skipTo(rest, "\n")
	case bytes.HasPrefix(rest, []byte("/*")):
		end = skipTo(rest, "*/")
	default:
		m.put('/')
		return i + 1
	}
	if end < 0 {
		return len(m.in)
	}
	return i + end
}

// text copies a string. Raw controls become blanks, and a backslash that
// escapes nothing is left out.
func (m *jsonMender) text(i int) int {
	m.put('"')
	for i++; i < len(m.in); i++ {
		switch c := m.in[i]; {
		case c == '"':
			m.put(c)
			return i + 1
		case c == '\\' && i+1 < len(m.in):
			if escapes(m.in[i+1:]) {
				m.out = append(m.out, c, m.in[i+1])
				i++
			}
		case c < 0x20:
			m.out = append(m.out, ' ')
		default:
			m.out = append(m.out, c)
		}
	}
	return i
}

// escapes reports whether a backslash in front of b begins an escape of JSON.
func escapes(b []byte) bool {
	if b[0] != 'u' {
		return bytes.IndexByte([]byte(`"\/bfnrt`), b[0]) >= 0
	}
	for k := 1; k <= 4; k++ {
		if k >= len(b) || hexValue(b[k]) < 0 {
			return false
		}
	}
	return true
}
