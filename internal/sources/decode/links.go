package decode

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

var (
	closedReference = regexp.MustCompile(`&#?[A-Za-z0-9]{1,32};`)
	linkInMarkup    = regexp.MustCompile(`(?i)<a\s[^>]{0,500}?href\s*=\s*["']?([^"'\s>]+)`)
	badScheme       = regexp.MustCompile(`(?i)^(?:(?:https?:?//+)+(https?)(?::/+|//+)|(https?)(?://+|:/{0,3}))([^/])`)
)

// mendLink undoes what generators do to an address: a second escaping, markup
// or quotes around it, a scheme written twice or not whole, backslashes, a
// lone per cent sign. What it cannot read it leaves as it is.
func mendLink(s string) string {
	s = strings.TrimSpace(unwrapped(s))
	switch strings.ToLower(s) {
	case "null", "undefined", "none", "nil", "n/a", "-", "false":
		return ""
	}
	if strings.Contains(s, ";") { // an ampersand without its semicolon is one of the address: "?a=1&copy=2"
		s = closedReference.ReplaceAllStringFunc(s, html.UnescapeString)
	}
	if strings.ContainsAny(s, "<>\"") {
		if m := linkInMarkup.FindStringSubmatch(s); m != nil {
			s = m[1]
		}
		s = strings.Trim(s, "<>\" \t\r\n")
	}
	if strings.Contains(s, `\`) && !strings.Contains(s, "?") {
		s = strings.ReplaceAll(s, `\`, "/")
	}
	switch {
	case len(s) > 4 && strings.EqualFold(s[:4], "www."):
		s = "http://" + s
	case len(s) > 7 && strings.EqualFold(s[:7], "feed://"):
		s = "http://" + s[7:]
	case len(s) > 4 && strings.EqualFold(s[:4], "http"):
		s = badScheme.ReplaceAllString(s, "${1}${2}://${3}")
	}
	return escapePercent(s)
}

// escapePercent escapes per cent signs that begin no escape.
func escapePercent(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		if s[i] == '%' && (i+2 >= len(s) || hexValue(s[i+1]) < 0 || hexValue(s[i+2]) < 0) {
			b.WriteString("25")
		}
	}
	return b.String()
}
