package html_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/postonce/postonce/internal/casetest"

	"github.com/google/go-cmp/cmp"

	"github.com/postonce/postonce/internal/telegram/html"
)

type vector struct {
	In       string
	Text     *string
	Error    string
	Entities []struct {
		Type           string
		Offset, Length int
		Arg            string
	}
}

// names maps TDLib's names of entities to the Bot API's.
func names() map[string]html.Type {
	return map[string]html.Type{
		"Bold": html.Bold, "Italic": html.Italic, "Underline": html.Underline, "Strikethrough": html.Strikethrough,
		"Spoiler": html.Spoiler, "Code": html.Code, "Pre": html.Pre, "PreCode": html.Pre, "BlockQuote": html.Blockquote,
		"ExpandableBlockQuote": html.ExpandableBlockquote, "TextUrl": html.TextLink, "CustomEmoji": html.CustomEmoji,
		"FormattedDate": html.DateTime,
	}
}

func TestParseAgreesWithTelegramsVectors(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(casetest.Dir(t, "telegram"), "tdlib_html_vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) < 80 {
		t.Fatalf("only %d vectors", len(file.Vectors))
	}
	for i, v := range file.Vectors {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			checkVector(t, v)
		})
	}
}

func checkVector(t *testing.T, v vector) {
	t.Helper()
	got, err := html.Parse(v.In)
	if v.Error != "" {
		if err == nil || err.Error() != v.Error {
			t.Errorf("Parse(%q) error = %v, want %q", v.In, err, v.Error)
		}
		return
	}
	if err != nil {
		t.Fatalf("Parse(%q): %v", v.In, err)
	}
	if got.Text != *v.Text {
		t.Errorf("Parse(%q) text = %q, want %q", v.In, got.Text, *v.Text)
	}
	var want []html.Entity
	digits := regexp.MustCompile(`\d+`)
	for _, e := range v.Entities {
		w := html.Entity{Type: names()[e.Type], Offset: e.Offset, Length: e.Length}
		switch e.Type {
		case "TextUrl":
			w.URL = strings.Trim(e.Arg, `"`)
		case "PreCode":
			w.Language = strings.Trim(e.Arg, `"`)
		case "CustomEmoji":
			all := digits.FindAllString(e.Arg, -1)
			w.CustomEmojiID, _ = strconv.ParseInt(all[len(all)-1], 10, 64)
		case "FormattedDate":
			w.UnixTime = 12345
			w.DateFormat = regexp.MustCompile(`format = "(\w*)"`).FindStringSubmatch(v.In)[1]
		}
		want = append(want, w)
	}
	if d := cmp.Diff(want, got.Entities); d != "" {
		t.Errorf("Parse(%q) entities (-want +got):\n%s", v.In, d)
	}
}

func TestCleanAndLength(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in, text string
		entities       []html.Entity
		units          int
		err            error
	}{
		{"counts a surrogate pair as two", "🏟", "🏟", nil, 2, nil},
		{"markup does not count", "<b>ab</b>", "ab", []html.Entity{{Type: html.Bold, Length: 2}}, 2, nil},
		{"references count as one", "&lt;&#128512;", "<😀", nil, 3, nil},
		{"both ends are trimmed", " \n a b \n", "a b", nil, 3, nil},
		{"a trailing space inside a tag goes", "<i>a </i> ", "a", []html.Entity{{Type: html.Italic, Length: 1}}, 1, nil},
		{"a leading space inside a tag stays", " <i> a</i>", " a", []html.Entity{{Type: html.Italic, Length: 2}}, 2, nil},
		{"carriage returns go, entities move", "a\r<b>b</b>", "ab", []html.Entity{{Type: html.Bold, Offset: 1, Length: 1}}, 2, nil},
		{"a tab becomes a space", "a\tb", "a b", nil, 3, nil},
		{"direction overrides go", "a\u202eb", "ab", nil, 2, nil},
		{"nothing but space is empty", " <b> </b>\n", "", nil, 0, html.ErrEmpty},
		{"nothing but invisible is empty", "\u200b\u200b", "", nil, 0, html.ErrEmpty},
		{"an empty string is empty", "", "", nil, 0, html.ErrEmpty},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := html.Parse(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			got, err := html.Clean(p)
			if !errors.Is(err, tt.err) {
				t.Fatalf("Clean error = %v, want %v", err, tt.err)
			}
			if got.Text != tt.text {
				t.Errorf("Clean text = %q, want %q", got.Text, tt.text)
			}
			if len(got.Entities)+len(tt.entities) > 0 {
				if d := cmp.Diff(tt.entities, got.Entities); d != "" {
					t.Error(d)
				}
			}
			if n, err := html.Length(tt.in); n != tt.units || !errors.Is(err, tt.err) {
				t.Errorf("Length = %d, %v; want %d, %v", n, err, tt.units, tt.err)
			}
		})
	}
}

func TestCheckedLink(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"telegram.org": "http://telegram.org/", "HTTPS://Example.ORG/A?b#c": "https://example.org/A?b#c",
		"http://localhost/": "", "javascript:alert(1)": "", "ftp://a.b/": "", "": "", "tg://resolve?domain=x": "tg://resolve?domain=x",
		"http://127.0.0.1:8080/x": "http://127.0.0.1:8080/x", "http://a b.c/": "", "пример.рф/путь": "http://пример.рф/путь",
		"http://user@host.tld?q": "http://user@host.tld/?q",
	} {
		if got := html.CheckedLink(in); got != want {
			t.Errorf("CheckedLink(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestSliceNeverCutsAPair(t *testing.T) {
	t.Parallel()
	src, err := html.Parse("a🏟<b>b🏟</b>")
	if err != nil {
		t.Fatal(err)
	}
	got := html.Slice(src, 0, 5)
	want := html.Text{Text: "a🏟b", Entities: []html.Entity{{Type: html.Bold, Offset: 3, Length: 1}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"<b>a</b>", "&#xDFDF", "<a href='x.y'>q</a>", "<pre><code class=\"language-go\">x</></>", "<", "</", "<b", "&"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := html.Parse(s)
		if err != nil || !utf8.ValidString(s) {
			return
		}
		units := html.UTF16Len(p.Text)
		for _, e := range p.Entities {
			if e.Offset < 0 || e.Length <= 0 || e.End() > units {
				t.Fatalf("entity %+v outside of %d units of %q", e, units, s)
			}
		}
		again, err := html.Parse(html.Render(p))
		if err != nil {
			t.Fatalf("Render(%q) = %q does not parse: %v", s, html.Render(p), err)
		}
		if d := cmp.Diff(fmt.Sprint(p), fmt.Sprint(again)); d != "" {
			t.Fatalf("round trip of %q through %q: %s", s, html.Render(p), d)
		}
		if c, err := html.Clean(p); err == nil {
			if _, err := html.Clean(c); err != nil {
				t.Fatalf("Clean is not stable on %q: %v", s, err)
			}
		}
	})
}
