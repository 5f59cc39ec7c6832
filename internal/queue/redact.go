package queue

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// errorLimit is how much of an error is kept, in bytes.
const errorLimit = 500

// secretPatterns compiles what must not be kept: bot tokens, credentials and query strings in addresses,
// authorisation headers and common API keys.
func secretPatterns() []*regexp.Regexp {
	return []*regexp.Regexp{
		regexp.MustCompile(`\b\d{6,}:[A-Za-z0-9_-]{30,}`),
		regexp.MustCompile(`(?i)\b(?:bearer|tma|basic)\s+[A-Za-z0-9._~+/=%&-]{8,}`),
		regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{12,}`),
		regexp.MustCompile(`(?i)\b(?:token|secret|password|passwd|api[_-]?key|hash|access_token)["']?\s*[=:]\s*["']?[^\s"'&,;}]+`),
		regexp.MustCompile(`//[^/\s@]+:[^/\s@]+@`),
		regexp.MustCompile(`(https?://[^\s"'?#]+)[?#][^\s"']*`),
	}
}

// Redactor returns a function like Redact that reuses its patterns; it may be called concurrently.
func Redactor() func(string) string {
	patterns := secretPatterns()
	return func(s string) string {
		for i, p := range patterns {
			switch i {
			case len(patterns) - 2:
				s = p.ReplaceAllString(s, "//…@")
			case len(patterns) - 1:
				s = p.ReplaceAllString(s, "$1?…")
			default:
				s = p.ReplaceAllString(s, "…")
			}
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
