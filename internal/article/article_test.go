package article

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestTextReadsHTMLAsAPersonWould(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"paragraphs":          {"<p>One</p><p>Two</p>", "One\n\nTwo"},
		"line breaks":         {"a<br>b<br><br>c", "a\nb\n\nc"},
		"list":                {"<ul><li>one</li><li> two </li></ul>end", "• one\n• two\n\nend"},
		"table of reddit":     {"<table><tr><td><a href='x'>img</a></td><td>text</td></tr></table>", "img\ntext"},
		"script and style":    {"x<script>alert('<p>')</script><style>p{}</style>y", "xy"},
		"entities once":       {"AT&amp;T &amp;lt;b&gt;", "AT&T &lt;b>"},
		"inline keeps joined": {"<b>bo</b>ld <i>it</i> end", "bold it end"},
		"plain paragraphs":    {"one\n\n two  three\nfour", "one\n\ntwo three\nfour"},
		"controls":            {"a\x00b\u200bc\u202ed", "abcd"},
		"pre keeps lines":     {"<pre>a\n  b</pre>", "a\n  b"},
		"unclosed tag":        {"<p>a <b>b", "a b"},
		"nested skipped":      {"<form><form>a</form>b</form>c", "c"},
	} {
		if got := Text(tc.in, 0); got != tc.want {
			t.Errorf("%s: Text(%q) = %q, want %q", name, tc.in, got, tc.want)
		}
	}
	if got := Text(strings.Repeat("слово ", 100), 50); utf8.RuneCountInString(got) > 50 || !strings.HasSuffix(got, "слово…") {
		t.Errorf("cut text = %q", got)
	}
}

func TestTitleIsPlainText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"AT&amp;T &lt;b&gt;big&lt;/b&gt;": "AT&T big",
		"Vec<T> in Rust":                  "Vec<T> in Rust",
		"a < b && c > d":                  "a < b && c > d",
		"<i>Nature</i>: one\n two":        "Nature: one two",
		"&#1055;&#1088;&nbsp;x":           "Пр\u00a0x",
		"Q&amp;amp;A":                     "Q&A",
		"a\x00b":                          "ab",
	} {
		if got := Title(in); got != want {
			t.Errorf("Title(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCanonicalUnifiesSpellingsOfOnePage(t *testing.T) {
	t.Parallel()
	same := [][]string{
		{
			"http://www.example.org/a/b/", "https://example.org/a/b", "https://EXAMPLE.org:443/a/b#x", "https://m.example.org/a/b?utm_source=x",
			"https://example.org/a/b/amp/", "https://example.org/a/b?fbclid=1&gclid=2", "https://example.org/a/b?amp=1", "//example.org/a/b",
		},
		{"http://example.org/s?id=100&utm_source=rss0#at_medium=RSS0", "http://example.org/s?id=100&fbclid=2"},
		{"http://example.org/s?a=1&b=2", "https://example.org/s?b=2&a=1&"},
		{"http://пример.рф/путь", "http://xn--e1afmkfd.xn--p1ai/%D0%BF%D1%83%D1%82%D1%8C", "http://пример.рф/%d0%bf%d1%83%d1%82%d1%8c"},
		{"http://example.org/x;jsessionid=ABC", "http://example.org/x"},
		{"http://example.org/y?from=rss", "http://example.org/y"},
		{"http://example.org/z.amp.html", "http://example.org/z.html"},
		{"http://example.org/~u", "http://example.org/%7Eu"},
	}
	seen := map[string]int{}
	for i, group := range same {
		for _, a := range group {
			if got, want := Canonical(a), Canonical(group[0]); got != want || got == "" {
				t.Errorf("Canonical(%q) = %q, want %q", a, got, want)
			}
		}
		seen[Canonical(group[0])] = i
	}
	if len(seen) != len(same) {
		t.Errorf("groups fall together: %v", seen)
	}
}

func TestCanonicalKeepsPagesApart(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"http://e.org/s?id=1", "http://e.org/s?id=2"},
		{"http://e.org/A", "http://e.org/a"},
		{"http://e.org/x?from=2024", "http://e.org/x?from=2025"},
		{"http://e.org:8080/x", "http://e.org/x"},
		{"http://e.org/#!/1", "http://e.org/#!/2"},
		{"http://m.com/x", "http://e.com/x"},
	} {
		if Canonical(pair[0]) == Canonical(pair[1]) {
			t.Errorf("%q and %q are one page: %q", pair[0], pair[1], Canonical(pair[0]))
		}
	}
	for _, bad := range []string{"", "mailto:a@b", "ftp://x/y", "/path", "http://", "javascript:alert(1)", "tag:e.org,2024:1", "happ://x"} {
		if got := Canonical(bad); got != "" {
			t.Errorf("Canonical(%q) = %q, want none", bad, got)
		}
	}
}

