package html

import (
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// CheckedLink returns the address as Telegram stores it in a text_link, or ""
// where it drops the link: the scheme becomes http if there is none, the host
// is lower-cased, an empty path becomes "/". Schemes other than http, https,
// tg, ton and tonsite are dropped.
func CheckedLink(link string) string {
	folded := lower(link)
	for _, scheme := range []string{"tg:", "ton:", "tonsite:"} {
		if rest, ok := strings.CutPrefix(folded, scheme); ok {
			return appLink(strings.TrimSuffix(scheme, ":"), strings.TrimPrefix(link[len(link)-len(rest):], "//"))
		}
	}
	return webLink(link)
}

func appLink(scheme, rest string) string {
	host, query := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, query = rest[:i], rest[i:]
	}
	if host == "" || strings.ContainsAny(host, "@:[") {
		return ""
	}
	for i := range len(host) {
		c := host[i]
		if !isAlnum(c) && c != '-' && c != '_' && (scheme != "tonsite" || c != '.') {
			return ""
		}
	}
	if query == "" {
		query = "/"
	}
	return scheme + "://" + lower(host) + query
}

func webLink(link string) string {
	protocol, rest := "http", link
	if i := strings.Index(link, "://"); i >= 0 && !strings.ContainsAny(link[:i], "/?#@") {
		protocol, rest = lower(link[:i]), link[i+3:]
	}
	if protocol != "http" && protocol != "https" {
		return ""
	}
	authority, query := rest, "/"
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, query = rest[:i], rest[i:]
		if query[0] != '/' {
			query = "/" + query
		}
	}
	user := ""
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, authority = authority[:i+1], authority[i+1:]
	}
	if !validHost(authority) {
		return ""
	}
	return protocol + "://" + user + lower(authority) + escapeQuery(query)
}

// validHost accepts what Telegram takes as the host of a link: a name with a
// dot, or an address, with an optional port.
func validHost(authority string) bool {
	host := authority
	if h, port, err := net.SplitHostPort(authority); err == nil {
		n, err := strconv.Atoi(port)
		if err != nil || n <= 0 || n > 65535 {
			return false
		}
		host = h
		if strings.Contains(h, ":") {
			_, err := netip.ParseAddr(h)
			return err == nil
		}
	} else if strings.HasPrefix(authority, "[") {
		_, err := netip.ParseAddr(strings.Trim(authority, "[]"))
		return err == nil
	}
	if host == "" || strings.HasPrefix(host, ".") || strings.Contains(host, "..") || !strings.Contains(host, ".") {
		return false
	}
	return !strings.ContainsFunc(host, func(r rune) bool {
		return r <= ' ' || strings.ContainsRune(`"#%&'()*+,/:;<=>?@[\]^`+"`{|}", r)
	})
}

// escapeQuery writes characters that cannot stand in an address as %XX.
func escapeQuery(q string) string {
	var b strings.Builder
	for i := range len(q) {
		if c := q[i]; c <= ' ' || c == 0x7f {
			const digits = "0123456789ABCDEF"
			b.WriteString("%" + string(digits[c>>4]) + string(digits[c&15]))
			continue
		}
		b.WriteByte(q[i])
	}
	return b.String()
}

// mentionedUser reads tg://user?id=N.
func mentionedUser(url string) (int64, bool) {
	rest, ok := strings.CutPrefix(lower(url), "tg:")
	if !ok {
		return 0, false
	}
	rest, ok = strings.CutPrefix(strings.TrimPrefix(rest, "//"), "user")
	if !ok {
		return 0, false
	}
	rest, ok = strings.CutPrefix(strings.TrimPrefix(rest, "/"), "?")
	if !ok {
		return 0, false
	}
	rest, _, _ = strings.Cut(rest, "#")
	for part := range strings.SplitSeq(rest, "&") {
		if key, value, _ := strings.Cut(part, "="); key == "id" {
			id, err := strconv.ParseInt(value, 10, 64)
			return id, err == nil && id > 0
		}
	}
	return 0, false
}
