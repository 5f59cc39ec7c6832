package decode

import (
	"bytes"
	"encoding/binary"
	"mime"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// ToUTF8 decodes a document into UTF-8. The order of belief: byte order mark,
// UTF-16/32 patterns, valid UTF-8, the Content-Type header, the document's own
// label, a guess. Labels that the bytes contradict are passed over. The second
// result names what had to be done ("charset:windows-1251 (guessed)"), "" when
// nothing had.
func ToUTF8(body []byte, contentType string) ([]byte, string) {
	if b, how := byMark(body); how != "" {
		return b, how
	}
	declared := declaredCharset(body)
	header := headerCharset(contentType)
	if out, how := escaped(body, header, declared); how != "" {
		return out, how
	}
	if utf8.Valid(body) {
		if declared != "" && !isUTF8Label(declared) && !isASCII(body) {
			return body, "charset:utf-8 (label said " + clipLabel(declared) + ")"
		}
		return body, ""
	}
	if isDefaultLabel(header) && declared != "" && !isUTF8Label(declared) {
		// Apache's AddDefaultCharset says ISO-8859-1 of everything.
		header = ""
	}
	for _, label := range []string{header, declared} {
		if label == "" || isUTF8Label(label) {
			continue
		}
		if enc, name := charset.Lookup(label); enc != nil && name != "utf-8" && !strings.HasPrefix(name, "utf-16") && name != "replacement" {
			if out, err := enc.NewDecoder().Bytes(body); err == nil {
				return out, "charset:" + name
			}
		}
	}
	if mostlyUTF8(body) {
		return patchUTF8(body), "charset:stray bytes in utf-8"
	}
	enc, name := guess(body)
	out, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return bytes.ToValidUTF8(body, []byte("\uFFFD")), "charset:undecodable bytes replaced"
	}
	return out, "charset:" + name + " (guessed)"
}

// byMark decodes what a byte order mark, or the zero bytes of a first "<" or
// "{", prove to be UTF-16 or UTF-32.
func byMark(b []byte) ([]byte, string) {
	has := func(mark ...byte) bool { return bytes.HasPrefix(b, mark) }
	switch {
	case has(0xEF, 0xBB, 0xBF):
		if rest := bytes.TrimPrefix(b, []byte{0xEF, 0xBB, 0xBF}); utf8.Valid(rest) {
			return rest, "bom"
		}
		return nil, ""
	case has(0xFF, 0xFE, 0, 0):
		return utf32(b[4:], binary.LittleEndian), "charset:utf-32le"
	case has(0, 0, 0xFE, 0xFF):
		return utf32(b[4:], binary.BigEndian), "charset:utf-32be"
	case has(0xFF, 0xFE):
		return utf16Bytes(b[2:], binary.LittleEndian), "charset:utf-16le"
	case has(0xFE, 0xFF):
		return utf16Bytes(b[2:], binary.BigEndian), "charset:utf-16be"
	}
	for _, w := range [...]struct {
		order binary.ByteOrder
		size  int
		how   string
	}{
		{binary.LittleEndian, 4, "charset:utf-32le"},
		{binary.BigEndian, 4, "charset:utf-32be"},
		{binary.LittleEndian, 2, "charset:utf-16le"},
		{binary.BigEndian, 2, "charset:utf-16be"},
	} {
		if i := opening(b, w.order, w.size); i >= 0 && w.size == 4 {
			return utf32(b[i:], w.order), w.how
		} else if i >= 0 {
			return utf16Bytes(b[i:], w.order), w.how
		}
	}
	return nil, ""
}

// opening finds the first "<", "{" or "[" behind nothing but blanks in text of
// units of this width; -1 when the text is not of that width.
func opening(b []byte, order binary.ByteOrder, size int) int {
	unit := func(i int) uint32 {
		switch {
		case i+size > len(b):
			return 0
		case size == 4:
			return order.Uint32(b[i:])
		}
		return uint32(order.Uint16(b[i:]))
	}
	for i := 0; i < 128*size; i += size {
		switch unit(i) {
		case '<', '{', '[':
			if next := unit(i + size); next > 0 && next < 0x80 {
				return i
			}
			return -1
		case ' ', '\t', '\r', '\n', 0xFEFF:
		default:
			return -1
		}
	}
	return -1
}

