package decode

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// guessAsian recognises the double-byte encodings of East Asia by what only
// their own decoding shows: kana, next to nothing but Hangul, or the commonest
// Chinese characters. nil: none of them.
func guessAsian(b []byte) (encoding.Encoding, string) {
	b = b[:min(len(b), 64<<10)]
	type candidate struct {
		e    encoding.Encoding
		name string
		mark func(r rune) bool
		need int // per cent of all characters beyond ASCII
	}
	kana := func(r rune) bool { return r >= 0x3041 && r <= 0x30FE }
	for _, c := range []candidate{
		{japanese.EUCJP, "euc-jp", kana, 20},
		{japanese.ShiftJIS, "shift_jis", kana, 20},
		{korean.EUCKR, "euc-kr", func(r rune) bool { return r >= 0xAC00 && r <= 0xD7A3 }, 80},
		{simplifiedchinese.GB18030, "gb18030", func(r rune) bool {
			return strings.ContainsRune("的一是了不在有人我他这中大来上国为和年新", r)
		}, 6},
		{traditionalchinese.Big5, "big5", func(r rune) bool {
			return strings.ContainsRune("的一是了不在有人我他這中大來上國為和年新", r)
		}, 6},
	} {
		if share(c.e, b, c.mark) >= c.need {
			return c.e, c.name
		}
	}
	return nil, ""
}

// share decodes b and counts how many of a hundred characters beyond ASCII
// carry a mark; 0 when more than one in fifty is no character at all.
func share(e encoding.Encoding, b []byte, mark func(rune) bool) int {
	text, err := e.NewDecoder().Bytes(b)
	if err != nil {
		return 0
	}
	all, bad, marked := 0, 0, 0
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		switch {
		case r < 0x80:
			continue
		case r == utf8.RuneError:
			bad++
		case mark(r):
			marked++
		}
		all++
	}
	if all == 0 || 50*bad > all {
		return 0
	}
	return 100 * marked / all
}
