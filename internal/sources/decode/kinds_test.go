package decode

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestNamespacesMisdeclared: what a prefix is bound to is often a little wrong, and what it means is clear.
func TestNamespacesMisdeclared(t *testing.T) {
	t.Parallel()
	in := func(root, inner string) string {
		return `<rss version="2.0" ` + root + `><channel><title>t</title><item><title>x</title><link>http://e.org/1</link>` + inner + `</item></channel></rss>`
	}
	const encoded = `<content:encoded><![CDATA[<p>whole text</p>]]></content:encoded>`
	text := variant{titles: one("x"), link: "http://e.org/1", text: "whole text"}
	for name, doc := range map[string]string{
		"content without a slash":        in(`xmlns:content="http://purl.org/rss/1.0/modules/content"`, encoded),
		"content over https":             in(`xmlns:content="https://purl.org/rss/1.0/modules/content/"`, encoded),
		"content with www":               in(`xmlns:content="http://www.purl.org/rss/1.0/modules/content/"`, encoded),
		"content in capitals":            in(`xmlns:content="HTTP://PURL.ORG/RSS/1.0/modules/content/"`, encoded),
		"content with blanks":            in(`xmlns:content=" http://purl.org/rss/1.0/modules/content/ "`, encoded),
		"content bound to dc":            in(`xmlns:content="http://purl.org/dc/elements/1.1/"`, encoded),
		"content bound to nothing":       in(`xmlns:content=""`, encoded),
		"content declared twice":         in(`xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:content="x"`, encoded),
		"content declared at the item":   strings.Replace(in("", encoded), "<item>", `<item xmlns:content="http://purl.org/rss/1.0/modules/content/">`, 1),
		"content at the element":         in("", strings.Replace(encoded, "<content:encoded>", `<content:encoded xmlns:content="http://purl.org/rss/1.0/modules/content/">`, 1)),
		"content with another prefix":    in(`xmlns:c="http://purl.org/rss/1.0/modules/content/"`, strings.ReplaceAll(encoded, "content:", "c:")),
		"content without a prefix":       in("", strings.ReplaceAll(encoded, "content:", "")),
		"content in capitals itself":     in(`xmlns:content="http://purl.org/rss/1.0/modules/content/"`, strings.ReplaceAll(encoded, "content:encoded", "content:Encoded")),
		"Atom as the default":            in(`xmlns="http://www.w3.org/2005/Atom"`, encoded),
		"XHTML as the default":           in(`xmlns="http://www.w3.org/1999/xhtml"`, encoded),
		"Dublin Core as the default":     in(`xmlns="http://purl.org/dc/elements/1.1/"`, encoded),
		"content as the default":         in(`xmlns="http://purl.org/rss/1.0/modules/content/"`, encoded),
		"Media RSS as the default":       in(`xmlns="http://search.yahoo.com/mrss/"`, encoded),
		"RSS 1.0 as the default":         in(`xmlns="http://purl.org/rss/1.0/"`, encoded),
		"anything as the default":        in(`xmlns="urn:x"`, encoded),
		"a default at the channel":       strings.Replace(in("", encoded), "<channel>", `<channel xmlns="http://www.w3.org/2005/Atom">`, 1),
		"a default at the item":          strings.Replace(in("", encoded), "<item>", `<item xmlns="http://www.w3.org/2005/Atom">`, 1),
		"a default that is empty":        in(`xmlns=""`, encoded),
		"a namespace without quotes":     in(`xmlns:content=http://purl.org/rss/1.0/modules/content/`, encoded),
		"itunes summary, in capitals":    in(`xmlns:itunes="http://www.itunes.com/DTDs/PodCast-1.0.dtd"`, `<itunes:summary>whole text</itunes:summary>`),
		"dc description without a slash": in(`xmlns:dc="http://purl.org/dc/elements/1.1"`, `<dc:description>whole text</dc:description>`),
		"media over https":               in(`xmlns:media="https://search.yahoo.com/mrss/"`, `<media:description>whole text</media:description>`),
	} {
		v := text
		v.name, v.in = name, doc
		v.check(t)
	}
	date := variant{titles: one("x"), date: "2026-05-01T10:00:00Z"}
	for name, doc := range map[string]string{
		"dc without a slash":   in(`xmlns:dc="http://purl.org/dc/elements/1.1"`, `<dc:date>2026-05-01T10:00:00Z</dc:date>`),
		"dc over https":        in(`xmlns:dc="https://purl.org/dc/elements/1.1/"`, `<dc:date>2026-05-01T10:00:00Z</dc:date>`),
		"dc of another number": in(`xmlns:dc="http://purl.org/dc/elements/1.0/"`, `<dc:date>2026-05-01T10:00:00Z</dc:date>`),
		"dc as dcterms":        in(`xmlns:dc="http://purl.org/dc/terms/"`, `<dc:date>2026-05-01T10:00:00Z</dc:date>`),
	} {
		v := date
		v.name, v.in = name, doc
		v.check(t)
	}
	whole := variant{titles: one("x"), id: "1", link: "http://e.org/1", date: "2026-05-01T10:00:00Z", text: "whole text"}
	for _, ns := range []string{
		"http://www.w3.org/2005/Atom", "https://www.w3.org/2005/Atom", "http://www.w3.org/2005/atom", "http://www.w3.org/2005/Atom/", " http://www.w3.org/2005/Atom ", "http://w3.org/2005/Atom",
		"http://purl.org/atom/ns#", "http://www.w3.org/1999/xhtml", "http://purl.org/rss/1.0/", "urn:x", "",
	} {
		v := whole
		v.name = "feed in " + ns
		v.in = `<feed xmlns="` + ns + `"><title>t</title><entry><id>1</id><title>x</title><link href="http://e.org/1"/><updated>2026-05-01T10:00:00Z</updated><content type="html">&lt;p&gt;whole text&lt;/p&gt;</content></entry></feed>`
		v.check(t)
	}
}

