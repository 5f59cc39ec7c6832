package decode

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

func testNow() time.Time { return time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC) }

func read(t testing.TB, body string) (*Document, error) {
	t.Helper()
	return Decode(t.Context(), Input{Body: []byte(body), URL: "http://e.org/dir/feed.xml", Now: testNow()})
}

// rssDoc wraps items into a channel.
func rssDoc(items string) string {
	return `<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>t</title><link>http://e.org/</link>` + items + `</channel></rss>`
}

func titles(d *Document) []string {
	var out []string
	for _, e := range d.Entries {
		out = append(out, e.Title)
	}
	return out
}

func TestBrokenMarkupIsMended(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in   string
		want []string
	}{
		"lone less-than":                {rssDoc(`<item><title>a < b</title></item><item><title>c</title></item>`), []string{"a < b", "c"}},
		"html inside description":       {rssDoc(`<item><title>x</title><description><p>one<br>two <img src=/a/b.jpg alt="q"></description></item><item><title>y</title></item>`), []string{"x", "y"}},
		"stray end tag":                 {rssDoc(`<item><title>x</title></b></p></item><item><title>y</title></item>`), []string{"x", "y"}},
		"unclosed item":                 {rssDoc(`<item><title>x</title><item><title>y</title></item>`), []string{"x", "y"}},
		"unclosed inline":               {rssDoc(`<item><title>x</title><description><b>bo<i>ld</description></item><item><title>y</title></item>`), []string{"x", "y"}},
		"cdata end in text":             {rssDoc(`<item><title>x ]]> z</title></item>`), []string{"x ]]> z"}},
		"comment with dashes":           {rssDoc(`<!-- a -- b --><item><title>x</title></item>`), []string{"x"}},
		"unquoted attribute":            {rssDoc(`<item><title>x</title><enclosure url=http://e.org/a.mp3 type=audio/mpeg /></item>`), []string{"x"}},
		"less-than in attribute":        {rssDoc(`<item><title>x</title><enclosure url="http://e.org/?a<b" /></item>`), []string{"x"}},
		"bad name":                      {rssDoc(`<item><title>x</title><a:b:c>z</a:b:c></item>`), []string{"x"}},
		"missing end of root":           {strings.TrimSuffix(rssDoc(`<item><title>x</title></item>`), "</channel></rss>"), []string{"x"}},
		"torn in the second":            {rssDoc(`<item><title>x</title></item>`)[:len(rssDoc(`<item><title>x</title></item>`))-len("</channel></rss>")] + `<item><title>y</ti`, []string{"x"}},
		"torn in cdata":                 {`<rss><channel><item><title>x</title></item><item><title><![CDATA[y`, []string{"x"}},
		"junk after":                    {rssDoc(`<item><title>x</title></item>`) + "<script>x</script>\x00garbage <", []string{"x"}},
		"doctype of a page before":      {`<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://e.invalid/">` + rssDoc(`<item><title>x</title></item>`)[38:], []string{"x"}},
		"feed wrapped in a page":        {`<html><body><feed xmlns="http://www.w3.org/2005/Atom"><title>t</title><entry><id>1</id><title>x</title></entry></feed></body></html>`, []string{"x"}},
		"one entry alone":               {`<?xml version="1.0"?><entry xmlns="http://www.w3.org/2005/Atom"><id>1</id><title>x</title></entry>`, []string{"x"}},
		"unclosed element of channel":   {rssDoc(`<x:category text="a"><x:category text="b"/><item><title>x</title></item><item><title>y</title></item>`), []string{"x", "y"}},
		"warning before":                {"<br />\n<b>Warning</b>: x in /y.php on line <b>3</b><br />\n" + rssDoc(`<item><title>x</title></item>`), []string{"x"}},
		"upper-case elements":           {`<RSS version="2.0"><CHANNEL><ITEM><TITLE>x</TITLE></ITEM></CHANNEL></RSS>`, []string{"x"}},
		"item beside channel":           {`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel/><item><title>x</title></item></rdf:RDF>`, []string{"x"}},
		"doctype with quotes":           {`<!DOCTYPE rss [<!ENTITY a "x>]y">]>` + rssDoc(`<item><title>x</title></item>`), []string{"x"}},
		"long doctype before root":      {`<?xml version="1.0"?><!-- ` + strings.Repeat("x", 6000) + ` -->` + `<rss><channel><item><title>x</title></item></channel></rss>`, []string{"x"}},
		"html5 named entities":          {rssDoc(`<item><title>a&nbsp;b&mdash;c &unknown; d & e</title></item>`), []string{"a\u00a0b—c &unknown; d & e"}},
		"illegal reference in attr":     {rssDoc(`<item><title>x</title><enclosure url="http://e.org/&#11;a"/></item>`), []string{"x"}},
		"attribute quote never closed":  {rssDoc(`<item><title>x</title><description><a href="http://e.org/>z</a></description></item><item><title>y</title></item>`), []string{"x", "y"}},
		"non-character":                 {rssDoc("<item><title>a\uFFFEb</title></item>"), []string{"ab"}},
		"json feed over 4 kB":           {`{"version":"https://jsonfeed.org/version/1","title":"` + strings.Repeat("t", 5000) + `","items":[{"id":"1","title":"x"}]}`, []string{"x"}},
		"json control characters":       {"{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{\"id\":\"1\",\"title\":\"a\nb\\u0000\"}]}", []string{"a b"}},
		"json torn":                     {`{"version":"https://jsonfeed.org/version/1","items":[{"id":"1","title":"x"},{"id":"2","ti`, []string{"x"}},
		"json with one item of rubbish": {`{"version":"https://jsonfeed.org/version/1","items":[7,{"id":"1","title":"x"}]}`, []string{"x"}},
	} {
		doc, err := read(t, tc.in)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(tc.want, titles(doc)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestCutDocumentsSaySo(t *testing.T) {
	t.Parallel()
	doc, err := read(t, `<rss><channel><item><title>x</title></item><item><title>`)
	if err != nil || !doc.Cut {
		t.Errorf("cut document: %v %v", doc, err)
	}
	doc, err = read(t, rssDoc(`<item><title>x</title></item>`))
	if err != nil || doc.Cut || len(doc.Repairs) > 0 {
		t.Errorf("whole document: %+v %v", doc, err)
	}
}

func TestWhatIsNoFeedIsNamed(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Code{
		"":                                     CodeEmpty,
		" \n":                                  CodeEmpty,
		"<!doctype html><rss></rss>":           CodeHTML,
		"<html><body><rss/></body></html>":     CodeHTML,
		"<opml><body/></opml>":                 CodeOPML,
		`{"error":"rate limited","code":429}`:  CodeJSONError,
		`{"error":"x","items":null}`:           CodeJSONError,
		`{"items":[]}`:                         CodeNotAFeed,
		`[1,2]`:                                CodeNotAFeed,
		"<error>no</error>":                    CodeNotAFeed,
		"plain text":                           CodeNotAFeed,
		"<rss><channel><item><title><![CDATA[": CodeCut,
		`<rss><channel><title>undefined</title></channel></rss>`:                                                CodeBridge,
		`<rss><channel><item><title>Bridge returned error 0! (19876)</title></item></channel></rss>`:            CodeBridge,
		"<rss><channel>" + strings.Repeat("<a>", 200) + strings.Repeat("</a>", 200) + "</channel></rss>":        CodeTooDeep,
		"<rss><channel><item>" + strings.Repeat("<a:b/>", maxElements+1) + "</item></channel></rss>":            CodeTooComplex,
		"<rss><channel><item><a " + strings.Repeat("b='' ", maxAttrs+1) + "/></item></channel></rss>":           CodeTooComplex,
		"<feed xmlns='http://www.w3.org/2005/Atom'>" + strings.Repeat("<x:a xmlns:x='y'/>", 20_001) + "</feed>": CodeTooComplex,
	} {
		doc, err := read(t, in)
		var e *Error
		if !errors.As(err, &e) || e.Code != want {
			t.Errorf("%.60q: %v %v, want %s", in, doc, err, want)
		}
	}
}

func TestUnlabelledTextOfEastAsiaIsRecognised(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		e    encoding.Encoding
		text string
	}{
		"euc-jp":    {japanese.EUCJP, "今年もよろしくお願いします。新しい記事を書きました"},
		"shift_jis": {japanese.ShiftJIS, "今年もよろしくお願いします。新しい記事を書きました"},
		"euc-kr":    {korean.EUCKR, "새해 복 많이 받으세요 오늘의 뉴스 제목"},
		"gb18030":   {simplifiedchinese.GB18030, "中国的新闻和我们的生活是在这里的"},
		"big5":      {traditionalchinese.Big5, "中國的新聞和我們的生活是在這裡的"},
		"koi8-r":    {charmap.KOI8R, "Как пережить новогоднюю ночь и остаться довольным"},
		"latin":     {charmap.Windows1252, "Überraschung für die Stadträte: größere Straßen, schönere Häuser, Café"},
	} {
		in, err := tc.e.NewEncoder().String(rssDoc("<item><title>" + tc.text + "</title></item>")[38:])
		if err != nil {
			t.Fatal(err)
		}
		if d, err := read(t, in); err != nil || d.Entries[0].Title != tc.text {
			t.Errorf("%s: %+v %v", name, d, err)
		}
	}
}

func TestCharsetMatrix(t *testing.T) {
	t.Parallel()
	const text = "Привет, это сводка новостей за понедельник"
	cp1251, err := charmap.Windows1251.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	koi, err := charmap.KOI8R.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	var utf16le, utf32le bytes.Buffer
	whole := `<rss><channel><item><title>` + text + `</title></item></channel></rss>`
	for _, u := range utf16.Encode([]rune(whole)) {
		utf16le.Write([]byte{byte(u), byte(u >> 8)})
	}
	for _, r := range whole {
		utf32le.Write([]byte{byte(r), byte(r >> 8), 0, 0})
	}
	bodies := map[string][]byte{"utf16le": utf16le.Bytes(), "utf32le": utf32le.Bytes()}
	for label, title := range map[string]string{"cp1251": cp1251, "koi": koi, "utf8": text} {
		for _, decl := range []string{"", "utf-8", "windows-1251", "koi8-r", "utf8mb4", "iso-8859-1"} {
			if label == "koi" && decl == "windows-1251" || label == "cp1251" && (decl == "koi8-r" || decl == "iso-8859-1") || label == "koi" && decl == "iso-8859-1" {
				continue // a label that lies about single bytes cannot be told from one that does not
			}
			enc := ""
			if decl != "" {
				enc = ` encoding="` + decl + `"`
			}
			bodies[label+" declared "+decl] = []byte(`<?xml version="1.0"` + enc + `?><rss><channel><item><title>` + title + `</title></item></channel></rss>`)
		}
	}
	for name, body := range bodies {
		for _, header := range []string{"", "text/xml", "text/xml; charset=utf-8; charset=utf-8", "text/xml; charset=utf8mb4"} {
			doc, err := Decode(t.Context(), Input{Body: body, ContentType: header, Now: testNow()})
			if err != nil || doc.Entries[0].Title != text {
				t.Errorf("%s, header %q: %v %v", name, header, doc, err)
			}
		}
	}
	doc, err := Decode(t.Context(), Input{Body: []byte(`<?xml version="1.0" encoding="utf-8"?><rss><channel><item><title>` + cp1251 + `</title></item></channel></rss>`), ContentType: "text/xml; charset=windows-1251", Now: testNow()})
	if err != nil || doc.Entries[0].Title != text {
		t.Errorf("header wins over a label that lies: %v %v", doc, err)
	}
}

func TestEntriesAreFilled(t *testing.T) {
	t.Parallel()
	doc, err := read(t, rssDoc(`<item><title>a</title><link>/p/1?x=1&amp;y=2</link><guid isPermaLink="false"> id&amp;#038;1 </guid><pubDate>Sun, 03 May 2026 10:00:00 MSK</pubDate>
<description>&lt;p&gt;text &lt;img src="/i.jpg"&gt;&lt;/p&gt;</description><enclosure url="/a.mp3" type="audio/mpeg"/></item>
<item><title>b</title><pubDate>Thu, 01 Jan 2099 00:00:00 GMT</pubDate><guid>http://e.org/b</guid></item>`))
	if err != nil {
		t.Fatal(err)
	}
	a, b := doc.Entries[0], doc.Entries[1]
	got := []string{a.Link, a.ID, a.Published.Format(time.RFC3339), a.Text(), a.Picture(), a.Enclosure, b.Link}
	want := []string{"http://e.org/p/1?x=1&y=2", "id&1", "2026-05-03T07:00:00Z", "text", "http://e.org/i.jpg", "http://e.org/a.mp3", "http://e.org/b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !b.Published.IsZero() {
		t.Errorf("date far ahead is believed: %v", b.Published)
	}
	if !slices.Contains(doc.Repairs, "relative links") || !slices.Contains(doc.Repairs, "absurd dates ignored") {
		t.Errorf("repairs = %v", doc.Repairs)
	}
}

// hostile documents: each must end within the budget, and cost at most 64 MB
// above its own size.
func TestHostileDocumentsAreBounded(t *testing.T) {
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	if _, err := z.Write(bytes.Repeat([]byte("<a>"), 20<<20/3)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	fill := func(s string) string { return strings.Repeat(s, MaxBytes/len(s)-40) }
	for name, body := range map[string]string{
		"nested":              "<rss><channel><item>" + fill("<a>"),
		"gzip bomb":           gz.String(),
		"empty extensions":    rssDoc("<item>" + fill("<a:b/>") + "</item>"),
		"just enough of them": rssDoc("<item>" + strings.Repeat("<a:b c='d'/>", 115_000) + "</item>"),
		"cdata in extension":  rssDoc("<item><a:b>" + fill("<![CDATA[xxxxxxxxxxxxxxxxxxxxxxxxxxxx]]>y") + "</a:b></item>"),
		"comments":            rssDoc("<item><a:b>" + fill("x<!---->") + "</a:b></item>"),
		"empty items":         rssDoc(fill("<item/>")),
		"open items":          "<rss><channel>" + fill("<item>"),
		"ampersands":          rssDoc("<item><title>" + fill("&") + "</title></item>"),
		"lone less-thans":     rssDoc("<item><title>" + fill("< ") + "</title></item>"),
		"less-thans only":     "<rss>" + fill("<"),
		"end tags":            rssDoc(fill("</x>")),
		"unclosed quotes":     rssDoc(fill(`<a b="`)),
		"namespaces":          rssDoc("<item>" + strings.Repeat("<a xmlns:b='c' xmlns:d='e' xmlns:f='g'>", 90) + strings.Repeat("<q xmlns:z='y'/>", 19_000) + strings.Repeat("</a>", 90) + "</item>"),
		"json arrays":         `{"version":"https://jsonfeed.org/version/1","items":[` + fill("1,") + `1]}`,
		"json nested":         `{"version":"https://jsonfeed.org/version/1","x":` + fill("["),
		"json items":          `{"version":"https://jsonfeed.org/version/1","items":[` + fill(`{"id":1},`) + `{}]}`,
		"json without commas": `{"version":"https://jsonfeed.org/version/1","items":[` + fill(`{"id":1} `) + `]}`,
		"json comments":       `{"items":[` + fill(`/*"*/ // {`+"\n"),
		"json commas":         `{"items":[` + fill(` ,`),
		"json torn":           `[` + fill(`{"url":"http://e.org/`),
		"calls":               fill("a("),
		"calls of an object":  "a({" + fill("/**/"),
		"turns of formats":    "<rss " + strings.Repeat("a='"+strings.Repeat("x", 1000)+"' ", 1000) + "><channel>" + strings.Repeat("<item/><entry/>", 5000) + "</channel></rss>",
		"formats in tatters":  rssDoc(strings.Repeat("<item><title>x</title><guid>1</guid></item><entry><title>x</title><é\x7f/></entry>", 5000)),
		"links":               rssDoc(fill("<item><link>" + strings.Repeat("http://", 20) + "</link></item>")),
		"html":                rssDoc("<item><title>x</title><description>" + fill("&lt;b&gt;") + "</description></item>"),
		"doctype":             "<!DOCTYPE rss [" + fill("<!ENTITY a 'b'>"),
		"bad entries":         rssDoc(fill("<item><title>x</title><é\x7f a='b'/></item>")),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), Budget)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		peak := watchHeap(func() {
			doc, err := Decode(ctx, Input{Body: []byte(body), URL: "http://e.org/", Now: testNow()})
			if err == nil {
				for i := range doc.Entries[:min(len(doc.Entries), 50)] {
					_ = doc.Entries[i].Text()
				}
			}
		})
		took := time.Since(start)
		cancel()
		runtime.ReadMemStats(&after)
		over := (int64(peak) - int64(before.HeapAlloc)) >> 20
		t.Logf("%-20s %6.2f s, %4d MB above", name, took.Seconds(), over)
		if took > Budget+3*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		if over > 64+MaxBytes>>20 {
			t.Errorf("%s took %d MB", name, over)
		}
	}
}

