package render

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/publicsuffix"
)

// Autolinks returns the parts of a text that Telegram turns into links by itself
// (core.telegram.org/api/entities): addresses, bare domains, mentions, mail
// addresses. Hashtags are not among them.
func Autolinks(text string) []string {
	var out []string
	for _, f := range strings.Fields(text) {
		for _, part := range strings.FieldsFunc(f, separates) {
			if linkish(part) {
				out = append(out, part)
			}
		}
	}
	return out
}

// Defuse takes from a text what Telegram would link: addresses and mentions go,
// a bare domain loses its ending ("Amazon.com" is written "Amazon").
func Defuse(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		fields := strings.Fields(line)
		kept := fields[:0]
		for _, f := range fields {
			if f = defuseField(f); f != "" {
				kept = append(kept, f)
			}
		}
		b.WriteString(strings.Join(kept, " "))
	}
	return b.String()
}

func defuseField(f string) string {
	if !strings.ContainsAny(f, ".@:") || len(Autolinks(f)) == 0 {
		return f
	}
	var b strings.Builder
	for f != "" {
		end := strings.IndexFunc(f, separates)
		part, sep := f, ""
		if end >= 0 {
			_, n := utf8.DecodeRuneInString(f[end:])
			part, sep = f[:end], f[end:end+n]
			f = f[end+n:]
		} else {
			f = ""
		}
		b.WriteString(defusePart(part) + sep)
	}
	out := b.String()
	if strings.TrimFunc(out, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }) == "" {
		return ""
	}
	return out
}

func defusePart(part string) string {
	if !linkish(part) {
		return part
	}
	core := strings.TrimRight(part, ".,!?:;…")
	tail := part[len(core):]
	if strings.Contains(core, "://") || strings.Contains(core, "/") || strings.Contains(core, "@") || strings.HasPrefix(strings.ToLower(core), "www.") {
		if tail = strings.TrimLeft(tail, ":;,"); tail == "" {
			return ""
		}
		return tail
	}
	for linkish(core) {
		i := strings.LastIndexByte(core, '.')
		core = core[:i]
	}
	return core + tail
}

func separates(r rune) bool { return strings.ContainsRune("()[]{}<>«»“”„\"'`*|,", r) }

// linkish tells a word that Telegram links.
func linkish(w string) bool {
	w = strings.TrimRight(w, ".,!?:;…")
	if strings.Contains(w, "://") {
		return true
	}
	if i := strings.IndexByte(w, '@'); i >= 0 && i+1 < len(w) {
		return true
	}
	host, _, _ := strings.Cut(w, "/")
	host, _, _ = strings.Cut(host, "?")
	for part := range strings.SplitSeq(strings.ToLower(host), ":") { // a port, or a word glued to it
		if domain(part) {
			return true
		}
	}
	return false
}

// domain tells a host name under a public suffix that ICANN knows.
func domain(host string) bool {
	i := strings.LastIndexByte(host, '.')
	if i < 1 || i+2 >= len(host) || strings.HasPrefix(host, ".") || strings.Contains(host, "..") {
		return false
	}
	tld := host[i+1:]
	if strings.ContainsFunc(tld, func(r rune) bool { return !unicode.IsLetter(r) }) && !strings.HasPrefix(tld, "xn--") {
		return false
	}
	if strings.ContainsFunc(host, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		return false
	}
	if cyrillic(tld) {
		return cyrillicDomain(tld)
	}
	_, icann := publicsuffix.PublicSuffix(tld)
	return icann
}

func cyrillic(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) })
}

// cyrillicDomain lists the endings that the suffix list has in Punycode only.
func cyrillicDomain(tld string) bool {
	switch tld {
	case "рф", "рус", "москва", "онлайн", "сайт", "дети", "орг", "ком", "бел", "укр", "срб", "мон", "мкд", "бг", "ею", "қаз", "католик":
		return true
	}
	return false
}