func TestIsHome(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]bool{
		"https://www.example.org/": true, "http://example.org": true, "http://example.org/?utm_source=rss": true,
		"http://example.org/a": false, "http://example.org/?p=7": false, "": false,
	} {
		if got := IsHome(in); got != want {
			t.Errorf("IsHome(%q) = %v", in, got)
		}
	}
}

func TestCleanURLStaysFetchable(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://e.org/a?utm_source=x&b=2#sec": "https://e.org/a?b=2#sec",
		"http://u:p@e.org/a":                   "http://e.org/a",
		" http://e.org/a b ":                   "http://e.org/a%20b",
		"javascript:x":                         "",
	} {
		if got := CleanURL(in); got != want {
			t.Errorf("CleanURL(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFirstImagePassesOverPixels(t *testing.T) {
	t.Parallel()
	in := `<img src="https://pixel.wp.com/b.gif"><img width=1 src="/p.gif"><img src="data:image/gif;base64,xx" data-src="/real.jpg">`
	if got := FirstImage(in, "https://e.org/a/"); got != "https://e.org/real.jpg" {
		t.Errorf("FirstImage = %q", got)
	}
}

func TestExtractReadsTheArticle(t *testing.T) {
	t.Parallel()
	para := "<p>" + strings.Repeat("The harbour bridge reopened to traffic on Monday, officials said, after a long repair. ", 6) + "</p>"
	page := `<html lang="en"><head><title>Bridge reopens</title><link rel="canonical" href="/bridge"></head><body><nav><a href="/">Home</a></nav><article><h1>Bridge reopens</h1>` + strings.Repeat(para, 4) + `</article><footer>Imprint</footer></body></html>`
	got, err := Extract([]byte(page), "https://e.org/x?utm_source=rss")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Bridge reopens", "https://e.org/bridge", "en"}, []string{got.Title, got.Canonical, got.Language}); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(got.Text, "The harbour bridge") && !strings.HasPrefix(got.Text, "Bridge reopens") || strings.Contains(got.Text, "Imprint") {
		t.Errorf("text = %.200q", got.Text)
	}
	if _, err := Extract([]byte(strings.Repeat("<div>", 100000)), "https://e.org/"); err == nil {
		t.Error("a page without text gave an article")
	}
}

func FuzzText(f *testing.F) {
	f.Add("<p>a<br>b</p>")
	f.Add("<li>&amp;<script>")
	f.Fuzz(func(t *testing.T, s string) {
		if got := Text(s, 100); utf8.RuneCountInString(got) > 100 || !utf8.ValidString(got) {
			t.Errorf("Text(%q) = %q", s, got)
		}
		Title(s)
		FirstImage(s, "http://e.org/")
	})
}

func FuzzCanonical(f *testing.F) {
	f.Add("https://www.example.org:443/a/?utm_source=x#y")
	f.Add("http://пример.рф/%zz")
	f.Add("//www..0")
	f.Fuzz(func(t *testing.T, s string) {
		if c := Canonical(s); c != "" && len(c) < 4000 { // escapes can make it longer than what is read again
			if again := Canonical("http://" + c); again != c {
				t.Errorf("Canonical(%q) = %q, and again %q", s, c, again)
			}
		}
	})
}
