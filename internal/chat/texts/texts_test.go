package texts_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/telegram/html"
)

// catalogue reads a file as code → form → text; a text without plurals has the one form "".
func catalogue(t *testing.T, name string) map[string]map[string]string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]any
	if err := json.Unmarshal(b, &raw); err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for code, v := range raw {
		forms := map[string]string{}
		switch v := v.(type) {
		case string:
			forms[""] = v
		case map[string]any:
			for form, s := range v {
				forms[form], _ = s.(string)
			}
		}
		out[code] = forms
	}
	return out
}

func keys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// pluralForms are those that a counting text has in a language, by CLDR.
func pluralForms(tag string) []string {
	names := map[plural.Form]string{plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other"}
	forms := []string{"other"} // of fractions, in every language
	for n := range 200 {
		forms = append(forms, names[plural.Cardinal.MatchPlural(language.Make(tag), n, 0, 0, 0, 0)])
	}
	slices.Sort(forms)
	return slices.Compact(forms)
}

// TestCataloguesAreWhole holds every language against the default one: the same codes, places and plurals.
func TestCataloguesAreWhole(t *testing.T) {
	t.Parallel()
	place := regexp.MustCompile(`\.([A-Za-z]\w*)`)
	places := func(forms map[string]string) []string {
		var out []string
		for _, m := range regexp.MustCompile(`\{\{[^}]*\}\}`).FindAllString(forms["other"]+forms[""], -1) {
			for _, p := range place.FindAllStringSubmatch(m, -1) {
				out = append(out, p[1])
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	standard := catalogue(t, texts.Default+".json")
	for _, l := range editorial.InterfaceLanguages() {
		codes := catalogue(t, l.Tag+".json")
		if diff := cmp.Diff(keys(standard), keys(codes)); diff != "" {
			t.Errorf("the codes of %s differ:\n%s", l.Name, diff)
		}
		for code, forms := range codes {
			want := []string{""}
			if len(standard[code]) > 1 {
				want = pluralForms(l.Tag)
			}
			if diff := cmp.Diff(want, keys(forms)); diff != "" {
				t.Errorf("%s in %s: plural forms\n%s", code, l.Name, diff)
			}
			if diff := cmp.Diff(places(standard[code]), places(forms)); diff != "" {
				t.Errorf("%s in %s: its places differ:\n%s", code, l.Name, diff)
			}
			for form, s := range forms {
				if strings.TrimSpace(s) == "" {
					t.Errorf("%s %s in %s is empty", code, form, l.Name)
				}
				if _, err := html.Parse(s); err != nil {
					t.Errorf("%s %s in %s: %v", code, form, l.Name, err)
				}
			}
		}
	}
}

// TestEachCatalogueIsOffered finds a catalogue that nobody can choose.
func TestEachCatalogueIsOffered(t *testing.T) {
	t.Parallel()
	all, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range all.Languages() {
		if !editorial.IsInterfaceLanguage(tag) {
			t.Errorf("%s.json is no language of the interface: see editorial.InterfaceLanguages", tag)
		}
	}
}

// TestEachLanguageIsTranslated finds what was left in English. The names of
// platforms (kind.) are the same everywhere.
func TestEachLanguageIsTranslated(t *testing.T) {
	t.Parallel()
	standard := catalogue(t, texts.Default+".json")
	letters := regexp.MustCompile(`\{\{[^}]*\}\}|<[^>]*>|[^\p{L}]`)
	for _, l := range editorial.InterfaceLanguages() {
		if l.Tag == texts.Default {
			continue
		}
		codes := catalogue(t, l.Tag+".json")
		for code, forms := range standard {
			left := letters.ReplaceAllString(forms[""]+forms["other"], "")
			same := forms[""] == codes[code][""] && forms["other"] == codes[code]["other"]
			if len(left) > 3 && same && !strings.HasPrefix(code, "kind.") && code != "notice.incident" {
				t.Errorf("%s is in %s what it is in English: %q", code, l.Name, forms[""]+forms["other"])
			}
		}
	}
}

func TestPluralsFollowTheLanguage(t *testing.T) {
	t.Parallel()
	c, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		language string
		n        int
		want     string
	}{
		{"en", 0, "0 sources"},
		{"en", 1, "1 source"},
		{"en", 2, "2 sources"},
		{"en", 21, "21 sources"},
		{"ru", 0, "0 источников"},
		{"ru", 1, "1 источник"},
		{"ru", 2, "2 источника"},
		{"ru", 5, "5 источников"},
		{"ru", 11, "11 источников"},
		{"ru", 12, "12 источников"},
		{"ru", 21, "21 источник"},
		{"ru", 104, "104 источника"},
	}
	for _, tt := range tests {
		if got := c.For(tt.language).Plain("count.sources", texts.Args{"Count": tt.n}); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.language, got, tt.want)
		}
	}
}

func TestForeignTextCannotBreakOut(t *testing.T) {
	t.Parallel()
	c, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	l := c.For("en")
	evil := `<b>&"</a>`
	if got, want := l.HTML("link.done", texts.Args{"Channel": evil}), texts.HTML(`✅ <b>&lt;b&gt;&amp;"&lt;/a&gt;</b> is linked. I can post there.`); got != want {
		t.Errorf("got %q", got)
	}
	if got, want := texts.Link(evil, `https://a/?x="><b>`), texts.HTML(`<a href="https://a/?x=&quot;&gt;&lt;b&gt;">&lt;b&gt;&amp;"&lt;/a&gt;</a>`); got != want {
		t.Errorf("got %q", got)
	}
	if got := l.Plain("command.unknown", texts.Args{"Command": evil}); !strings.Contains(got, evil) {
		t.Errorf("a plain text was escaped: %q", got)
	}
}

func TestTimesAreNamedAsPeopleDo(t *testing.T) {
	t.Parallel()
	c, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	// Half past eleven in the evening in Berlin, still the same day in UTC.
	now := time.Date(2026, 11, 29, 22, 30, 0, 0, time.UTC)
	tests := []struct {
		at     time.Time
		en, ru string
	}{
		{now.Add(20 * time.Minute), "today 23:50", "сегодня 23:50"},
		{now.Add(40 * time.Minute), "tomorrow 00:10", "завтра 00:10"},
		{now.AddDate(0, 0, -1), "yesterday 23:30", "вчера 23:30"},
		{now.AddDate(0, 0, 4), "Thu 23:30", "Чт 23:30"},
		{now.AddDate(0, 0, 40), "Fri 8 Jan 23:30", "Пт 8 янв. 23:30"},
	}
	for _, tt := range tests {
		if got := c.For("en").When(tt.at, now, berlin); got != tt.en {
			t.Errorf("got %q, want %q", got, tt.en)
		}
		if got := c.For("ru-RU").When(tt.at, now, berlin); got != tt.ru {
			t.Errorf("got %q, want %q", got, tt.ru)
		}
	}
}
