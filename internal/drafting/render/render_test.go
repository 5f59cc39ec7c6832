package render

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

func template() Template {
	return Template{LinkStyle: "title", AlsoLabel: "Also: ", Footer: `Follow <a href="https://t.me/demo">demo</a> & friends`}
}

func TestLayPutsTheLinkWhereTheChannelWantsIt(t *testing.T) {
	t.Parallel()
	post := Post{Headline: "Rocket <flies> & lands", Body: []string{"It flew.", "It landed."}, Link: "https://www.example.org/a?x=1&y=2", Tags: []string{"space flight"}}
	for style, want := range map[string]string{
		"title":  `<b><a href="https://www.example.org/a?x=1&amp;y=2">Rocket &lt;flies&gt; &amp; lands</a></b>` + "\n\nIt flew.\n\nIt landed.\n\n#space_flight",
		"bottom": "<b>Rocket &lt;flies&gt; &amp; lands</b>\n\nIt flew.\n\nIt landed.\n\n" + `<a href="https://www.example.org/a?x=1&amp;y=2">example.org</a>` + "\n\n#space_flight",
		"none":   "<b>Rocket &lt;flies&gt; &amp; lands</b>\n\nIt flew.\n\nIt landed.\n\n#space_flight",
	} {
		if d := cmp.Diff(want, HTML(Lay(post, Template{LinkStyle: style}))); d != "" {
			t.Errorf("%s: %s", style, d)
		}
	}
}

func TestLayAddsSourcesAndFooter(t *testing.T) {
	t.Parallel()
	got := HTML(Lay(Post{Headline: "H", Also: []Also{{"BBC", "https://bbc.example/1"}, {"bad", "javascript:alert(1)"}}}, template()))
	want := "<b>H</b>\n\nAlso: " + `<a href="https://bbc.example/1">BBC</a>` + "\n\n" + `Follow <a href="https://t.me/demo">demo</a> &amp; friends`
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestLayAlwaysFits(t *testing.T) {
	t.Parallel()
	for name, body := range map[string][]string{
		"many sentences":     {strings.Repeat("Это предложение о ракете. ", 600)},
		"many paragraphs":    strings.Split(strings.Repeat("One more.\n", 900), "\n"),
		"one endless word":   {strings.Repeat("x", 20000)},
		"one endless symbol": {strings.Repeat("🚀", 9000)},
		"no sentence end":    {strings.Repeat("word and ", 2000)},
	} {
		for _, limit := range []int{TextLimit, CaptionLimit} {
			tmpl := template()
			tmpl.Limit = limit
			nodes := Lay(Post{Headline: strings.Repeat("Long headline ", 40), Body: body, Link: "https://e.org/"}, tmpl)
			units := len(utf16.Encode([]rune(Text(nodes))))
			if units != Units(nodes) || units > limit || units < limit/3 {
				t.Errorf("%s at %d: %d units, Units says %d", name, limit, units, Units(nodes))
			}
			if !strings.HasSuffix(HTML(nodes), "friends") {
				t.Errorf("%s at %d: the footer is gone", name, limit)
			}
		}
	}
}

func TestCleanRemovesWhatNobodySees(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\u200bb\u2060c\ufeffd":              "abcd",
		"pay\u202egnp.exe\u202c now":          "paygnp.exe now",
		"tag\U000E0041\U000E0042s":            "tags",
		"soft\u00adhyphen":                    "softhyphen",
		"family 👩\u200d👩\u200d👧 stays":        "family 👩\u200d👩\u200d👧 stays",
		"heart ❤️ stays":                      "heart ❤️ stays",
		"z\u0300\u0301\u0302\u0303\u0304algo": "z\u0300\u0301\u0302algo",
		"a\r\n\r\n\r\n b\u00a0 c\x00":         "a\n\nb c",
		"hangul\u3164filler":                  "hangulfiller",
		"bad\xff\xfebytes":                    "badbytes",
		"line\u2028sep":                       "line\nsep",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestParseAcceptsTelegramsSpellingsAndNothingElse(t *testing.T) {
	t.Parallel()
	nodes, err := Parse(`<strong>b</strong><em>i</em> <span class="tg-spoiler">s</span> a &lt; b &amp;amp; &nbsp; &#65;<a href='https://e.org/?a=1&amp;b=2'>x</a>`)
	if err != nil {
		t.Fatal(err)
	}
	want := `<b>b</b><i>i</i> <tg-spoiler>s</tg-spoiler> a &lt; b &amp;amp; &amp;nbsp; A<a href="https://e.org/?a=1&amp;b=2">x</a>`
	if d := cmp.Diff(want, HTML(nodes)); d != "" {
		t.Error(d)
	}
	for _, bad := range []string{
		"<script>x</script>", "<b>open", "</b>", "<b><i>x</b></i>", `<a href="javascript:x">y</a>`, `<a href="https://e.org" onclick="x">y</a>`,
		`<a href=https://e.org>y</a>`, "<img src=x>", "a < b", `<span class="x">y</span>`, `<a href="https://user@e.org/">y</a>`, strings.Repeat("<b>", 100),
	} {
		var syntax *SyntaxError
		if _, err := Parse(bad); !errors.As(err, &syntax) {
			t.Errorf("Parse(%q) = %v, want a SyntaxError", bad, err)
		}
	}
}

func TestHashSeesEveryPart(t *testing.T) {
	t.Parallel()
	base := Hash("ab", "c", "d")
	for _, other := range [][3]string{{"a", "bc", "d"}, {"ab", "cd", ""}, {"ab", "c", "e"}, {"", "abc", "d"}} {
		if bytes.Equal(base, Hash(other[0], other[1], other[2])) {
			t.Errorf("%q has the hash of another revision", other)
		}
	}
}

func FuzzWhatIsRenderedParsesBackToTheSameText(f *testing.F) {
	f.Add("Head <b>", "Body & more &lt;", "https://e.org/<\">", "foot <i>x</i>")
	f.Fuzz(func(t *testing.T, head, body, link, foot string) {
		nodes := Lay(Post{Headline: head, Body: []string{body}, Link: link, Tags: []string{head}}, Template{LinkStyle: "title", Footer: foot})
		back, err := Parse(HTML(nodes))
		if err != nil {
			t.Fatalf("%q: %v", HTML(nodes), err)
		}
		if Text(back) != Text(nodes) {
			t.Errorf("%q came back as %q", Text(nodes), Text(back))
		}
		if Units(nodes) > TextLimit {
			t.Errorf("%d units", Units(nodes))
		}
	})
}
