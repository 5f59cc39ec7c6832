package check

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postonce/postonce/internal/article/words"
)

// number is one number of a text with every value that it may stand for: "1.250"
// is 1.25 to an Englishman and 1250 to a German, "5 млн" is 5 and 5,000,000.
type number struct {
	shown  string
	values []float64
}

// MissingNumbers returns the numbers of text that the source has nowhere, in
// whatever way of writing: digits, grouped digits, words, with thousand, million
// or billion. Numbers up to two written as words are idiom and are not checked.
func MissingNumbers(text, source string) []string {
	have := map[float64]bool{}
	for _, n := range numbers(source, true) {
		for _, v := range n.values {
			have[v] = true
		}
	}
	var out []string
	for _, n := range numbers(text, false) {
		found := false
		for _, v := range n.strict() {
			found = found || have[v]
		}
		if !found {
			out = append(out, n.shown)
		}
	}
	return out
}

// strict returns the values that the writer can have meant: with a unit word
// beside it ("5 million"), the scaled ones; a bare 5 then proves nothing.
func (n number) strict() []float64 {
	var scaled []float64
	for _, v := range n.values {
		if v >= 1000 {
			scaled = append(scaled, v)
		}
	}
	if len(scaled) > 0 && strings.ContainsFunc(n.shown, unicode.IsLetter) {
		return scaled
	}
	return n.values
}

// numbers finds the numbers of a text. With idiom, words for one and two count
// as well: as evidence they are welcome.
func numbers(text string, idiom bool) []number {
	var out []number
	fields := tokens(latinDigits(text))
	for i := 0; i < len(fields); i++ {
		f := fields[i]
		next := ""
		if i+1 < len(fields) {
			next = words.Fold(fields[i+1])
		}
		if r, _ := utf8.DecodeRuneInString(f); unicode.IsDigit(r) {
			digits, glued := splitUnit(f)
			for i+1 < len(fields) && glued == "" && grouped(digits, fields[i+1]) {
				digits += fields[i+1]
				i++
				next = ""
				if i+1 < len(fields) {
					next = words.Fold(fields[i+1])
				}
			}
			out = append(out, valued(digits, glued, next))
			continue
		}
		if v, ok := wordValue(words.Fold(f)); ok && (idiom || v > 2) {
			n := number{shown: f, values: []float64{v}}
			if s := scale(next); s > 1 {
				n.values = append(n.values, v*s)
				n.shown = f + " " + fields[i+1]
			}
			out = append(out, n)
		}
	}
	return out
}

// latinDigits writes the digits of other scripts as 0 to 9.
func latinDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf || !unicode.IsDigit(r) {
			return r
		}
		for _, block := range unicode.Nd.R16 {
			if rune(block.Lo) <= r && r <= rune(block.Hi) {
				return '0' + (r-rune(block.Lo))%10
			}
		}
		for _, block := range unicode.Nd.R32 {
			if rune(block.Lo) <= r && r <= rune(block.Hi) {
				return '0' + (r-rune(block.Lo))%10
			}
		}
		return r
	}, text)
}

// tokens cuts text into runs of letters, and of digits with the marks between them.
func tokens(text string) []string {
	var out []string
	start, kind := -1, 0
	flush := func(end int) {
		if start >= 0 {
			out = append(out, strings.TrimRight(text[start:end], ".,'’"))
			start = -1
		}
	}
	for i, r := range text {
		k := 0
		switch {
		case unicode.IsDigit(r):
			k = 1
		case unicode.IsLetter(r):
			k = 2
		case kind == 1 && start >= 0 && (r == '.' || r == ',' || r == '\'' || r == '’'):
			k = 1
		}
		if k != kind && !(kind == 1 && k == 2 && start >= 0) {
			flush(i)
		}
		if k != 0 && start < 0 {
			start = i
		}
		if kind != 1 || k != 2 {
			kind = k
		}
	}
	flush(len(text))
	return out
}

// splitUnit parts "13bn" into "13" and "bn".
func splitUnit(f string) (digits, unit string) {
	i := strings.IndexFunc(f, unicode.IsLetter)
	if i < 0 {
		return f, ""
	}
	return strings.TrimRight(f[:i], ".,'’"), words.Fold(f[i:])
}

// grouped tells that next continues digits as a group of three: "1 250 000".
func grouped(digits, next string) bool {
	return len(next) == 3 && len(digits) <= 12 && strings.Trim(digits+next, "0123456789") == ""
}

