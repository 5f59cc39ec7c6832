package article

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/idna"
)

// Canonical returns the form of an http(s) address under which two spellings
// of one page are equal, without a scheme: "example.org/2026/story?id=7".
// It lowers the host (punycode), drops www., m. and amp. labels, default
// ports, fragments, tracking parameters, AMP suffixes and trailing slashes,
// and sorts the query. It returns "" for anything that is not a web address.
// The result is for comparison only; it is not meant to be fetched.
func Canonical(raw string) string {
	u := parseWeb(raw)
	if u == nil {
		return ""
	}
	return canonicalURL(u, false)
}

// CanonicalWithFragment is Canonical that keeps the fragment, for documents
// whose entries are told apart by nothing else (changelogs on one page), and
// for ids that happen to be addresses.
func CanonicalWithFragment(raw string) string {
	u := parseWeb(raw)
	if u == nil {
		return ""
	}
	return canonicalURL(u, true)
}

// Canonicals returns Canonical and CanonicalWithFragment of one address for
// the price of one.
func Canonicals(raw string) (plain, withFragment string) {
	u := parseWeb(raw)
	if u == nil {
		return "", ""
	}
	plain = canonicalURL(u, false)
	if u.Fragment == "" {
		return plain, plain
	}
	return plain, canonicalURL(u, true)
}

// IsHome reports whether the address names a site's front page rather than
// one of its articles.
func IsHome(raw string) bool {
	return IsHomeForm(Canonical(raw))
}

// IsHomeForm is IsHome for an address that is canonical already.
func IsHomeForm(canonical string) bool {
	return canonical != "" && !strings.ContainsAny(canonical, "/?")
}

// CleanURL returns the address as it may be shown and posted: fetchable, with
// tracking parameters removed, "" when it is no web address.
func CleanURL(raw string) string {
	u := parseWeb(raw)
	if u == nil {
		return ""
	}
	q, changed := stripTracking(u.RawQuery, false)
	if changed {
		u.RawQuery = q
	}
	if isTrackingFragment(u.Fragment) {
		u.Fragment, u.RawFragment = "", ""
	}
	u.User = nil
	return u.String()
}

// Resolve returns ref as an absolute http(s) address against base, or "".
func Resolve(base, ref string) string {
	ref = cleanSpaces(ref)
	if ref == "" {
		return ""
	}
	if base == "" {
		if u := parseWeb(ref); u != nil {
			return u.String()
		}
		return ""
	}
	b, err := url.Parse(base)
	if err != nil {
		return ""
	}
	r, err := b.Parse(ref)
	if err != nil || !isWeb(r) {
		return ""
	}
	return r.String()
}

// parseWeb parses an absolute http(s) address, tolerating the spaces and
// scheme-less "//host" forms that feeds carry; nil when it is none.
func parseWeb(raw string) *url.URL {
	raw = cleanSpaces(raw)
	if strings.HasPrefix(raw, "//") {
		raw = "https:" + raw
	}
	if len(raw) > 4096 || !strings.Contains(raw, "://") {
		return nil
	}
	u, err := url.Parse(raw)
	if err != nil || !isWeb(u) {
		return nil
	}
	return u
}

func isWeb(u *url.URL) bool {
	return (strings.EqualFold(u.Scheme, "http") || strings.EqualFold(u.Scheme, "https")) && strings.Trim(u.Hostname(), ".") != ""
}

// cleanSpaces removes what line breaks in a feed leave inside an address.
func cleanSpaces(s string) string {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, " \t\r\n") {
		s = strings.NewReplacer("\t", "", "\r", "", "\n", "", " ", "%20").Replace(s)
	}
	return s
}

func canonicalURL(u *url.URL, fragment bool) string {
	var b strings.Builder
	b.WriteString(CanonicalHost(u.Hostname()))
	if p := u.Port(); p != "" && p != "80" && p != "443" {
		b.WriteString(":" + p)
	}
	b.WriteString(canonicalPath(u))
	if q, _ := stripTracking(u.RawQuery, true); q != "" {
		b.WriteString("?" + q)
	}
	if keep := fragment || strings.HasPrefix(u.Fragment, "!"); keep && u.Fragment != "" && !isTrackingFragment(u.Fragment) {
		b.WriteString("#" + u.Fragment)
	}
	return b.String()
}

// CanonicalHost lowers a host name, turns it to punycode and drops the labels
// that name the same site for another screen: www, m, mobile, amp.
func CanonicalHost(host string) string {
	host = strings.Trim(strings.ToLower(host), ".")
	if !isASCII(host) {
		if a, err := idna.Lookup.ToASCII(host); err == nil {
			host = a
		}
	}
	for {
		label, rest, ok := strings.Cut(host, ".")
		if !ok || !strings.Contains(rest, ".") || (label != "www" && label != "m" && label != "mobile" && label != "amp") {
			return host
		}
		host = strings.Trim(rest, ".")
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

func canonicalPath(u *url.URL) string {
	// EscapedPath after a round trip through Path unifies %7E and ~, %d0 and %D0.
	p := (&url.URL{Path: u.Path}).EscapedPath()
	if strings.Contains(p, ";") {
		if i := strings.Index(strings.ToLower(p), ";jsessionid="); i >= 0 {
			p = p[:i]
		}
	}
	p = strings.TrimRight(p, "/")
	for cut := true; cut; {
		cut = false
		for _, amp := range []string{"/amp", "/amp.html", ".amp.html", ".amp"} {
			if rest, ok := strings.CutSuffix(p, amp); ok && rest != "" {
				p, cut = rest, true
				if amp == ".amp.html" {
					p += ".html"
				}
				p = strings.TrimRight(p, "/")
			}
		}
	}
	return p
}

// stripTracking removes tracking parameters from a raw query. With sorted it
// also orders what is left, so that the order of parameters does not matter.
func stripTracking(raw string, sorted bool) (string, bool) {
	if raw == "" {
		return "", false
	}
	parts := strings.FieldsFunc(raw, func(r rune) bool { return r == '&' })
	kept := parts[:0]
	total := len(parts)
	for _, p := range parts {
		name, value, _ := strings.Cut(p, "=")
		if !IsTracking(name, value) {
			kept = append(kept, p)
		}
	}
	if sorted {
		slices.Sort(kept)
	}
	return strings.Join(kept, "&"), len(kept) != total || sorted
}

func isTrackingFragment(f string) bool {
	name, value, found := strings.Cut(f, "=")
	return found && (IsTracking(name, value) || strings.EqualFold(name, "xtor"))
}