// watchHeap runs f and returns the largest live heap seen meanwhile. It
// collects garbage aggressively, so that what counts is what must be kept.
func watchHeap(f func()) uint64 {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	var peak uint64
	for {
		select {
		case <-done:
			return peak
		case <-time.After(5 * time.Millisecond):
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(rssDoc(`<item><title>a < b</title><description><p>x<br></description><enclosure url=x /></item>`)), "text/xml")
	f.Add([]byte(`<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><title type="html">&lt;b&gt;</title><link href="/x"/></entry></feed>`), "")
	f.Add([]byte(`{"version":"https://jsonfeed.org/version/1","items":[{"id":1,"title":"x","author":"B"},]}`), "application/json")
	f.Add([]byte(`<rdf:RDF><item rdf:about="x"><title>`), "text/xml; charset=windows-1251")
	f.Add([]byte("\xff\xfe<\x00r\x00s\x00s\x00>\x00"), "")
	f.Add([]byte(`/**/ typeof cb === 'function' && cb([{"url":"http://e.org/1","title":"x","content_text":"y",} // z
{"url":"\u00e9"}]);`), "")
	f.Add([]byte(")]}'\nvar a = {\"items\":[,{\"id\":\"\\x\"}"), "")
	f.Add([]byte(`<rss xmlns="http://www.w3.org/2005/Atom" xmlns:m=x/><channel><entry><id>1</id></entry><item><![cdata[x]]></item></channel></rss>`), "")
	f.Add([]byte(`<feed xmlns="https://www.w3.org/2005/atom/"><item><link>http//e.org\1%</link><guid>1</guid></item><entry/></feed>`), "")
	f.Add([]byte("<rss><channel><item><title>\xED\xA0\xBD\xED\xB8\x80</title></item>"), "")
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		if len(body) > 1<<16 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		doc, err := Decode(ctx, Input{Body: body, ContentType: contentType, URL: "http://e.org/", Now: testNow()})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Code == CodeTimeout {
				t.Fatalf("%v", err)
			}
			return
		}
		for _, e := range doc.Entries {
			if s := fmt.Sprint(e.Title, e.ID, e.Text(), e.Link, e.Picture(), e.Author, e.Enclosure); strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
				t.Errorf("NUL or half a character in %q", s)
			}
		}
	})
}

func FuzzToUTF8(f *testing.F) {
	f.Add([]byte("\xff\xfe<\x00"), "text/xml; charset=utf-16")
	f.Add([]byte("<?xml encoding='koi8-r'?>\xf0\xd2\xc9"), "")
	f.Fuzz(func(t *testing.T, b []byte, contentType string) {
		out, _ := ToUTF8(b, contentType)
		if !bytes.Equal(out, bytes.ToValidUTF8(out, []byte("?"))) {
			t.Errorf("%q is not UTF-8: %q", b, out)
		}
	})
}
