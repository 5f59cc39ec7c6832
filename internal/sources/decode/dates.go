package decode

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// ParseDate reads a date as feeds write it: RFC 3339 and RFC 822 with all the
// ways to get them wrong, am/pm, Russian months, zone names, GMT+3, numbers of
// seconds. No zone means UTC. An unknown zone or month makes the date unknown
// (false): a wrong date is worse than none. The result is in UTC.
func ParseDate(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 100 {
		return time.Time{}, false
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.UTC(), true
	}
	if t, err := time.Parse(time.RFC1123Z, s); err == nil {
		return t.UTC(), true
	}
	if t, ok := unixDate(s); ok {
		return t, true
	}
	p := dateParser{month: -1, hour: -1}
	if p.takeAll(s) {
		return p.time()
	}
	// "… GMT+0300 (Moscow Standard Time)": a remark behind a known zone.
	date, remark, _ := strings.Cut(s, "(")
	p = dateParser{month: -1, hour: -1}
	if strings.HasSuffix(remark, ")") && p.takeAll(date) && p.zone {
		return p.time()
	}
	return time.Time{}, false
}

func (p *dateParser) takeAll(s string) bool {
	for _, tok := range dateTokens(s) {
		if !p.take(tok) {
			return false
		}
	}
	return true
}

// Plausible returns the date if a reader may believe it, zero otherwise:
// before 1990 it is a clock at zero, and more than two days ahead of now it is
// somebody's mistake (or a trick to stay on top).
func Plausible(t, now time.Time) time.Time {
	if t.Year() < 1990 || t.After(now.Add(48*time.Hour)) {
		return time.Time{}
	}
	return t
}

