package decode

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"
)

// TestChannelsAndItemsInUnusualPlaces: no item is lost because of where it stands, and nothing inside an item that has
// the name of one of its parts is taken for it.
func TestChannelsAndItemsInUnusualPlaces(t *testing.T) {
	t.Parallel()
	const a = `<item><title>A</title><link>http://e.org/a</link></item>`
	const b = `<item><title>B</title><link>http://e.org/b</link></item>`
	const image = `<image><url>http://e.org/i.png</url><title>IMG</title><link>http://e.org/img</link></image>`
	ab := []string{"A", "B"}
	for _, v := range []variant{
		{name: "items without anything around", in: a + b, titles: ab, link: "http://e.org/a"},
		{name: "items after a declaration", in: `<?xml version="1.0"?>` + "\n" + a + "\n" + b + "\n", titles: ab},
		{name: "items below the root", in: `<rss version="2.0">` + a + b + `</rss>`, titles: ab},
		{name: "items behind their channel", in: `<rss version="2.0"><channel><title>T</title></channel>` + a + b + `</rss>`, titles: ab},
		{name: "a channel for each item", in: `<rss version="2.0"><channel><title>T</title>` + a + `</channel><channel><title>U</title>` + b + `</channel></rss>`, titles: ab},
		{name: "items in a channel and behind it", in: `<rss version="2.0"><channel>` + a + `</channel>` + b + `</rss>`, titles: ab},
		{name: "bare items, the last one torn", in: a + b + `<item><title>C`, titles: ab},
		{name: "an image in front of the item's own parts", in: `<rss version="2.0"><channel><item>` + image + a[6:] + b + `</channel></rss>`, titles: ab, link: "http://e.org/a"},
		{name: "an image behind them", in: `<rss version="2.0"><channel>` + strings.Replace(a, "</item>", image+"</item>", 1) + b + `</channel></rss>`, titles: ab, link: "http://e.org/a"},
		{name: "an image in front of the channel's own parts", in: `<rss version="2.0"><channel>` + image + `<title>T</title>` + a + b + `</channel></rss>`, titles: ab},
		{name: "the source of an entry in front of its own parts", in: `<feed xmlns="http://www.w3.org/2005/Atom"><entry><source><id>s</id><title>S</title><link href="http://s.org/"/></source><id>x</id><title>A</title><link href="http://e.org/a"/></entry></feed>`, titles: []string{"A"}, id: "x", link: "http://e.org/a"},
		{name: "RDF items without a channel", in: `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><item rdf:about="http://e.org/a"><title>A</title></item></rdf:RDF>`, titles: []string{"A"}, link: "http://e.org/a"},
	} {
		v.check(t)
		for _, how := range []string{"utf-16le", "gzip"} {
			packed := v
			packed.name += ", " + how
			packed.against(t, asStored(t, v.in, how), "application/xml")
		}
	}
}

// asStored is a document in another encoding, or packed.
func asStored(t *testing.T, s, how string) []byte {
	t.Helper()
	if how == "gzip" {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(s)); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	out := []byte{0xFF, 0xFE}
	for _, r := range s {
		out = append(out, byte(r), byte(r>>8))
	}
	return out
}

func TestAFileIsCalledByItsType(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{"%PDF-1.4\n\xE2\x01": "application/pdf", "PK\x03\x04\x14\x00": "application/zip", "\x89PNG\x0D\x0A\x1A\x0A": "image/png"} {
		_, err := Decode(t.Context(), Input{Body: []byte(body), Now: testNow()})
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeNotAFeed || !strings.Contains(e.Detail, want) {
			t.Errorf("%q: %v", body, err)
		}
	}
}
