package decode

import (
	"bytes"
	"strings"
)

// namespaceOf is what an xmlns attribute should say. gofeed reads the elements
// of a namespace that it does not know as none of the feed's, so a slash too
// many, https for http, or Atom's namespace on an RSS channel would empty the
// feed. element and name are those of the tag and of the attribute.
func namespaceOf(element, name []byte, value string) string {
	prefix, ok := bytes.CutPrefix(name, []byte("xmlns:"))
	if ok {
		if string(prefix) == "content" {
			return "http://purl.org/rss/1.0/modules/content/"
		}
		return canonicalNamespace(value)
	}
	if len(name) != len("xmlns") {
		return value
	}
	switch known := canonicalNamespace(value); strings.ToLower(string(element)) {
	case "rss", "channel", "item": // RSS has none
		return ""
	case "feed", "entry":
		if known == "http://purl.org/atom/ns#" {
			return known
		}
		return atomNamespace
	case "rdf:rdf", "rdf":
		switch known {
		case "http://purl.org/rss/1.0/", "http://my.netscape.com/rdf/simple/0.9/", "http://channel.netscape.com/rdf/simple/0.9/", "":
			return known
		}
		return "http://purl.org/rss/1.0/"
	}
	return value
}

// canonicalNamespace undoes the usual misspellings of the namespaces that are
// read: scheme, www, case, blanks, the slash at the end.
func canonicalNamespace(value string) string {
	key := strings.ToLower(strings.TrimSpace(value))
	if _, rest, ok := strings.Cut(key, "://"); ok {
		key = rest
	}
	switch strings.TrimRight(strings.TrimPrefix(key, "www."), "/#") {
	case "w3.org/2005/atom":
		return atomNamespace
	case "purl.org/atom/ns":
		return "http://purl.org/atom/ns#"
	case "purl.org/rss/1.0/modules/content":
		return "http://purl.org/rss/1.0/modules/content/"
	case "purl.org/dc/elements/1.1", "purl.org/dc/elements/1.0":
		return "http://purl.org/dc/elements/1.1/"
	case "purl.org/dc/terms":
		return "http://purl.org/dc/terms/"
	case "search.yahoo.com/mrss", "search.yahoo.com/rss", "video.search.yahoo.com/mrss":
		return "http://search.yahoo.com/mrss/"
	case "itunes.com/dtds/podcast-1.0.dtd":
		return "http://www.itunes.com/dtds/podcast-1.0.dtd"
	case "w3.org/1999/02/22-rdf-syntax-ns":
		return "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	case "purl.org/rss/1.0":
		return "http://purl.org/rss/1.0/"
	}
	return value
}
