package decode

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// variant is one document and what a reader must see in it: its titles, or the
// code of its refusal, and of the first entry what is not "".
type variant struct {
	name, in string
	titles   []string
	code     Code
	id, link string
	date     string // RFC 3339; "none": undated
	text     string // contained in it
	image    string
}

func (v variant) check(t *testing.T) {
	t.Helper()
	v.against(t, []byte(v.in), "")
}

func (v variant) against(t *testing.T, body []byte, contentType string) {
	t.Helper()
	doc, err := Decode(t.Context(), Input{Body: body, ContentType: contentType, URL: "http://e.org/dir/feed.xml", Now: testNow()})
	if v.code != "" {
		var e *Error
		if !errors.As(err, &e) || e.Code != v.code {
			t.Errorf("%s: %+v, %v; want %s", v.name, doc, err, v.code)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", v.name, err)
		return
	}
	if got := titles(doc); !slices.Equal(got, v.titles) {
		t.Errorf("%s: titles %q, want %q", v.name, got, v.titles)
		return
	}
	if len(doc.Entries) == 0 {
		return
	}
	e, date := doc.Entries[0], "none"
	if !e.Published.IsZero() {
		date = e.Published.Format(time.RFC3339)
	}
	for _, c := range []struct{ what, got, want string }{
		{"id", e.ID, v.id}, {"link", e.Link, v.link}, {"date", date, v.date}, {"image", e.Picture(), v.image},
	} {
		if c.want != "" && c.got != c.want {
			t.Errorf("%s: %s %q, want %q", v.name, c.what, c.got, c.want)
		}
	}
	if !strings.Contains(e.Text(), v.text) {
		t.Errorf("%s: text %q, want %q in it", v.name, e.Text(), v.text)
	}
}

func one(s string) []string { return []string{s} }

// item is a feed of one entry.
func item(inner string) string { return rssDoc("<item>" + inner + "</item>") }

func atomDoc(inner string) string {
	return `<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><id>f</id>` + inner + `</feed>`
}

func TestWideEncodingsWithEveryLabel(t *testing.T) {
	t.Parallel()
	const title = "Привет 😀 世界"
	wide := func(s string, order binary.AppendByteOrder, size int) []byte {
		var out []byte
		if size == 4 {
			for _, r := range s {
				out = order.AppendUint32(out, uint32(r))
			}
			return out
		}
		for _, u := range utf16.Encode([]rune(s)) {
			out = order.AppendUint16(out, u)
		}
		return out
	}
	for _, decl := range []string{"", `<?xml version="1.0"?>`, `<?xml version="1.0" encoding="utf-8"?>`, `<?xml version="1.0" encoding="UTF-16"?>`, `<?xml version='1.0' encoding='windows-1251'?>`, "\n<?xml version=\"1.0\"?>\r\n"} {
		doc := decl + `<rss version="2.0"><channel><title>t</title><item><title>` + title + `</title><link>http://e.org/1</link></item></channel></rss>`
		for name, order := range map[string]interface {
			binary.AppendByteOrder
			binary.ByteOrder
		}{"le": binary.LittleEndian, "be": binary.BigEndian} {
			for _, size := range []int{2, 4} {
				for _, mark := range []string{"", "\uFEFF"} {
					for _, header := range []string{"", "text/xml; charset=utf-8", "text/xml; charset=utf-16", "application/xml; charset=iso-8859-1"} {
						v := variant{name: strings.Join([]string{decl, name, string(rune('0' + size)), mark, header}, "|"), titles: one(title), link: "http://e.org/1"}
						v.against(t, wide(mark+doc, order, size), header)
					}
				}
			}
		}
	}
	js := `{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","title":"` + title + `"}]}`
	variant{name: "json utf-16", titles: one(title)}.against(t, wide("\uFEFF"+js, binary.LittleEndian, 2), "application/json")
	variant{name: "utf-16 of utf-8 bytes", titles: one("Café")}.against(t, []byte(`<?xml version="1.0" encoding="utf-16"?><rss><channel><item><title>Café</title></item></channel></rss>`), "text/xml; charset=utf-16")
	variant{name: "two marks", titles: one("Café")}.against(t, []byte("\uFEFF\uFEFF"+item("<title>Café</title>")), "")
	variant{name: "mark behind blanks", titles: one("Café")}.against(t, []byte("\n \uFEFF"+item("<title>Café</title>")), "")
	variant{name: "odd byte", titles: one("x")}.against(t, append(wide(`<rss><channel><item><title>x</title></item></channel></rss>`, binary.LittleEndian, 2), 0x0A), "")
	variant{name: "utf-8 mark, other bytes", titles: one("Café")}.against(t, []byte("\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><rss><channel><item><title>Caf\xE9</title></item></channel></rss>"), "")
}

func TestByteEncodingsLabelledAnywhere(t *testing.T) {
	t.Parallel()
	type enc struct {
		e       encoding.Encoding
		labels  []string
		text    string
		guessed bool
	}
	const ru = "Как пережить новогоднюю ночь и остаться довольным"
	for _, c := range []enc{
		{charmap.Windows1251, []string{"windows-1251", "CP1251", "cp-1251", "win-1251", "x-cp1251"}, ru, true},
		{charmap.KOI8R, []string{"KOI8-R", "koi8r", "koi8"}, ru, true},
		{charmap.KOI8U, []string{"koi8-u"}, "Як пережити новорічну ніч і лишитися живим", false},
		{charmap.CodePage866, []string{"ibm866", "cp866"}, ru, true},
		{charmap.ISO8859_5, []string{"iso-8859-5"}, ru, false},
		{charmap.MacintoshCyrillic, []string{"x-mac-cyrillic"}, ru, false},
		{charmap.Windows1250, []string{"windows-1250", "cp1250"}, "Příliš žluťoučký kůň", false},
		{charmap.ISO8859_2, []string{"iso-8859-2", "latin2"}, "Příliš žluťoučký kůň", false},
		{charmap.Windows1252, []string{"windows-1252", "iso-8859-1", "latin1", "ISO_8859-1"}, "Überraschung für größere Straßen, Café", true},
		{charmap.Windows1254, []string{"windows-1254", "iso-8859-9"}, "İstanbul'da ağır kış günü", false},
		{charmap.Windows1253, []string{"windows-1253"}, "Καλημέρα κόσμε", false},
		{charmap.Windows1255, []string{"windows-1255"}, "שלום עולם", false},
		{charmap.Windows1256, []string{"windows-1256"}, "مرحبا بالعالم", false},
		{simplifiedchinese.GBK, []string{"gb2312", "GBK", "gb18030", "x-gbk", "cp936"}, "中国的新闻和我们的生活是在这里的", true},
		{traditionalchinese.Big5, []string{"big5", "Big5-HKSCS", "cp950"}, "中國的新聞和我們的生活是在這裡的", true},
		{japanese.ShiftJIS, []string{"Shift_JIS", "sjis", "shift-jis", "windows-31j", "cp932"}, "今年もよろしくお願いします。新しい記事", true},
		{japanese.EUCJP, []string{"euc-jp", "x-euc-jp"}, "今年もよろしくお願いします。新しい記事", true},
		{japanese.ISO2022JP, []string{"iso-2022-jp"}, "今年もよろしくお願いします。新しい記事", true},
		{korean.EUCKR, []string{"euc-kr", "ks_c_5601-1987", "cp949"}, "새해 복 많이 받으세요 오늘의 뉴스 제목", true},
	} {
		for _, label := range append(c.labels, "") {
			if label == "" && !c.guessed {
				continue
			}
			for _, place := range []string{"header", "declaration", "both", "header quoted", "declaration lies"} {
				decl, header := `<?xml version="1.0"?>`, ""
				if place == "declaration" || place == "both" {
					decl = `<?xml version="1.0" encoding="` + label + `"?>`
				}
				if place == "declaration lies" {
					decl = `<?xml version="1.0" encoding="utf-8"?>`
				}
				switch place {
				case "header", "both", "declaration lies":
					header = "application/rss+xml;charset=" + label
				case "header quoted":
					header = `text/xml; Charset="` + label + `"`
				}
				raw, err := c.e.NewEncoder().String(decl + `<rss version="2.0"><channel><title>t</title><item><title>` + c.text + `</title></item></channel></rss>`)
				if err != nil {
					t.Fatal(err)
				}
				variant{name: label + " in " + place + " of " + c.labels[0], titles: one(c.text)}.against(t, []byte(raw), header)
			}
		}
	}
	for name, v := range map[string]struct{ in, want string }{
		"latin byte":       {"caf\xE9 и привет", "café и привет"},
		"latin byte alone": {"caf\xE9", "café"},
		"smart quotes":     {"\x93ok\x94 \x96 привет, мир", "“ok” – привет, мир"},
	} {
		variant{name: name, titles: one(v.want)}.against(t, []byte(item("<title>"+v.in+"</title>")), "text/xml; charset=utf-8")
	}
	variant{name: "short cyrillic in bytes", titles: one("Новости дня")}.against(t, []byte("<rss><channel><item><title>\xCD\xEE\xE2\xEE\xF1\xF2\xE8 \xE4\xED\xFF</title></item></channel></rss>"), "")
}

func TestCharactersAndReferences(t *testing.T) {
	t.Parallel()
	for _, v := range []variant{
		{name: "raw controls", in: item("<title>a\x00b\x01c\x0b\x0c\x0e\x1fd\x7f</title>"), titles: one("abcd")},
		{name: "&#0;", in: item("<title>a&#0;b</title>"), titles: one("ab")},
		{name: "&#x0;", in: item("<title>a&#x0;b&#x00;c</title>"), titles: one("abc")},
		{name: "&#x1f;", in: item("<title>a&#x1f;b&#X1F;c&#31;d</title>"), titles: one("abcd")},
		{name: "&#xFFFE;", in: item("<title>a&#xFFFE;b&#xffff;c&#65534;d</title>"), titles: one("abcd")},
		{name: "surrogates", in: item("<title>a&#xD800;b&#55357;c</title>"), titles: one("abc")},
		{name: "surrogate pair", in: item("<title>a &#55357;&#56832; b</title>"), titles: one("a 😀 b")},
		{name: "hex surrogate pair", in: item("<title>a &#xD83D;&#xDE00; b</title>"), titles: one("a 😀 b")},
		{name: "beyond unicode", in: item("<title>a&#x110000;b&#99999999;c&#99999999999999999999;d</title>"), titles: one("abcd")},
		{name: "leading zeros", in: item("<title>a&#0000000000065;b&#x00000000042;c</title>"), titles: one("aAbBc")},
		{name: "controls in cdata", in: item("<title><![CDATA[a\x08b&#8;c]]></title>"), titles: one("abc")},
		{name: "controls in attributes", in: item(`<title>x</title><enclosure url="http://e.org/a&#x1;.jpg" type="image/jpeg"/>`), titles: one("x"), image: "http://e.org/a.jpg"},
		{name: "controls in link", in: item("<title>x</title><link>http://e.org/&#11;a\x02b</link>"), titles: one("x"), link: "http://e.org/ab"},
		{name: "windows references", in: item("<title>it&#146;s &#x93;ok&#x94; &#151; x</title>"), titles: one("it’s “ok” — x")},
		{name: "empty reference", in: item("<title>a &#; c &; d &</title>"), titles: one("a &#; c &; d &")},
		{name: "bad digits", in: item("<title>a &#xZZ; b</title>"), titles: one("a &#xZZ; b")},
		{name: "named", in: item("<title>a&nbsp;b&hellip; it&rsquo;s &eacute;&copy;&laquo;x&raquo;&ndash;&euro;</title>"), titles: one("a\u00a0b… it’s é©«x»–€")},
		{name: "named in link", in: item("<title>x</title><link>http://e.org/?a=1&copy=2&b=3</link>"), titles: one("x"), link: "http://e.org/?a=1&copy=2&b=3"},
		{name: "named in atom", in: atomDoc("<entry><id>1</id><title>a&nbsp;b&hellip;</title></entry>"), titles: one("a\u00a0b…")},
		{name: "unknown name", in: item("<title>R&D &unknown; AT&T</title>"), titles: one("R&D &unknown; AT&T")},
		{name: "upper-case name", in: item("<title>a &AMP; b &LT; c</title>"), titles: one("a & b < c")},
		{name: "ampersand in attribute", in: item(`<title>x</title><enclosure url="http://e.org/i.jpg?a=1&b=2" type="image/jpeg"/>`), titles: one("x"), image: "http://e.org/i.jpg?a=1&b=2"},
		{name: "double escaped", in: item("<title>AT&amp;amp;T &amp;#8217; &amp;quot;x&amp;quot;</title>"), titles: one("AT&T ’ \"x\"")},
		{name: "triple escaped", in: item("<title>A&amp;amp;amp;B</title>"), titles: one("A&B")},
		{name: "escaped markup", in: item("<title>a &lt;b&gt;bold&lt;/b&gt; &lt;i&gt;x&lt;/i&gt;</title>"), titles: one("a bold x")},
		{name: "comparison", in: item("<title>5 &lt; 6 &amp;&amp; 7 &gt; 6</title>"), titles: one("5 < 6 && 7 > 6")},
		{name: "atom html title", in: atomDoc(`<entry><id>1</id><title type="html">&lt;em&gt;a&lt;/em&gt; &amp;amp; b</title></entry>`), titles: one("a & b")},
		{name: "atom xhtml title", in: atomDoc(`<entry><id>1</id><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">a <em>b</em></div></title></entry>`), titles: one("a b")},
		{name: "atom text title", in: atomDoc(`<entry><id>1</id><title type="text">a &amp; b</title></entry>`), titles: one("a & b")},
		{name: "title over lines", in: item("<title>\n  a\n\t b  \n</title>"), titles: one("a b")},
	} {
		v.check(t)
	}
}

func TestDoctypeEntities(t *testing.T) {
	t.Parallel()
	rest := rssDoc("<item><title>&co; news</title></item>")[38:]
	bomb := `<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa">`
	for i := byte('b'); i < 'l'; i++ {
		bomb += `<!ENTITY ` + string(i) + ` "` + strings.Repeat("&"+string(i-1)+";", 10) + `">`
	}
	for _, v := range []variant{
		{name: "plain", in: `<!DOCTYPE rss [<!ENTITY co "ACME">]>` + rest, titles: one("ACME news")},
		{name: "single quotes", in: "<?xml version='1.0'?>\n<!DOCTYPE rss [\n<!ENTITY x '1'>\n<!ENTITY co 'ACME &#169; Ltd'>\n]>" + rest, titles: one("ACME © Ltd news")},
		{name: "named inside", in: `<!DOCTYPE rss [<!ENTITY co "ACME &amp; Co">]>` + rest, titles: one("ACME & Co news")},
		{name: "nested", in: `<!DOCTYPE rss [<!ENTITY n "ME"><!ENTITY co "AC&n;">]>` + rest, titles: one("ACME news")},
		{name: "external", in: `<!DOCTYPE rss [<!ENTITY co SYSTEM "file:///etc/passwd">]>` + rest, titles: one("&co; news")},
		{name: "external public", in: `<!DOCTYPE rss [<!ENTITY co PUBLIC "x" "http://127.0.0.1/">]>` + rest, titles: one("&co; news")},
		{name: "parameter", in: `<!DOCTYPE rss [<!ENTITY % p SYSTEM "http://127.0.0.1/x.dtd"> %p; <!ENTITY co "ACME">]>` + rest, titles: one("ACME news")},
		{name: "netscape", in: `<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">` + rssDoc("<item><title>a&nbsp;b</title></item>")[38:], titles: one("a\u00a0b")},
		{name: "recursion", in: `<!DOCTYPE rss [<!ENTITY co "&co;">]>` + rest, titles: one("&co; news")},
		{name: "markup inside", in: `<!DOCTYPE rss [<!ENTITY co "<b>ACME</b>">]>` + rest, titles: one("&co; news")},
		{name: "in attribute and cdata", in: `<!DOCTYPE rss [<!ENTITY co "e.org">]>` + rssDoc(`<item><title><![CDATA[&co; x]]></title><enclosure url="http://&co;/i.jpg" type="image/jpeg"/></item>`)[38:], titles: one("&co; x"), image: "http://e.org/i.jpg"},
		{name: "bomb", in: bomb + "]>" + rssDoc("<item><title>x &k;</title></item>")[38:], titles: one("x &k;")},
		{name: "quadratic", in: `<!DOCTYPE rss [<!ENTITY a "` + strings.Repeat("a", 50000) + `">]>` + rssDoc("<item><title>x</title><description>" + strings.Repeat("&a;", 50000) + "</description></item>")[38:], titles: one("x")},
	} {
		v.check(t)
	}
}

func TestShapesOfDocuments(t *testing.T) {
	t.Parallel()
	const x = "<title>x</title><link>http://e.org/1</link>"
	whole := item(x)
	one1 := one("x")
	for _, v := range []variant{
		{name: "cdata split", in: item("<title><![CDATA[a]]]]><![CDATA[>b]]></title>"), titles: one("a]]>b")},
		{name: "cdata and text", in: item("<title>a <![CDATA[b & c]]> d</title>"), titles: one("a b & c d")},
		{name: "cdata in cdata", in: item("<title>x</title><description><![CDATA[a <![CDATA[b]]> c]]></description>"), titles: one1},
		{name: "cdata closed late", in: rssDoc("<item><title>x</title><description><![CDATA[a</description></item><item><title>y</title><description><![CDATA[b]]></description></item>"), titles: one1},
		{name: "cdata never closed", in: rssDoc("<item><title>x</title></item><item><title>y</title><description><![CDATA[b</description></item>"), titles: one1},
		{name: "cdata with blanks", in: item("<title> <![CDATA[ x ]]> </title>"), titles: one1},
		{name: "cdata link", in: item("<title>x</title><link><![CDATA[ http://e.org/1?a=1&b=2 ]]></link>"), titles: one1, link: "http://e.org/1?a=1&b=2"},
		{name: "php warning", in: "<b>Warning</b>: x() in <b>/a.php</b> on line <b>3</b><br />\n" + whole, titles: one1},
		{name: "text before", in: "Notice: Undefined index\n" + whole, titles: one1},
		{name: "blanks before", in: " \r\n\t" + whole, titles: one1, link: "http://e.org/1"},
		{name: "comment before", in: "<!-- cached <rss> -->" + whole, titles: one1},
		{name: "second declaration", in: `<?xml version="1.0"?>` + whole, titles: one1},
		{name: "html comment after", in: whole + "\n<!-- 0.3 s -->", titles: one1},
		{name: "script after", in: whole + "<script>if (a < b && c) {}</script>", titles: one1},
		{name: "second feed after", in: whole + whole, titles: one1},
		{name: "nul after", in: whole + "\x00\x00\x00", titles: one1},
		{name: "xml 1.1", in: strings.Replace(whole, `"1.0"`, `"1.1"`, 1), titles: one1},
		{name: "xml 1.1 with controls", in: strings.Replace(item("<title>a&#1;b\u0085c</title>"), `"1.0"`, `'1.1'`, 1), titles: one("ab c")},
		{name: "xml 2.0", in: strings.Replace(whole, `"1.0"`, `"2.0"`, 1), titles: one1},
		{name: "standalone", in: strings.Replace(whole, `"UTF-8"`, `"UTF-8" standalone="yes"`, 1), titles: one1},
		{name: "upper-case declaration", in: strings.Replace(whole, "<?xml", "<?XML", 1), titles: one1},
		{name: "instructions", in: strings.Replace(whole, "<rss", `<?xml-stylesheet type="text/xsl" href="a>b.xsl"?><?php echo 1 ?><rss`, 1), titles: one1},
		{name: "instruction in item", in: item("<?foo bar?>" + x + "<!-- c -->"), titles: one1},
		{name: "cut in item", in: rssDoc("<item>" + x + "</item><item><title>y</title><descr")[:len(rssDoc("<item>"+x+"</item><item><title>y</title><descr"))-len("</channel></rss>")], titles: one1},
		{name: "cut in rune", in: `<rss><channel><item><title>x</title></item><item><title>при` + "\xD0", titles: one1},
		{name: "cut in reference", in: `<rss><channel><item><title>x</title></item><item><title>a &am`, titles: one1},
		{name: "cut in comment", in: `<rss><channel><item><title>x</title></item><!-- `, titles: one1},
		{name: "cut in attribute", in: `<rss><channel><item><title>x</title></item><item><enclosure url="http://e`, titles: one1},
		{name: "cut in end tag", in: `<rss><channel><item><title>x</title></item></chan`, titles: one1},
		{name: "cut in first item", in: `<rss><channel><title>t</title><item><title>x</title><link>http://e.org/1</link><desc`, code: CodeCut},
		{name: "cut atom", in: `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><title>x</title></entry><entry><id>2</id><ti`, titles: one1, id: "1"},
		{name: "cut rdf", in: `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel><title>t</title></channel><item rdf:about="http://e.org/1"><title>x</title></item><item>`, titles: one1, link: "http://e.org/1"},
		{name: "undeclared dc", in: item(x + "<dc:date>2026-05-01T10:00:00Z</dc:date><dc:creator>A</dc:creator>"), titles: one1, date: "2026-05-01T10:00:00Z"},
		{name: "undeclared content", in: item(x + "<content:encoded><![CDATA[<p>whole text</p>]]></content:encoded>"), titles: one1, text: "whole text"},
		{name: "undeclared media", in: item(x + `<media:thumbnail url="http://e.org/i.jpg"/>`), titles: one1, image: "http://e.org/i.jpg"},
		{name: "undeclared in atom", in: atomDoc(`<entry><id>1</id><title>x</title><media:group><media:description>whole text</media:description><media:thumbnail url="http://e.org/i.jpg"/></media:group></entry>`), titles: one1, text: "whole text", image: "http://e.org/i.jpg"},
		{name: "bare channel", in: `<channel><title>t</title><item>` + x + `</item></channel>`, titles: one1},
		{name: "rss without channel", in: `<rss version="2.0"><item>` + x + `</item></rss>`, titles: one1, link: "http://e.org/1"},
		{name: "rss of two items without channel", in: `<rss version="2.0"><title>t</title><item>` + x + `</item><item><title>y</title></item></rss>`, titles: []string{"x", "y"}},
		{name: "items after channel", in: `<rss><channel><title>t</title></channel><item>` + x + `</item></rss>`, titles: one1},
		{name: "items in items", in: `<rss><channel><items><item>` + x + `</item></items></channel></rss>`, titles: one1},
		{name: "prefixed atom", in: `<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:title>t</a:title><a:entry><a:id>1</a:id><a:title>x</a:title><a:link href="http://e.org/1"/><a:updated>2026-05-01T10:00:00Z</a:updated><a:summary>whole text</a:summary></a:entry></a:feed>`, titles: one1, id: "1", link: "http://e.org/1", date: "2026-05-01T10:00:00Z", text: "whole text"},
		{name: "prefixed rss", in: `<r:rss xmlns:r="http://backend.userland.com/rss2"><r:channel><r:item><r:title>x</r:title><r:link>http://e.org/1</r:link></r:item></r:channel></r:rss>`, titles: one1, link: "http://e.org/1"},
		{name: "rss 2 in a namespace", in: `<rss version="2.0" xmlns="http://backend.userland.com/rss2"><channel><item>` + x + `</item></channel></rss>`, titles: one1, link: "http://e.org/1"},
		{name: "prefixed rdf", in: `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:r="http://purl.org/rss/1.0/"><r:channel rdf:about="http://e.org/"><r:title>t</r:title></r:channel><r:item rdf:about="http://e.org/1"><r:title>x</r:title><r:link>http://e.org/1</r:link></r:item></rdf:RDF>`, titles: one1, id: "http://e.org/1", link: "http://e.org/1"},
		{name: "rss 0.90", in: `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel><title>t</title></channel><item>` + x + `</item></rdf:RDF>`, titles: one1, link: "http://e.org/1"},
		{name: "rss 0.91", in: `<rss version="0.91"><channel><title>t</title><item>` + x + `<description>whole text</description></item></channel></rss>`, titles: one1, text: "whole text"},
		{name: "rss 0.92", in: `<rss version="0.92"><channel><title>t</title><item><description>whole text</description><enclosure url="http://e.org/i.jpg" length="1" type="image/jpeg"/></item></channel></rss>`, titles: one(""), text: "whole text", image: "http://e.org/i.jpg"},
		{name: "no version", in: `<rss><channel><item>` + x + `</item></channel></rss>`, titles: one1},
		{name: "odd version", in: `<rss version="3.14"><channel><item>` + x + `</item></channel></rss>`, titles: one1},
		{name: "atom 0.3", in: `<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>t</title><entry><id>1</id><title>x</title><link rel="alternate" type="text/html" href="http://e.org/1"/><issued>2026-05-01T10:00:00Z</issued><modified>2026-05-02T10:00:00Z</modified><content type="text/html" mode="escaped">&lt;p&gt;whole text&lt;/p&gt;</content></entry></feed>`, titles: one1, link: "http://e.org/1", date: "2026-05-01T10:00:00Z", text: "whole text"},
		{name: "atom without namespace", in: `<feed><entry><id>1</id><title>x</title><link href="http://e.org/1"/></entry></feed>`, titles: one1, link: "http://e.org/1"},
		{name: "no items", in: rssDoc(""), titles: nil},
		{name: "no entries", in: atomDoc(""), titles: nil},
		{name: "closed feed", in: `<feed xmlns="http://www.w3.org/2005/Atom"/>`, titles: nil},
		{name: "closed channel", in: `<rss version="2.0"><channel/></rss>`, titles: nil},
		{name: "empty rss", in: `<rss version="2.0"></rss>`, titles: nil},
		{name: "zero bytes", in: "", code: CodeEmpty},
		{name: "mark only", in: "\uFEFF", code: CodeEmpty},
		{name: "declaration only", in: `<?xml version="1.0"?>`, code: CodeNotAFeed},
		{name: "nul only", in: "\x00\x00\x00\x00", code: CodeEmpty},
		{name: "page", in: "<!DOCTYPE html>\n<html><head><title>a</title></head><body><p>x</p></body></html>", code: CodeHTML},
		{name: "page without doctype", in: "<HTML><HEAD></HEAD><BODY>x</BODY></HTML>", code: CodeHTML},
		{name: "xhtml", in: `<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "x"><html xmlns="http://www.w3.org/1999/xhtml"><body/></html>`, code: CodeHTML},
		{name: "error page", in: "<html><head><title>503</title></head><body><center><h1>503</h1></center></body></html>", code: CodeHTML},
		{name: "opml", in: `<?xml version="1.0"?><opml version="2.0"><head/><body><outline xmlUrl="http://e.org/f"/></body></opml>`, code: CodeOPML},
		{name: "xml error", in: `<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>`, code: CodeNotAFeed},
		{name: "svg", in: `<svg xmlns="http://www.w3.org/2000/svg"><g/></svg>`, code: CodeNotAFeed},
		{name: "binary", in: "\x89PNG\r\n\x1a\n\x00\x00", code: CodeNotAFeed},
		{name: "pdf", in: "%PDF-1.4\n%\xe2\xe3\xcf\xd3", code: CodeNotAFeed},
	} {
		v.check(t)
	}
}

func TestFieldsOfEntries(t *testing.T) {
	t.Parallel()
	one1 := one("x")
	for _, v := range []variant{
		{name: "cut unclosed cdata first", in: `<rss><channel><item><title><![CDATA[x</title></item></channel></rss>`, code: CodeCut},
		{name: "br in title", in: item("<title>a<br/>b</title>"), titles: one("a b")},
		{name: "title with child", in: item("<title>a <b>b</b> c</title>"), titles: one("a b c")},
		{name: "pubdate lower", in: item("<title>x</title><pubdate>Fri, 01 May 2026 10:00:00 GMT</pubdate>"), titles: one("x"), date: "2026-05-01T10:00:00Z"},
		{name: "date element", in: item("<title>x</title><date>2026-05-01T10:00:00Z</date>"), titles: one("x"), date: "2026-05-01T10:00:00Z"},
		{name: "published in rss", in: item("<title>x</title><published>2026-05-01T10:00:00Z</published>"), titles: one("x"), date: "2026-05-01T10:00:00Z"},
		{name: "updated only", in: atomDoc("<entry><id>1</id><title>x</title><updated>2026-05-01T10:00:00Z</updated></entry>"), titles: one("x"), date: "2026-05-01T10:00:00Z"},
		{name: "bad published good updated", in: atomDoc("<entry><id>1</id><title>x</title><published>nonsense</published><updated>2026-05-01T10:00:00Z</updated></entry>"), titles: one("x"), date: "2026-05-01T10:00:00Z"},
		{name: "bad pubdate good dc", in: item("<title>x</title><pubDate>nonsense</pubDate><dc:date>2026-05-01T10:00:00Z</dc:date>"), titles: one("x"), date: "2026-05-01T10:00:00Z"},
		{name: "prefixed default ns swapped", in: `<rss version="2.0" xmlns:foo="http://purl.org/rss/1.0/modules/content/"><channel><item><title>x</title><foo:encoded>&lt;p&gt;whole text&lt;/p&gt;</foo:encoded></item></channel></rss>`, titles: one("x"), text: "whole text"},
		{name: "dcterms", in: item(`<title>x</title><dcterms:modified xmlns:dcterms="http://purl.org/dc/terms/">2026-05-01T10:00:00Z</dcterms:modified>`), titles: one("x"), date: "2026-05-01T10:00:00Z"},
		{name: "origlink declared", in: item(`<title>x</title><link>http://f.org/~r/x</link><feedburner:origLink xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0">http://e.org/1</feedburner:origLink>`), titles: one("x")},
		{name: "two rss items one broken", in: rssDoc(`<item><title>y & z</title></item><item><title>x</title><description><![CDATA[ok]]></description></item>`), titles: []string{"y & z", "x"}},
		{name: "xmlns odd", in: `<rss version="2.0" xmlns:a="" xmlns:="x"><channel><item><title>x</title></item></channel></rss>`, titles: one("x")},
		{name: "attr twice", in: `<rss version="2.0" version="2.0"><channel><item><title>x</title></item></channel></rss>`, titles: one("x")},
		{name: "no title desc", in: item("<description>whole text</description>"), titles: one(""), text: "whole text"},
		{name: "html link in rss", in: item(`<title>x</title><link>http://e.org/?a=1&amp;amp;b=2</link>`), titles: one("x"), link: "http://e.org/?a=1&b=2"},
		{name: "link spaces", in: item("<title>x</title><link>\n http://e.org/a b \n</link>"), titles: one("x"), link: "http://e.org/a%20b"},
		{name: "hrefs prefixed", in: atomDoc(`<entry><id>1</id><title>x</title><link rel="alternate" type="application/xhtml+xml" href="http://e.org/1"/></entry>`), titles: one("x"), link: "http://e.org/1"},
		{name: "atom xml content", in: atomDoc(`<entry><id>1</id><title>x</title><content type="application/xml"><doc>whole text</doc></content></entry>`), titles: one("x"), text: "whole text"},
		{name: "atom content text", in: atomDoc(`<entry><id>1</id><title>x</title><content>a &lt; b whole text</content></entry>`), titles: one("x"), text: "a < b whole text"},
		{name: "source in entry", in: atomDoc(`<entry><id>1</id><title>x</title><source><id>s</id><title>src</title><link href="http://s.org/"/></source><link href="http://e.org/1"/></entry>`), titles: one("x"), id: "1", link: "http://e.org/1"},
		{name: "permalink id", in: item(`<title>x</title><guid isPermaLink="true">http://e.org/1</guid>`), titles: one1, id: "http://e.org/1", link: "http://e.org/1"},
		{name: "id by default", in: item(`<title>x</title><guid> http://e.org/1 </guid>`), titles: one1, id: "http://e.org/1", link: "http://e.org/1"},
		{name: "id that is none", in: item(`<title>x</title><guid isPermaLink="false">http://e.org/1</guid>`), titles: one1, id: "http://e.org/1"},
		{name: "urn", in: item(`<title>x</title><guid>urn:uuid:1</guid>`), titles: one1, id: "urn:uuid:1"},
		{name: "link with atom", in: item(`<title>x</title><atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="self" href="http://e.org/s"/><link>http://e.org/1</link>`), titles: one1, link: "http://e.org/1"},
		{name: "only atom link", in: item(`<title>x</title><atom:link xmlns:atom="http://www.w3.org/2005/Atom" href="http://e.org/1"/>`), titles: one1, link: "http://e.org/1"},
		{name: "link by attribute", in: item(`<title>x</title><link href="http://e.org/1"/>`), titles: one1, link: "http://e.org/1"},
		{name: "first link empty", in: item(`<title>x</title><link/><link>http://e.org/1</link>`), titles: one1, link: "http://e.org/1"},
		{name: "relative", in: item(`<title>x</title><link>../p/1</link>`), titles: one1, link: "http://e.org/p/1"},
		{name: "root-relative", in: item(`<title>x</title><link>/p/1</link>`), titles: one1, link: "http://e.org/p/1"},
		{name: "scheme-relative", in: item(`<title>x</title><link>//b.org/1</link>`), titles: one1, link: "http://b.org/1"},
		{name: "link without scheme", in: item(`<title>x</title><link>www.e.org/1</link>`), titles: one1},
		{name: "odd schemes", in: item(`<title>x</title><link>javascript:alert(1)</link>`), titles: one1},
		{name: "base on rss", in: `<rss xml:base="http://b.org/x/"><channel><item><title>x</title><link>p/1</link></item></channel></rss>`, titles: one1, link: "http://b.org/x/p/1"},
		{name: "base nested in rss", in: `<rss xml:base="http://b.org/x/"><channel xml:base="y/"><item xml:base="z/"><title>x</title><link>1</link></item></channel></rss>`, titles: one1, link: "http://b.org/x/y/z/1"},
		{name: "base relative", in: `<rss xml:base="/y/"><channel><item><title>x</title><link>1</link></item></channel></rss>`, titles: one1, link: "http://e.org/y/1"},
		{name: "base nested in atom", in: `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://b.org/x/"><entry xml:base="y/"><id>1</id><title>x</title><link href="1.html"/></entry></feed>`, titles: one1, link: "http://b.org/x/y/1.html"},
		{name: "base on link", in: atomDoc(`<entry><id>1</id><title>x</title><link xml:base="http://b.org/q/" href="1.html"/></entry>`), titles: one1, link: "http://b.org/q/1.html"},
		{name: "base ends with entry", in: `<feed xmlns="http://www.w3.org/2005/Atom"><entry xml:base="http://b.org/x/"><id>1</id><title>x</title><link href="1"/></entry><entry><id>2</id><title>y</title><link href="/2"/></entry></feed>`, titles: []string{"x", "y"}, link: "http://b.org/x/1"},
		{name: "self first", in: atomDoc(`<entry><id>1</id><title>x</title><link rel="self" href="http://e.org/s"/><link rel="edit" href="http://e.org/e"/><link rel="alternate" type="text/html" href="http://e.org/1"/></entry>`), titles: one1, link: "http://e.org/1"},
		{name: "pdf first", in: atomDoc(`<entry><id>1</id><title>x</title><link rel="alternate" type="application/pdf" href="http://e.org/1.pdf"/><link rel="alternate" type="text/html" href="http://e.org/1"/></entry>`), titles: one1, link: "http://e.org/1"},
		{name: "replies and enclosure", in: atomDoc(`<entry><id>1</id><title>x</title><link rel="replies" href="http://e.org/r"/><link rel="enclosure" type="image/png" href="http://e.org/i.png"/><link href="http://e.org/1"/></entry>`), titles: one1, link: "http://e.org/1", image: "http://e.org/i.png"},
		{name: "long relation", in: atomDoc(`<entry><id>1</id><title>x</title><link rel="http://www.iana.org/assignments/relation/alternate" href="http://e.org/1"/></entry>`), titles: one1, link: "http://e.org/1"},
		{name: "self only", in: atomDoc(`<entry><id>http://e.org/1</id><title>x</title><link rel="self" href="http://e.org/s"/></entry>`), titles: one1, link: "http://e.org/1"},
		{name: "id only", in: atomDoc(`<entry><id>http://e.org/1</id><title>x</title></entry>`), titles: one1, link: "http://e.org/1"},
		{name: "tag id", in: atomDoc(`<entry><id>tag:e.org,2026:1</id><title>x</title></entry>`), titles: one1, id: "tag:e.org,2026:1"},
		{name: "no id", in: atomDoc(`<entry><title>x</title><link href="http://e.org/1"/></entry>`), titles: one1, link: "http://e.org/1"},
		{name: "feedburner undeclared", in: item(`<title>x</title><link>http://feedproxy.google.com/~r/a/~3/b/</link><feedburner:origLink>http://e.org/1</feedburner:origLink>`), titles: one1},
		{name: "rdf without link", in: `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"><item rdf:about='http://e.org/1'><title>x</title><dc:date>2026-05-01T10:00+02:00</dc:date></item></rdf:RDF>`, titles: one1, id: "http://e.org/1", link: "http://e.org/1", date: "2026-05-01T08:00:00Z"},
		{name: "media group", in: item(`<title>x</title><media:group xmlns:media="http://search.yahoo.com/mrss/"><media:content url="http://e.org/v.mp4" type="video/mp4"/><media:content url="http://e.org/i.jpg" medium="image"/><media:description>whole text</media:description></media:group>`), titles: one1, text: "whole text", image: "http://e.org/i.jpg"},
		{name: "media title", in: item(`<media:title xmlns:media="http://search.yahoo.com/mrss/">x</media:title>`), titles: one1},
		{name: "media group title", in: item(`<media:group xmlns:media="http://search.yahoo.com/mrss/"><media:title>x</media:title></media:group>`), titles: one1},
		{name: "other prefix for media", in: item(`<title>x</title><m:thumbnail xmlns:m="http://search.yahoo.com/mrss/" url="http://e.org/i.jpg"/>`), titles: one1, image: "http://e.org/i.jpg"},
		{name: "media without slash", in: item(`<title>x</title><media:thumbnail xmlns:media="http://search.yahoo.com/mrss" url="http://e.org/i.jpg"/>`), titles: one1, image: "http://e.org/i.jpg"},
		{name: "enclosure without type", in: item(`<title>x</title><enclosure url="http://e.org/i.jpg"/>`), titles: one1, image: "http://e.org/i.jpg"},
		{name: "picture in text", in: item(`<title>x</title><description>&lt;img src="i.jpg"&gt; whole text</description><link>http://e.org/a/1</link>`), titles: one1, image: "http://e.org/a/i.jpg", text: "whole text"},
		{name: "itunes", in: item(`<itunes:title xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">x</itunes:title><itunes:summary xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd">whole text</itunes:summary><itunes:image xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" href="http://e.org/i.jpg"/>`), titles: one1, text: "whole text", image: "http://e.org/i.jpg"},
		{name: "xhtml div", in: item(`<title>x</title><div xmlns="http://www.w3.org/1999/xhtml"><p>whole <b>text</b></p></div>`), titles: one1, text: "whole text"},
		{name: "xhtml body default namespace", in: item(`<title>x</title><body xmlns="http://www.w3.org/1999/xhtml"><p>whole text</p></body>`), titles: one1, text: "whole text"},
		{name: "xhtml prefixed", in: item(`<title>x</title><xhtml:div xmlns:xhtml="http://www.w3.org/1999/xhtml"><xhtml:p>whole text</xhtml:p></xhtml:div>`), titles: one1, text: "whole text"},
		{name: "atom xhtml", in: atomDoc(`<entry><id>1</id><title>x</title><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>whole <b>text</b></p></div></content></entry>`), titles: one1, text: "whole text"},
		{name: "atom xhtml prefixed", in: atomDoc(`<entry><id>1</id><title>x</title><content type="xhtml"><h:div xmlns:h="http://www.w3.org/1999/xhtml"><h:p>whole <h:b>text</h:b></h:p></h:div></content></entry>`), titles: one1, text: "whole text"},
		{name: "atom html", in: atomDoc(`<entry><id>1</id><title>x</title><content type="html">&lt;p&gt;whole text&lt;/p&gt;</content></entry>`), titles: one1, text: "whole text"},
		{name: "atom base64 text", in: atomDoc(`<entry><id>1</id><title>x</title><content type="application/octet-stream">d2hvbGUg
 dGV4dA==</content></entry>`), titles: one1, text: "whole text"},
		{name: "atom base64 mode", in: `<feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry><id>1</id><title>x</title><content type="text/html" mode="base64">PHA+d2hvbGUgdGV4dDwvcD4=</content></entry></feed>`, titles: one1, text: "whole text"},
		{name: "atom base64 picture", in: atomDoc(`<entry><id>1</id><title>x</title><summary>whole text</summary><content type="image/png">iVBORw0KGgo=</content></entry>`), titles: one1, text: "whole text"},
		{name: "atom svg", in: atomDoc(`<entry><id>1</id><title>x</title><summary>whole text</summary><content type="image/svg+xml"><svg xmlns="http://www.w3.org/2000/svg"><path d="M0"/></svg></content></entry>`), titles: one1, text: "whole text"},
		{name: "atom content by address", in: atomDoc(`<entry><id>1</id><title>x</title><summary>whole text</summary><content type="text/html" src="http://e.org/1"/></entry>`), titles: one1, text: "whole text", link: "http://e.org/1"},
	} {
		v.check(t)
	}
}

func TestJSONFeeds(t *testing.T) {
	t.Parallel()
	js := func(version, items string) string {
		return `{"version":"https://jsonfeed.org/version/` + version + `","title":"t","items":` + items + `}`
	}
	one1 := one("x")
	for _, v := range []variant{
		{name: "1.0", in: js("1", `[{"id":"1","url":"http://e.org/1","title":"x","content_html":"<p>whole text</p>","image":"http://e.org/i.jpg","date_published":"2026-05-01T10:00:00+03:00","author":{"name":"A"}}]`), titles: one1, id: "1", link: "http://e.org/1", text: "whole text", image: "http://e.org/i.jpg", date: "2026-05-01T07:00:00Z"},
		{name: "1.1", in: js("1.1", `[{"id":"1","title":"x","content_text":"whole text","authors":[{"name":"A"}],"language":"en"}]`), titles: one1, text: "whole text"},
		{name: "number", in: js("1", `[{"id":17.5,"title":"x"}]`), titles: one1, id: "17.5"},
		{name: "big number", in: js("1", `[{"id":12345678901234567890,"title":"x"}]`), titles: one1, id: "12345678901234567890"},
		{name: "zero", in: js("1", `[{"id":0,"title":"x"},{"id":1,"title":"y"}]`), titles: []string{"x", "y"}},
		{name: "boolean", in: js("1", `[{"id":true,"title":"x"}]`), titles: one1},
		{name: "id is an address", in: js("1", `[{"id":"http://e.org/1","title":"x"}]`), titles: one1, link: "http://e.org/1"},
		{name: "no version", in: `{"title":"t","items":[{"id":"1","title":"x"}]}`, titles: one1},
		{name: "version is a number", in: `{"version":1.1,"title":"t","items":[{"id":"1","title":"x"}]}`, titles: one1},
		{name: "text only", in: js("1.1", `[{"content_text":"whole text"}]`), titles: one(""), text: "whole text"},
		{name: "text with less-than", in: js("1.1", `[{"title":"x","content_text":"a < b and <b>c</b>"}]`), titles: one1, text: "a < b and"},
		{name: "summary only", in: js("1.1", `[{"id":"1","title":"x","summary":"whole text"}]`), titles: one1, text: "whole text"},
		{name: "no items", in: js("1.1", `[]`), titles: nil},
		{name: "items null", in: js("1.1", `null`), titles: nil},
		{name: "items missing", in: `{"version":"https://jsonfeed.org/version/1","title":"t"}`, titles: nil},
		{name: "version last", in: `{"items":[{"id":"1","title":"x"}],"title":"t","version":"https://jsonfeed.org/version/1"}`, titles: one1},
		{name: "item null", in: js("1.1", `[null,{"id":"1","title":"x"},[],"a"]`), titles: one1},
		{name: "all null", in: js("1.1", `[{"id":"1","title":"x","url":null,"image":null,"content_html":null,"authors":null,"tags":null,"attachments":null,"date_published":null}]`), titles: one1, date: "none"},
		{name: "wrong types", in: js("1.1", `[{"id":"1","title":"x","url":7,"image":[],"content_html":{},"authors":"A","tags":"a","attachments":{},"date_published":5}]`), titles: one1, date: "none"},
		{name: "author null and list", in: js("1.1", `[{"id":"1","title":"x","author":null,"authors":[null,{"name":"B"}]}]`), titles: one1},
		{name: "unix date", in: js("1.1", `[{"id":"1","title":"x","date_published":1777629600}]`), titles: one1, date: "2026-05-01T10:00:00Z"},
		{name: "title is a number", in: js("1.1", `[{"id":"1","title":42}]`), titles: one("42")},
		{name: "external", in: js("1.1", `[{"id":"1","title":"x","external_url":"http://b.org/1"}]`), titles: one1, link: "http://b.org/1"},
		{name: "relative", in: js("1.1", `[{"id":"1","title":"x","url":"/1","image":"/i.jpg"}]`), titles: one1, link: "http://e.org/1", image: "http://e.org/i.jpg"},
		{name: "mark", in: "\uFEFF" + js("1.1", `[{"id":"1","title":"x"}]`), titles: one1},
		{name: "blanks", in: "\n\n " + js("1.1", `[{"id":"1","title":"x"}]`) + "\n\n", titles: one1},
		{name: "trailing commas", in: `{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","title":"x",},],}`, titles: one1},
		{name: "junk after", in: js("1", `[{"id":"1","title":"x"}]`) + "<!-- 0.1 s -->", titles: one1},
		{name: "guard before", in: ")]}',\n" + js("1", `[{"id":"1","title":"x"}]`), titles: one1},
		{name: "lone surrogates", in: js("1", `[{"id":"1","title":"a\ud83d b \ud83d\ude00"}]`), titles: one("a\ufffd b 😀")},
		{name: "controls", in: js("1", `[{"id":"1","title":"a\u0000\u0001\u001fb\ufffe"}]`), titles: one("ab")},
		{name: "cut", in: `{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","title":"x"},{"id":"2","title":"y","tags":["a"`, titles: one1},
		{name: "duplicate ids", in: js("1", `[{"id":"1","title":"x"},{"id":"1","title":"y"}]`), titles: []string{"x", "y"}},
		{name: "error", in: `{"error":{"code":404,"message":"no"}}`, code: CodeJSONError},
		{name: "problem", in: `{"type":"about:blank","title":"Not Found","status":404}`, code: CodeJSONError},
		{name: "message", in: `{"message":"Too many requests"}`, code: CodeJSONError},
		{name: "list", in: `[{"id":1}]`, code: CodeNotAFeed},
		{name: "empty object", in: `{}`, code: CodeNotAFeed},
		{name: "string", in: `"x"`, code: CodeNotAFeed},
	} {
		v.check(t)
	}
}

func TestDepthAndPackedFiles(t *testing.T) {
	t.Parallel()
	nest := func(n int) string {
		return item("<title>x</title><a:b>" + strings.Repeat("<a:b>", n) + strings.Repeat("</a:b>", n) + "</a:b>")
	}
	gz := func(s string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write([]byte(s))
		_ = w.Close()
		return b.String()
	}
	zl := func(s string) string {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		_, _ = w.Write([]byte(s))
		_ = w.Close()
		return b.String()
	}
	raw := func(s string) string {
		var b bytes.Buffer
		w, _ := flate.NewWriter(&b, 6)
		_, _ = w.Write([]byte(s))
		_ = w.Close()
		return b.String()
	}
	whole := item("<title>Café</title>")
	for _, v := range []variant{
		{name: "95 deep", in: nest(95), titles: one("x")},
		{name: "120 deep", in: nest(120), code: CodeTooDeep},
		{name: "100,000 deep", in: nest(100_000), code: CodeTooDeep},
		{name: "deep atom", in: atomDoc("<entry>" + strings.Repeat("<x>", 200)), code: CodeTooDeep},
		{name: "deep before root", in: strings.Repeat("<x>", 200) + whole, titles: one("Café")},
		{name: "deep and packed", in: gz(nest(100_000)), code: CodeTooDeep},
		{name: "deep xhtml", in: atomDoc(`<entry><id>1</id><title>x</title><content type="xhtml">` + strings.Repeat("<div>", 300) + strings.Repeat("</div>", 300) + "</content></entry>"), code: CodeTooDeep},
		{name: "gzip", in: gz(whole), titles: one("Café")},
		{name: "gzip twice", in: gz(gz(whole)), titles: one("Café")},
		{name: "mark in gzip", in: gz("\uFEFF" + whole), titles: one("Café")},
		{name: "json in gzip", in: gz(`{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","title":"x"}]}`), titles: one("x")},
		{name: "gzip of two members", in: gz(whole[:60]) + gz(whole[60:]), titles: one("Café")},
		{name: "gzip with junk after", in: gz(whole) + "junk", titles: one("Café")},
		{name: "gzip cut", in: gz(whole)[:len(gz(whole))-6], titles: one("Café")},
		{name: "zlib", in: zl(whole), titles: one("Café")},
		{name: "deflate", in: raw(whole), titles: one("Café")},
		{name: "gzip of a page", in: gz("<!doctype html><p>x"), code: CodeHTML},
		{name: "gzip of nothing", in: gz(""), code: CodeEmpty},
	} {
		v.check(t)
	}
}