// TestCharacterDataInOddForms: CDATA in CDATA, escaped, in capitals or not.
func TestCharacterDataInOddForms(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"<![CDATA[a & b]]>":                      "a & b",
		"<![CDATA[a &amp; b]]>":                  "a & b",
		"<![CDATA[<![CDATA[a]]]]>":               "a",
		"<![CDATA[<![CDATA[a]]>]]>":              "a",
		"<![CDATA[a]]><![CDATA[b]]>":             "ab",
		"<![CDATA[a]]> <![CDATA[b]]>":            "a b",
		"&lt;![CDATA[a &amp;amp; b]]&gt;":        "a & b",
		"&lt;![CDATA[a]]>":                       "a",
		"<![cdata[a & b]]>":                      "a & b",
		"<![CDATA[]]>a":                          "a",
		"a<![CDATA[]]>":                          "a",
		"<![CDATA[&#1040;&#x411;]]>":             "АБ",
		"<![CDATA[a <b>b</b> <i>c]]>":            "a b c",
		"<![CDATA[a < b > c]]>":                  "a < b > c",
		"a &lt;br/&gt; b":                        "a b",
		"it&apos;s &amp;apos;x&amp;apos;":        "it's 'x'",
		"a&#8217;s &#x2019; &#39;":               "a’s ’ '",
		"&amp;#1055;&amp;#1088;":                 "Пр",
		"\uFEFFa\u200B":                          "a",
		"<b>a</b> b":                             "a b",
		"<span class=\"x\">a</span>":             "a",
		"a<sup>2</sup>":                          "a2",
		"<p>a</p><p>b</p>":                       "a b",
		"a<!-- c -->b":                           "ab",
		"a<?php echo 1 ?>b":                      "ab",
		"Q&A: R&D at AT&T":                       "Q&A: R&D at AT&T",
		"&lt;script&gt;alert(1)&lt;/script&gt;a": "a",
		strings.Repeat("long ", 400) + "end":     strings.Repeat("long ", 400) + "end",
		"<![CDATA[\n   a   \n  b ]]>":            "a b",
		"{{title}}":                              "{{title}}",
		"&#9731; &#128512;":                      "☃ 😀",
		"a &lt; b":                               "a < b",
		"&lt;3 you":                              "<3 you",
	} {
		doc, err := read(t, item("<title>"+in+"</title><link>http://e.org/1</link>"))
		if err != nil || len(doc.Entries) != 1 {
			t.Errorf("%.60q: %+v %v", in, doc, err)
		} else if got := doc.Entries[0].Title; got != want && !strings.HasPrefix(want, "long") {
			t.Errorf("%.60q: %q, want %q", in, got, want)
		}
	}
}

