package article

import (
	"strings"

	"golang.org/x/net/html"
)

// FirstImage returns the address of the first picture in an HTML fragment
// that is worth showing, absolute against base; "" when there is none.
// Tracking pixels, emoji and data addresses are passed over.
func FirstImage(fragment, base string) string {
	if !containsFold(fragment, "<img") {
		return ""
	}
	z := html.NewTokenizer(strings.NewReader(fragment))
	z.SetMaxBuf(1 << 20)
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken, html.SelfClosingTagToken:
			if name, more := z.TagName(); more && string(name) == "img" {
				if src := imageSource(z); src != "" {
					if abs := Resolve(base, src); abs != "" {
						return abs
					}
				}
			}
		}
	}
}

func imageSource(z *html.Tokenizer) string {
	attrs := map[string]string{}
	for more := true; more; {
		var k, v []byte
		k, v, more = z.TagAttr()
		attrs[string(k)] = string(v)
	}
	if tiny(attrs["width"]) || tiny(attrs["height"]) || strings.Contains(attrs["class"], "emoji") {
		return ""
	}
	for _, name := range []string{"data-src", "data-original", "src"} {
		src := attrs[name]
		if src == "" || strings.HasPrefix(src, "data:") || isPixel(src) {
			continue
		}
		return src
	}
	return ""
}

func tiny(n string) bool { return n == "0" || n == "1" || n == "2" || n == "1px" }

func isPixel(src string) bool {
	for _, w := range []string{"feedburner.com/~", "doubleclick.net", "pixel.", "/pixel", "stats.wordpress.com", "feeds.feedburner", "/emoji/", "gravatar.com/avatar"} {
		if strings.Contains(src, w) {
			return true
		}
	}
	return false
}

func containsFold(s, lower string) bool {
	for i := 0; i+len(lower) <= len(s); i++ {
		if s[i] == lower[0] && strings.EqualFold(s[i:i+len(lower)], lower) {
			return true
		}
	}
	return false
}
