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

	"github.com/postonce/postonce/internal/chat/texts"
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

func TestCataloguesAreWhole(t *testing.T) {
	t.Parallel()
	en, ru := catalogue(t, "en.json"), catalogue(t, "ru.json")
	if diff := cmp.Diff(keys(en), keys(ru)); diff != "" {
		t.Errorf("codes of English and Russian differ:\n%s", diff)
	}
	place := regexp.MustCompile(`\.([A-Za-z]\w*)`)
	places := func(s string) []string {
		var out []string
		for _, m := range regexp.MustCompile(`\{\{[^}]*\}\}`).FindAllString(s, -1) {
			for _, p := range place.FindAllStringSubmatch(m, -1) {
				out = append(out, p[1])
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	for code := range en {
		wantEn, wantRu := []string{""}, []string{""}
		if len(en[code]) > 1 {
			wantEn, wantRu = []string{"one", "other"}, []string{"few", "many", "one", "other"}
		}
		if diff := cmp.Diff(wantEn, keys(en[code])); diff != "" {
			t.Errorf("%s in English: plural forms\n%s", code, diff)
		}
		if diff := cmp.Diff(wantRu, keys(ru[code])); diff != "" {
			t.Errorf("%s in Russian: plural forms\n%s", code, diff)
		}
		all := places(en[code]["other"] + en[code][""])
		if diff := cmp.Diff(all, places(ru[code]["many"]+ru[code][""])); diff != "" {
			t.Errorf("%s: places of English and Russian differ:\n%s", code, diff)
		}
		for _, forms := range []map[string]string{en[code], ru[code]} {
			for form, s := range forms {
				if strings.TrimSpace(s) == "" {
					t.Errorf("%s %s is empty", code, form)
				}
				if _, err := html.Parse(s); err != nil {
					t.Errorf("%s %s: %v", code, form, err)
				}
			}
		}
	}
}

// TestRussianIsRussian finds what was left untranslated.
func TestRussianIsRussian(t *testing.T) {
	t.Parallel()
	en, ru := catalogue(t, "en.json"), catalogue(t, "ru.json")
	letters := regexp.MustCompile(`\{\{[^}]*\}\}|<[^>]*>|[^a-zA-Z]`)
	for code, forms := range en {
		left := letters.ReplaceAllString(forms[""], "")
		if len(left) > 3 && forms[""] == ru[code][""] && !slices.Contains([]string{"kind.hackernews", "kind.reddit"}, code) {
			t.Errorf("%s is the same in both languages: %q", code, forms[""])
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
