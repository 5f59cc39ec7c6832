package decode

import (
	"bytes"
	"strings"
)

// findRoot skips what stands before the root element (declaration, comments,
// doctype, a server's warnings) and says what kind of document it opens.
func findRoot(src []byte) (int, Format, error) {
	sawTag, page := "", false // page: a doctype or an element of a web page was seen
	limit := min(len(src), maxProlog)
	for i := 0; i < limit; {
		j := bytes.IndexByte(src[i:limit], '<')
		if j < 0 {
			break
		}
		i += j
		rest := src[i:]
		n := 0
		switch {
		case bytes.HasPrefix(rest, []byte("<!--")):
			n = skipTo(rest, "-->")
		case bytes.HasPrefix(rest, []byte("<?")):
			n = skipTo(rest, "?>")
		case bytes.HasPrefix(rest, []byte("<!")):
			if head := strings.ToLower(string(rest[:min(len(rest), 20)])); strings.HasPrefix(head, "<!doctype html") {
				page = true // some templates put it in front of a feed
			}
			n = skipDoctype(rest)
		case len(rest) > 1 && nameStart(rest[1]):
			name := local(tagName(rest[1:]))
			switch name {
			case "rss":
				return i, RSS, nil
			case "rdf":
				return i, RDF, nil
			case "feed":
				return i, Atom, nil
			case "channel":
				return i, RSS, nil
			case "opml":
				return i, OPML, fail(CodeOPML, "a list of feeds")
			case "urlset", "sitemapindex":
				return i, Sitemap, fail(CodeNotAFeed, "a sitemap")
			case "item":
				if head := rest[:min(len(rest), 4000)]; !page && (bytes.Contains(head, []byte("<link")) || bytes.Contains(head, []byte("<guid"))) {
					return i, RSS, nil
				}
			case "entry":
				if bytes.Contains(rest[:min(len(rest), 2000)], []byte(atomNamespace)) {
					return i, Atom, nil
				}
			case "html", "body":
				if n = bareTag(rest); n > 0 {
					page = true
					break
				}
				return i, HTML, fail(CodeHTML, "a web page")
			case "head", "meta", "title":
				return i, HTML, fail(CodeHTML, "a web page")
			}
			if n > 0 {
				break
			}
			if page {
				return i, HTML, fail(CodeHTML, "a web page")
			}
			if sawTag == "" {
				sawTag = name
			}
			n = skipTo(rest, ">")
		default:
			n = 1
		}
		if n < 0 {
			break
		}
		i += n
	}
	if page {
		return 0, HTML, fail(CodeHTML, "a web page")
	}
	if sawTag != "" {
		return 0, Unknown, fail(CodeNotAFeed, "its first element is <"+sawTag[:min(len(sawTag), 40)]+">")
	}
	return 0, Unknown, fail(CodeNotAFeed, "no markup of a feed")
}

const atomNamespace = "http://www.w3.org/2005/Atom"

// bareTag measures the tag of a page that does nothing but wrap a feed: the
// feed, or the page's body, comes next. 0: a real page.
func bareTag(b []byte) int {
	n := skipTo(b, ">")
	if n < 0 {
		return 0
	}
	next := bytes.TrimSpace(b[n:min(len(b), n+200)])
	if len(next) < 2 || next[0] != '<' || !nameStart(next[1]) {
		return 0
	}
	switch local(tagName(next[1:])) {
	case "body", "rss", "rdf", "feed":
		return n
	}
	return 0
}

// wrapsPage reports whether what stands before the root opens a web page.
func wrapsPage(prolog []byte) bool {
	head := bytes.ToLower(prolog)
	return bytes.Contains(head, []byte("<!doctype html")) || bytes.Contains(head, []byte("<html"))
}

func skipTo(b []byte, end string) int {
	n := bytes.Index(b, []byte(end))
	if n < 0 {
		return -1
	}
	return n + len(end)
}

// skipDoctype passes over <!DOCTYPE … [ … ]>, whatever it declares.
func skipDoctype(b []byte) int {
	depth := 0
	var quote byte
	for i, c := range b {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case (c == '"' || c == '\'') && depth > 0:
			quote = c
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '>' && depth <= 0:
			return i + 1
		}
	}
	return -1
}

// stripControls removes characters that XML and Postgres refuse: controls
// below space and the two non-characters. It copies only when there are any.
func stripControls(b []byte) ([]byte, bool) {
	bad := func(i int) int {
		c := b[i]
		if c < 0x20 && c != '\t' && c != '\n' && c != '\r' {
			return 1
		}
		if c == 0xEF && i+2 < len(b) && b[i+1] == 0xBF && b[i+2] >= 0xBE {
			return 3
		}
		return 0
	}
	for i := range b {
		if (b[i] < 0x20 || b[i] == 0xEF) && bad(i) > 0 {
			out := append(make([]byte, 0, len(b)), b[:i]...)
			for j := i; j < len(b); {
				if n := bad(j); n > 0 {
					j += n
					continue
				}
				out = append(out, b[j])
				j++
			}
			return out, true
		}
	}
	return b, false
}
