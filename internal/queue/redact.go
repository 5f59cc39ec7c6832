package queue

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// errorLimit is how much of an error is kept, in bytes.
const errorLimit = 500

// secret is something that must not be kept, and what stands in its place.
type secret struct {
	pattern *regexp.Regexp
	instead string
}

// secrets are bot tokens, authorisation headers, common API keys, and credentials and query strings in addresses.
func secrets() []secret {
	return []secret{
		{regexp.MustCompile(`\b\d{6,}:[A-Za-z0-9_-]{30,}`), "…"},
		{regexp.MustCompile(`(?i)\b(?:bearer|tma|basic)\s+[A-Za-z0-9._~+/=%&-]{8,}`), "…"},
		{regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{12,}`), "…"},
		{regexp.MustCompile(`(?i)\b(?:token|secret|password|passwd|api[_-]?key|hash|access_token)["']?\s*[=:]\s*["']?[^\s"'&,;}]+`), "…"},
		{regexp.MustCompile(`//[^/\s@]+:[^/\s@]+@`), "//…@"},
		{regexp.MustCompile(`(https?://[^\s"'?#]+)[?#][^\s"']*`), "$1?…"},
	}
}

// redactor returns a function that takes secrets out of an error's text and cuts it at errorLimit bytes. The
// function may be called concurrently.
func redactor() func(string) string {
	list := secrets()
	return func(s string) string {
		for _, one := range list {
			s = one.pattern.ReplaceAllString(s, one.instead)
		}
		s = strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "")
		if len(s) <= errorLimit {
			return s
		}
		cut := errorLimit
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		return s[:cut] + "…"
	}
}
