package decode

import (
	"strings"
	"testing"
)

// TestEntriesOfAnotherFormat: <entry> in a channel and <item> in an Atom feed are read as what they are.
func TestEntriesOfAnotherFormat(t *testing.T) {
	t.Parallel()
	const (
		entry = `<entry><id>tag:e.org,2026:1</id><title type="html">A &amp;amp; B</title><link rel="alternate" type="text/html" href="http://e.org/1"/><updated>2026-05-01T10:00:00Z</updated><content type="html">&lt;p&gt;whole text&lt;/p&gt;</content></entry>`
		old   = `<item><title>C</title><link>http://e.org/2</link><guid isPermaLink="false">2</guid><pubDate>Fri, 01 May 2026 10:00:00 GMT</pubDate><description>&lt;p&gt;whole text&lt;/p&gt;</description></item>`
	)
	inRSS := func(s string) string {
		return `<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>t</title><link>http://e.org/</link>` + s + `</channel></rss>`
	}
	inAtom := func(s string) string {
		return `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://b.org/x/"><title>t</title><id>f</id>` + s + `</feed>`
	}
	a := variant{titles: one("A & B"), id: "tag:e.org,2026:1", link: "http://e.org/1", date: "2026-05-01T10:00:00Z", text: "whole text"}
	c := variant{titles: one("C"), id: "2", link: "http://e.org/2", date: "2026-05-01T10:00:00Z", text: "whole text"}
	with := func(v variant, name, in string, titles ...string) variant {
		v.name, v.in = name, in
		if titles != nil {
			v.titles = titles
		}
		return v
	}
	prefixed := strings.NewReplacer("<entry", "<atom:entry", "</entry", "</atom:entry", "<id", "<atom:id", "</id", "</atom:id", "<title", "<atom:title", "</title", "</atom:title",
		"<link", "<atom:link", "<updated", "<atom:updated", "</updated", "</atom:updated", "<content", "<atom:content", "</content", "</atom:content").Replace(entry)
	for _, v := range []variant{
		with(a, "entries in a channel", inRSS(entry)),
		with(a, "entries with their namespace in a channel", inRSS(strings.Replace(entry, "<entry>", `<entry xmlns="http://www.w3.org/2005/Atom">`, 1))),
		with(a, "prefixed entries in a channel", inRSS(prefixed)),
		with(a, "entries below rss", `<rss version="2.0">`+entry+`</rss>`),
		with(a, "an entry, then an item", inRSS(entry+old), "A & B", "C"),
		with(c, "an item, then an entry, then an item", inRSS(old+entry+strings.ReplaceAll(old, "2</", "3</")), "C", "A & B", "C"),
		with(a, "entries in a bare channel", `<channel><title>t</title>`+entry+`</channel>`),
		with(a, "entries in RDF", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel/>`+entry+`</rdf:RDF>`),
		with(a, "a torn channel of entries", inRSS(entry + "<entry><id>3")[:len(inRSS(entry+"<entry><id>3"))-len("</channel></rss>")]),
		with(c, "entries with the parts of items", inRSS(strings.NewReplacer("<item>", "<entry>", "</item>", "</entry>").Replace(old))),
		with(c, "items in Atom", inAtom(old)),
		with(a, "items with the parts of entries", inAtom(strings.NewReplacer("<entry>", "<item>", "</entry>", "</item>").Replace(entry))),
		with(a, "an entry and an item in Atom", inAtom(entry+old), "A & B", "C"),
		with(c, "items in a channel in Atom", inAtom("<channel>"+old+"</channel>")),
		with(variant{titles: one("x"), link: "http://b.org/x/p/1"}, "a relative link in an item in Atom", inAtom(`<item><title>x</title><link>p/1</link></item>`)),
		with(variant{titles: one("x"), image: "http://e.org/i.jpg"}, "the namespaces of the root", inRSS(`<entry><id>1</id><title>x</title><media:thumbnail url="http://e.org/i.jpg"/></entry>`)),
		with(variant{titles: one("x")}, "an empty element", inRSS(`<entry/><entry><id>1</id><title>x</title></entry>`), "", "x"),
		with(a, "an entry and an item under a misdeclared root", strings.Replace(inRSS(entry+old), "<rss ", `<rss xmlns="http://www.w3.org/2005/Atom" lang=en `, 1), "A & B", "C"),
		with(c, "an image of that name stays one", inRSS(strings.Replace(old, "</item>", `<media:group><media:entry>z</media:entry></media:group></item>`, 1))),
	} {
		v.check(t)
	}
}

// TestJSONInOddClothes: JSON that is served as a script, with comments, or without its feed.
func TestJSONInOddClothes(t *testing.T) {
	t.Parallel()
	const it = `{"id":"1","url":"http://e.org/1","title":"x","content_html":"<p>whole text</p>","date_published":"2026-05-01T10:00:00Z"}`
	const feed = `{"version":"https://jsonfeed.org/version/1.1","title":"t","items":[` + it + `]}`
	read := variant{titles: one("x"), id: "1", link: "http://e.org/1", date: "2026-05-01T10:00:00Z", text: "whole text"}
	for name, in := range map[string]string{
		"a list":                       "[" + it + "]",
		"a list with a mark":           "\uFEFF[" + it + "]",
		"a list with a trailing comma": "[" + it + ",]",
		"a torn list":                  "[" + it + `,{"id":"2","ti`,
		"a list in a call":             "cb([" + it + "]);",
		"without version":              `{"title":"t","items":[` + it + `]}`,
		"without anything but items":   `{"items":[` + it + `]}`,
		"a call":                       "callback(" + feed + ")",
		"a call with an object's name": "window.app.feeds_1$ ( " + feed + " ) ;\n",
		"a call behind a comment":      "/**/ jQuery123_456(" + feed + ");",
		"a call behind a test":         "/**/ typeof cb === 'function' && cb(" + feed + ");",
		"parentheses":                  "(" + feed + ")",
		"an assignment":                "var feed = " + feed + ";",
		"an assignment to a member":    "window.feed=" + feed,
		"a guard":                      ")]}'\n" + feed,
		"a guard with a comma":         ")]}',\n" + feed,
		"a guard without a quote":      ")]}\n" + feed,
		"a guard behind a mark":        "\uFEFF)]}'\n" + feed,
		"a loop as guard":              "while(1);" + feed,
		"another loop":                 "for (;;);" + feed,
		"an exception as guard":        "throw 1; " + feed,
		"an object as guard":           "{}&& " + feed,
		"a comment in front":           "// made by hand\n" + feed,
		"comments in front":            "/* a * b **/\n// c\n" + feed,
		"comments inside":              strings.NewReplacer(`"items":[`, "/* the \"items\" */ \"items\": // here\n[", `}]}`, "} /* last */ ] // end\n}").Replace(feed),
		"an open comment at the end":   feed + "/* never closed",
		"an address is no comment": strings.Replace(feed, `"title":"t",`, `"title":"t", // http://x/*y
`, 1),
		"trailing commas":                 strings.NewReplacer(`}]`, "},\n ]", `]}`, "], }").Replace(feed),
		"commas twice":                    strings.Replace(feed, `"items":[`, `,"items":[,,`, 1),
		"commas missing":                  strings.Replace(feed, `"items":[`, `"items":[{"x":1} `, 1),
		"line breaks in strings":          strings.Replace(feed, "whole text", "whole\ntext", 1),
		"a wrong escape":                  strings.Replace(feed, "whole text", `whole\ text`, 1),
		"an apostrophe escaped":           strings.Replace(feed, "whole text", `\'whole text`, 1),
		"a wrong unicode escape":          strings.Replace(feed, "whole text", `whole text \u12 \uZZZZ`, 1),
		"a warning in front":              "Warning: x {y} in /a.php on line 3\n" + feed,
		"a warning of markup in front":    "<br />\n<b>Warning</b>: x in <b>/a.php</b> on line <b>3</b><br />\n" + feed,
		"an address with escaped slashes": "Notice: z\n" + strings.Replace(feed, "https://jsonfeed.org/version/1.1", `https:\/\/jsonfeed.org\/version\/1.1`, 1),
		"a page around nothing":           feed + "\n<!-- 3 ms --><script>x()</script>",
	} {
		v := read
		v.name, v.in = name, in
		if name == "commas missing" {
			v.titles, v.id, v.link, v.date, v.text = one("x"), "1", "", "", ""
		}
		if name == "line breaks in strings" {
			v.text = "whole"
		}
		v.check(t)
	}
	for name, in := range map[string]string{
		"a list of numbers":            "[1,2]",
		"a list of other objects":      `[{"id":1,"title":"x","html_url":"http://e.org/1"}]`,
		"a list of addresses":          `[{"id":1,"title":"x","url":"http://api.e.org/1"}]`,
		"a list with one other object": "[" + it + `,{"error":"x"}]`,
		"an empty list":                "[]",
		"a list of lists":              "[[" + it + "]]",
		"a call of a number":           "cb(7)",
		"words":                        "while (we wait) {",
	} {
		variant{name: name, in: in, code: CodeNotAFeed}.check(t)
	}
	for name, in := range map[string]string{"an error in a call": `cb({"error":"x"})`, "an error behind a guard": ")]}'\n" + `{"message":"x"}`} {
		variant{name: name, in: in, code: CodeJSONError}.check(t)
	}
	variant{name: "a guard alone", in: ")]}'\n", code: CodeEmpty}.check(t)
}
