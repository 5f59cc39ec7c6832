package html

// decodeReference reads the character reference at s[pos] == '&'. It knows
// lt, gt, amp, quot and numbers; code 0 means that it is plain text.
func decodeReference(s string, pos int) (code uint32, next int) {
	at := func(i int) byte {
		if i < len(s) {
			return s[i]
		}
		return 0
	}
	end := pos + 1
	if at(end) == '#' {
		code, end = decodeNumber(at, end+1)
		// Ten bytes and more are never a reference, whatever they say.
		if code == 0 || code >= 0x10ffff || end-pos >= 10 {
			return 0, pos
		}
	} else {
		for isAlpha(at(end)) {
			end++
		}
		switch s[pos+1 : end] {
		case "lt":
			code = '<'
		case "gt":
			code = '>'
		case "amp":
			code = '&'
		case "quot":
			code = '"'
		default:
			return 0, pos
		}
	}
	if at(end) == ';' {
		end++
	}
	return code, end
}

func decodeNumber(at func(int) byte, i int) (code uint32, end int) {
	if at(i) != 'x' {
		for ; at(i) >= '0' && at(i) <= '9'; i++ {
			code = code*10 + uint32(at(i)-'0')
		}
		return code, i
	}
	for i++; ; i++ {
		switch c := at(i); {
		case c >= '0' && c <= '9':
			code = code*16 + uint32(c-'0')
		case c >= 'a' && c <= 'f':
			code = code*16 + uint32(c-'a'+10)
		case c >= 'A' && c <= 'F':
			code = code*16 + uint32(c-'A'+10)
		default:
			return code, i
		}
	}
}

// appendCode writes a code point as UTF-8, halves of surrogate pairs too
// (utf8.AppendRune would replace them, and the check for them would pass).
func appendCode(b []byte, code uint32) []byte {
	switch {
	case code <= 0x7f:
		return append(b, byte(code))
	case code <= 0x7ff:
		return append(b, 0xc0|byte(code>>6), 0x80|byte(code&0x3f))
	case code <= 0xffff:
		return append(b, 0xe0|byte(code>>12), 0x80|byte(code>>6&0x3f), 0x80|byte(code&0x3f))
	default:
		return append(b, 0xf0|byte(code>>18), 0x80|byte(code>>12&0x3f), 0x80|byte(code>>6&0x3f), 0x80|byte(code&0x3f))
	}
}

// unitsOfLead counts the UTF-16 units of the character that byte c begins, and
// 0 for a continuation byte.
func unitsOfLead(c byte) int {
	switch {
	case c&0xc0 == 0x80:
		return 0
	case c >= 0xf0:
		return 2
	}
	return 1
}

// UTF16Len counts the UTF-16 code units of s, the unit of every limit and
// offset in the Bot API.
func UTF16Len(s string) int {
	n := 0
	for i := range len(s) {
		n += unitsOfLead(s[i])
	}
	return n
}

// lower folds ASCII letters only, so that byte offsets stay as they are.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