func valued(digits, glued, next string) number {
	n := number{shown: digits}
	base := readings(digits)
	n.values = append(n.values, base...)
	unit := glued
	if unit == "" {
		unit = next
	}
	if s := scale(unit); s > 1 {
		for _, v := range base {
			n.values = append(n.values, v*s)
		}
		n.shown = digits + " " + unit
	}
	return n
}

// readings returns the values of digits with points and commas in them.
func readings(d string) []float64 {
	var out []float64
	add := func(s string) {
		if v, err := strconv.ParseFloat(s, 64); err == nil {
			out = append(out, v)
		}
	}
	plain := strings.NewReplacer(",", "", "'", "", "’", "", ".", "").Replace(d)
	switch marks := strings.Count(d, ",") + strings.Count(d, ".") + strings.Count(d, "'") + strings.Count(d, "’"); {
	case marks == 0:
		add(plain)
	case marks == 1:
		i := strings.IndexAny(d, ".,'’")
		tail := strings.TrimLeft(d[i:], ".,'’")
		group := len(tail) == 3 && d[0] != '0'
		if group {
			add(plain)
		}
		if !group || tail[2] != '0' { // nobody writes 400 as 400.000
			add(plain[:len(plain)-len(tail)] + "." + tail)
		}
	default:
		add(plain)
		if i := strings.LastIndexAny(d, ".,"); i > 0 && strings.ContainsAny(d[:i], ",.'’") && d[i] != firstMark(d) {
			tail := d[i+1:]
			add(plain[:len(plain)-len(tail)] + "." + tail)
		}
		// A date or a version: each part counts for itself.
		for _, part := range strings.FieldsFunc(d, func(r rune) bool { return r == '.' || r == ',' }) {
			add(part)
		}
	}
	return out
}

func firstMark(d string) byte { return d[strings.IndexAny(d, ".,'’")] }

func scale(unit string) float64 {
	switch strings.TrimRight(unit, ".") {
	case "thousand", "thousands", "k", "тыс", "тысяч", "тысячи", "тысяча", "тысячу":
		return 1e3
	case "million", "millions", "m", "mn", "mln", "mio", "млн", "миллион", "миллиона", "миллионов":
		return 1e6
	case "billion", "billions", "b", "bn", "bln", "млрд", "миллиард", "миллиарда", "миллиардов":
		return 1e9
	case "trillion", "trillions", "tn", "trn", "трлн", "триллион", "триллиона", "триллионов":
		return 1e12
	}
	return 1
}

// wordValue reads a number word.
func wordValue(w string) (float64, bool) {
	switch w {
	case "one", "один", "одна", "одно", "одного", "одной", "first", "первый", "первая", "первое":
		return 1, true
	case "two", "два", "две", "двух", "двое", "second", "второй", "вторая", "twice", "дважды", "вдвое":
		return 2, true
	case "three", "три", "трех", "трое", "third", "третий", "третья", "втрое":
		return 3, true
	case "four", "четыре", "четырех", "четверо", "fourth", "четвертый", "четвертая":
		return 4, true
	case "five", "пять", "пяти", "пятеро", "fifth", "пятый", "пятая":
		return 5, true
	case "six", "шесть", "шести", "шестеро", "sixth", "шестой", "шестая":
		return 6, true
	case "seven", "семь", "семи", "семеро", "seventh", "седьмой", "седьмая":
		return 7, true
	case "eight", "восемь", "восьми", "eighth", "восьмой", "восьмая":
		return 8, true
	case "nine", "девять", "девяти", "ninth", "девятый", "девятая":
		return 9, true
	case "ten", "десять", "десяти", "tenth", "десятый", "десятая":
		return 10, true
	case "eleven", "одиннадцать", "одиннадцати":
		return 11, true
	case "twelve", "dozen", "двенадцать", "двенадцати", "дюжина":
		return 12, true
	case "fifteen", "пятнадцать", "пятнадцати":
		return 15, true
	case "twenty", "двадцать", "двадцати":
		return 20, true
	case "thirty", "тридцать", "тридцати":
		return 30, true
	case "forty", "сорок", "сорока":
		return 40, true
	case "fifty", "пятьдесят", "пятидесяти":
		return 50, true
	case "hundred", "сто", "ста":
		return 100, true
	}
	return 0, false
}