func utf16Bytes(b []byte, order binary.ByteOrder) []byte {
	out := make([]byte, 0, len(b)/2+len(b)/4)
	for i := 0; i+1 < len(b); i += 2 {
		r := rune(order.Uint16(b[i:]))
		if utf16.IsSurrogate(r) && i+3 < len(b) {
			if full := utf16.DecodeRune(r, rune(order.Uint16(b[i+2:]))); full != utf8.RuneError {
				r = full
				i += 2
			}
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

func utf32(b []byte, order binary.ByteOrder) []byte {
	out := make([]byte, 0, len(b)/4)
	for i := 0; i+3 < len(b); i += 4 {
		r := order.Uint32(b[i:])
		if r > utf8.MaxRune {
			r = utf8.RuneError
		}
		out = utf8.AppendRune(out, rune(r))
	}
	return out
}

// declaredLabel finds encoding="…" of an XML declaration, or charset=… of an
// HTML meta element, in the first kilobyte.
var declaredLabel = regexp.MustCompile(`(?i)(?:<\?xml[^>]{0,200}?encoding\s*=\s*["']?|<meta[^>]{0,300}?charset\s*=\s*["']?)\s*([a-z0-9_:.\-]+)`)

func declaredCharset(b []byte) string {
	m := declaredLabel.FindSubmatch(b[:min(len(b), 1024)])
	if m == nil {
		return ""
	}
	return strings.ToLower(string(m[1]))
}

// headerCharset reads the charset of a Content-Type, also of a malformed one
// ("charset=utf-8; charset=utf-8").
func headerCharset(contentType string) string {
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		return strings.ToLower(strings.Trim(params["charset"], `"' `))
	}
	_, rest, found := strings.Cut(strings.ToLower(contentType), "charset=")
	if !found {
		return ""
	}
	label, _, _ := strings.Cut(rest, ";")
	return strings.Trim(label, `"' `)
}

func isUTF8Label(l string) bool {
	l = strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(l))
	return l == "utf8" || l == "utf8mb4" || l == "utf8mb3" || l == "unicode" || l == "usascii" || l == "ascii"
}

func isDefaultLabel(l string) bool {
	return l == "iso-8859-1" || l == "latin1" || l == "windows-1252" || l == "us-ascii"
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// escaped reads the encoding that hides in seven bits: ISO-2022-JP by its
// escape sequences, whatever the label says.
func escaped(b []byte, labels ...string) ([]byte, string) {
	if bytes.IndexByte(b, 0x1B) < 0 || !isASCII(b) {
		return nil, ""
	}
	name := ""
	if bytes.Contains(b, []byte("\x1b$B")) || bytes.Contains(b, []byte("\x1b$@")) || slices.Contains(labels, "iso-2022-jp") {
		name = "iso-2022-jp"
	}
	if name == "" {
		return nil, ""
	}
	enc, _ := charset.Lookup(name)
	out, err := enc.NewDecoder().Bytes(b)
	if err != nil {
		return nil, ""
	}
	return out, "charset:" + name
}

func clipLabel(l string) string { return l[:min(len(l), 30)] }

// mostlyUTF8 reports whether a document that is not valid UTF-8 still is
// UTF-8, with a few stray bytes: many good sequences, few bad ones, or so few
// bad ones that nothing else can be told from them.
func mostlyUTF8(b []byte) bool {
	good, bad := 0, 0
	for len(b) > 0 {
		if b[0] < 0x80 {
			b = b[1:]
			continue
		}
		r, n := utf8.DecodeRune(b)
		if pair, m := surrogatePair(b); m > 0 {
			r, n = pair, m
		}
		if r == utf8.RuneError && n <= 1 {
			bad++
		} else {
			good++
		}
		b = b[n:]
	}
	return good > 4*bad || (good > 0 && bad <= 3)
}

// patchUTF8 reads each stray byte as windows-1252, which is what it was before
// two documents were pasted into one.
func patchUTF8(b []byte) []byte {
	out := make([]byte, 0, len(b)+16)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if pair, m := surrogatePair(b); m > 0 {
			r, n = pair, m
		} else if r == utf8.RuneError && n <= 1 {
			r = charmap.Windows1252.DecodeByte(b[0])
			n = 1
		}
		out = utf8.AppendRune(out, r)
		b = b[n:]
	}
	return out
}

// surrogatePair reads a character that was written as two halves of UTF-16, each
// in three bytes (CESU-8: some databases and languages keep emoji so). Width 0:
// there is none.
func surrogatePair(b []byte) (rune, int) {
	if len(b) < 6 || b[0] != 0xED || b[1]&0xF0 != 0xA0 || b[3] != 0xED || b[4]&0xF0 != 0xB0 {
		return 0, 0
	}
	high := rune(0xD000) | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F)
	low := rune(0xD000) | rune(b[4]&0x3F)<<6 | rune(b[5]&0x3F)
	return utf16.DecodeRune(high, low), 6
}

// guess chooses between the single-byte encodings that feeds use without
// saying so: those of East Asia, then three Cyrillic ones by the frequency of
// their commonest letters, else windows-1252.
func guess(b []byte) (encoding.Encoding, string) {
	high, runs, prev := 0, 0, false
	for _, c := range b {
		is := c >= 0x80
		if is {
			high++
			if prev {
				runs++
			}
		}
		prev = is
	}
	if high >= 8 {
		if e, name := guessAsian(b); e != nil {
			return e, name
		}
	}
	if high < 8 || runs*2 < high {
		return charmap.Windows1252, "windows-1252"
	}
	best, name, most := encoding.Encoding(charmap.Windows1251), "windows-1251", -1
	for _, c := range []struct {
		cm   *charmap.Charmap
		name string
	}{{charmap.Windows1251, "windows-1251"}, {charmap.KOI8R, "koi8-r"}, {charmap.CodePage866, "ibm866"}} {
		score := 0
		for _, x := range b[:min(len(b), 64<<10)] {
			if x >= 0x80 {
				switch c.cm.DecodeByte(x) {
				case 'о', 'е', 'а', 'и', 'н', 'т', 'с', 'р', 'в', 'л':
					score++
				}
			}
		}
		if score > most {
			best, name, most = c.cm, c.name, score
		}
	}
	return best, name
}