func unixDate(s string) (time.Time, bool) {
	if len(s) != 10 && len(s) != 13 {
		return time.Time{}, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	if len(s) == 13 {
		return time.UnixMilli(n).UTC(), true
	}
	return time.Unix(n, 0).UTC(), true
}

// dateTokens cuts a date into runs of digits with their separators, and words.
// "2003-06-10T04:00:5+01:00" gives 2003-06-10, T, 04:00:5, +01:00.
func dateTokens(s string) []string {
	var toks []string
	class := func(r rune) int {
		switch {
		case r >= '0' && r <= '9' || r == ':' || r == '.' || r == '/' || r == '-':
			return 1
		case unicode.IsLetter(r) || r == '_':
			return 2
		case r == '+' || r == '−':
			return 3
		}
		return 0
	}
	cur, kind := "", 0
	flush := func() {
		if cur != "" {
			toks = append(toks, cur)
		}
		cur, kind = "", 0
	}
	for _, r := range s {
		k := class(r)
		switch {
		case k == 0 && cur == "+": // "+ 0300"
		case k == 0:
			flush()
		case k == 3:
			flush()
			cur, kind = "+", 1
		case kind == 1 && k == 1 && r == '-' && (strings.Contains(cur, ":") || len(cur) == 6 && strings.Trim(cur, "0123456789") == ""):
			flush() // a negative offset right after the time
			cur, kind = "-", 1
		case kind == 2 && (r == '/' || r == '-') && strings.ContainsRune("/-", r):
			if r == '/' { // America/Los_Angeles
				cur += "/"
				continue
			}
			flush()
			cur, kind = "-", 1
		case kind != 0 && k != kind:
			flush()
			cur, kind = string(r), k
		default:
			cur += string(r)
			kind = k
		}
	}
	flush()
	return toks
}

// dateParser collects the parts of a date as the tokens come.
type dateParser struct {
	year, day, month  int // month is -1 until it is known
	hour, min, sec    int // hour is -1 until it is known
	nsec              int
	offset            int // seconds east
	zone, gmt, pm, am bool
	loc               *time.Location
}

func (p *dateParser) take(tok string) bool {
	if unicode.IsLetter([]rune(tok)[0]) {
		return p.word(tok)
	}
	sign := 0
	switch tok[0] {
	case '+':
		sign, tok = 1, tok[1:]
	case '-':
		sign, tok = -1, tok[1:]
	}
	tok = strings.Trim(tok, ".-/:")
	switch {
	case tok == "":
		return true
	case sign != 0 && (p.hour >= 0 || p.gmt):
		return p.takeOffset(sign, tok)
	case strings.Contains(tok, ":"):
		return p.clock(tok)
	case strings.ContainsAny(tok, "-/."):
		return p.numericDate(tok)
	}
	return p.number(tok)
}

func (p *dateParser) word(w string) bool {
	l := strings.ToLower(w)
	switch l {
	case "t", "г", "года", "at", "в", "on", "of", "th", "st", "nd", "rd", "y":
		return true
	case "am", "a", "p", "pm":
		p.am, p.pm = l[0] == 'a', l[0] == 'p'
		return true
	case "m": // "p.m."
		return p.am || p.pm
	case "z", "utc", "gmt", "ut", "uct":
		p.zone, p.gmt = true, true
		return true
	}
	if m := monthOf(l); m > 0 {
		p.month = m
		return true
	}
	if isWeekday(l) {
		return true
	}
	if off, ok := zoneOffset(strings.ToUpper(w)); ok {
		p.zone, p.offset = true, off
		return true
	}
	if strings.Contains(w, "/") {
		if loc, err := time.LoadLocation(w); err == nil {
			p.loc = loc
			return true
		}
	}
	return false
}

// takeOffset reads +0300, +03:00, +3 and 3:30.
func (p *dateParser) takeOffset(sign int, tok string) bool {
	h, m, found := strings.Cut(tok, ":")
	if !found && len(h) > 2 {
		h, m = h[:len(h)-2], h[len(h)-2:]
	}
	hours, err := strconv.Atoi(h)
	if err != nil || hours > 15 {
		return false
	}
	mins := 0
	if m != "" {
		if mins, err = strconv.Atoi(m); err != nil || mins > 59 {
			return false
		}
	}
	p.zone, p.offset = true, sign*(hours*3600+mins*60)
	return true
}

func (p *dateParser) clock(tok string) bool {
	if p.hour >= 0 {
		return false
	}
	whole, frac, _ := strings.Cut(tok, ".")
	parts := strings.Split(whole, ":")
	if len(parts) > 3 {
		return false
	}
	var n [3]int
	for i, s := range parts {
		v, err := strconv.Atoi(s)
		if err != nil || v > 60 {
			return false
		}
		n[i] = v
	}
	p.hour, p.min, p.sec = n[0], n[1], min(n[2], 59)
	if frac != "" {
		f := (frac + "000000000")[:9]
		v, err := strconv.Atoi(f)
		if err != nil {
			return false
		}
		p.nsec = v
	}
	return true
}

func (p *dateParser) numericDate(tok string) bool {
	f := strings.FieldsFunc(tok, func(r rune) bool { return r == '-' || r == '/' || r == '.' })
	if len(f) == 2 && p.month > 0 { // 10-2003 around a month name: "10-Jun-2003"
		return p.number(f[0]) && p.number(f[1])
	}
	if len(f) == 2 && len(f[0]) == 4 {
		f = append(f, "1")
	}
	if len(f) != 3 || p.year != 0 {
		return false
	}
	var n [3]int
	for i, s := range f {
		v, err := strconv.Atoi(s)
		if err != nil {
			return false
		}
		n[i] = v
	}
	switch {
	case len(f[0]) == 4:
		p.year, p.month, p.day = n[0], n[1], n[2]
	case strings.Contains(tok, "/") && n[0] <= 12:
		p.month, p.day, p.year = n[0], n[1], fullYear(f[2], n[2]) // American
	default:
		p.day, p.month, p.year = n[0], n[1], fullYear(f[2], n[2])
	}
	return true
}

func (p *dateParser) number(tok string) bool {
	v, err := strconv.Atoi(tok)
	if err != nil {
		return false
	}
	switch {
	case len(tok) == 8 && p.year == 0:
		p.year, p.month, p.day = v/10000, v/100%100, v%100
	case len(tok) == 14 && p.year == 0:
		p.year, p.month, p.day = v/1e10, v/1e8%100, v/1e6%100
		p.hour, p.min, p.sec = v/10000%100, v/100%100, v%100
	case len(tok) == 6 && p.year != 0 && p.hour < 0:
		p.hour, p.min, p.sec = v/10000, v/100%100, v%100
	case len(tok) == 4 && p.year == 0:
		p.year = v
	case len(tok) == 4 && p.hour < 0:
		p.hour, p.min = v/100, v%100
	case len(tok) <= 2 && p.day == 0:
		p.day = v
	case len(tok) <= 2 && p.year == 0:
		p.year = fullYear(tok, v)
	case len(tok) <= 2 && p.hour < 0: // "8 pm"
		p.hour = v
	default:
		return false
	}
	return true
}

func fullYear(s string, v int) int {
	if len(s) > 2 {
		return v
	}
	if v < 70 {
		return 2000 + v
	}
	return 1900 + v
}

func (p *dateParser) time() (time.Time, bool) {
	if p.year == 0 || p.month < 1 || p.month > 12 || p.day < 1 || p.day > 31 {
		return time.Time{}, false
	}
	hour := max(p.hour, 0)
	switch {
	case p.pm && hour < 12:
		hour += 12
	case p.am && hour == 12:
		hour = 0
	}
	if hour > 24 || p.min > 59 {
		return time.Time{}, false
	}
	loc := time.UTC
	if p.loc != nil && !p.zone { // an offset says more than a name beside it
		loc = p.loc
	}
	t := time.Date(p.year, time.Month(p.month), p.day, hour, p.min, p.sec, p.nsec, loc)
	if t.Day() != p.day && hour < 24 { // 31 June
		return time.Time{}, false
	}
	return t.Add(-time.Duration(p.offset) * time.Second).UTC(), true
}