// TestLinksInOddForms: an address that is clear is mended, and one that is not is none.
func TestLinksInOddForms(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"http://e.org/1":                "http://e.org/1",
		" \n http://e.org/1 \t":         "http://e.org/1",
		"HTTP://E.org/1":                "http://E.org/1",
		"//e.org/1":                     "http://e.org/1",
		"/1":                            "http://e.org/1",
		"1":                             "http://e.org/dir/1",
		"?p=1":                          "http://e.org/dir/feed.xml?p=1",
		"../1":                          "http://e.org/1",
		"./1":                           "http://e.org/dir/1",
		"#a":                            "http://e.org/dir/feed.xml#a",
		"http:/e.org/1":                 "http://e.org/1",
		"http:///e.org/1":               "http://e.org/1",
		"http//e.org/1":                 "http://e.org/1",
		"https//e.org/1":                "https://e.org/1",
		"http:e.org/1":                  "http://e.org/1",
		"http://http://e.org/1":         "http://e.org/1",
		"http://https://e.org/1":        "https://e.org/1",
		"https://https//e.org/1":        "https://e.org/1",
		"www.e.org/1":                   "http://www.e.org/1",
		"http:\\\\e.org\\1":             "http://e.org/1",
		"http://e.org\\1\\2":            "http://e.org/1/2",
		"http://e.org/a b":              "http://e.org/a%20b",
		"http://e.org/a\n\tb":           "http://e.org/ab",
		"http://e.org/а":                "http://e.org/%D0%B0",
		"http://e.org/100%":             "http://e.org/100%25",
		"http://e.org/%zz":              "http://e.org/%25zz",
		"http://e.org/a%20b":            "http://e.org/a%20b",
		"http://e.org/?a=1&amp;amp;b=2": "http://e.org/?a=1&b=2",
		"http://e.org/?q=a|b":           "http://e.org/?q=a|b",
		"&lt;a href=\"http://e.org/1\"&gt;x&lt;/a&gt;": "http://e.org/1",
		"<a href=\"http://e.org/1\">x</a>":             "http://e.org/1",
		"<![CDATA[<a href='http://e.org/1'>x</a>]]>":   "http://e.org/1",
		"\"http://e.org/1\"":                           "http://e.org/1",
		"&lt;http://e.org/1&gt;":                       "http://e.org/1",
		"feed://e.org/1":                               "http://e.org/1",
		"http://e.org:80/1":                            "http://e.org:80/1",
		"http://e.org:x/1":                             "",
		"null":                                         "",
		"undefined":                                    "",
		"about:blank":                                  "",
		"javascript:alert(1)":                          "",
		"mailto:a@e.org":                               "",
		"tag:e.org,2026:1":                             "",
		"magnet:?xt=urn:btih:1":                        "",
		"http://":                                      "",
		"http://user:pass@e.org/1":                     "http://user:pass@e.org/1",
		"http://[::1]/1":                               "http://[::1]/1",
		"http://пример.рф/1":                           "http://%D0%BF%D1%80%D0%B8%D0%BC%D0%B5%D1%80.%D1%80%D1%84/1",
	} {
		doc, err := read(t, item("<title>x</title><link>"+in+"</link>"))
		if err != nil || len(doc.Entries) != 1 {
			t.Errorf("%q: %+v %v", in, doc, err)
		} else if got := doc.Entries[0].Link; got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestBytesInOddForms: encodings that are nearly another.
func TestBytesInOddForms(t *testing.T) {
	t.Parallel()
	for _, v := range []variant{
		{name: "halves of characters in three bytes each", in: item("<title>ok \xED\xA0\xBD\xED\xB8\x80 and \xED\xA0\xBD\xED\xB8\x81</title>"), titles: one("ok 😀 and 😁")},
		{name: "such halves beside Cyrillic", in: item("<title>привет \xED\xA0\xBD\xED\xB8\x80</title>"), titles: one("привет 😀")},
		{name: "a label in quotes of the other kind", in: `<?xml version='1.0' encoding="windows-1251'?>` + item("<title>\xCF\xF0\xE8\xE2\xE5\xF2, \xEC\xE8\xF0</title>")[38:], titles: one("Привет, мир")},
		{name: "a label that is empty", in: `<?xml version="1.0" encoding=""?>` + item("<title>Привет</title>")[38:], titles: one("Привет")},
		{name: "a label with blanks", in: `<?xml version="1.0" encoding=" UTF-8 "?>` + item("<title>Привет</title>")[38:], titles: one("Привет")},
		{name: "utf-8 under the label of one byte each", in: `<?xml version="1.0" encoding="windows-1251"?>` + item("<title>Привет</title>")[38:], titles: one("Привет")},
		{name: "a declaration behind the root", in: item("<title>x</title>")[38:] + `<?xml version="1.0" encoding="utf-16"?>`, titles: one("x")},
		{name: "the bytes of windows in latin-1", in: `<?xml version="1.0" encoding="ISO-8859-1"?>` + item("<title>it\x92s \x93ok\x94 \x97 \x80 5</title>")[38:], titles: one("it’s “ok” — € 5")},
		{name: "one bad byte in a long text", in: item("<title>Новости " + strings.Repeat("дня ", 30) + "\xFF</title>"), titles: one("Новости " + strings.Repeat("дня ", 30) + "ÿ")},
		{name: "nothing but marks between", in: item("<title>a\uFEFFb\u2028c</title>"), titles: one("ab c")},
		{name: "cut inside a character", in: item("<title>x</title>")[:len(item("<title>x</title>"))-len("</channel></rss>")] + "<item><title>\xD0", titles: one("x")},
	} {
		v.check(t)
	}
}

// TestTextsAreCutBetweenCharacters: half a character at a bound would be refused by the database, and with it the feed.
func TestTextsAreCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	for shift := range 4 {
		for _, inner := range []string{strings.Repeat("<b></b>", 57_000), strings.Repeat("<!-- a -->", 39_998), "<b " + strings.Repeat("a='b' ", 66_600) + ">"} {
			body := strings.Repeat(" ", shift) + inner + strings.Repeat("я", 2000)
			e := Entry{Body: body, Summary: "<img src='http://e.org/" + strings.Repeat("я", 300_000) + "'>"}
			if text := e.Text(); !utf8.ValidString(text) {
				t.Errorf("shift %d: a text ends in %q", shift, text[max(0, len(text)-5):])
			}
			if p := e.Picture(); !utf8.ValidString(p) {
				t.Errorf("shift %d: a picture's address is cut inside a character", shift)
			}
		}
	}
}
