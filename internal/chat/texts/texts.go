// Package texts holds every string that the chat says, one catalogue per
// language, with plurals by the rules of CLDR. It owns no table and knows
// nothing of what the texts are about; it must never let an argument into HTML
// unescaped.
package texts

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/nicksnyder/go-i18n/v2/i18n"
	"golang.org/x/text/language"
)

//go:embed *.json
var files embed.FS

// Default is the language of people whose own is not in the catalogues.
const Default = "en"

// HTML is text in Telegram's HTML, with everything foreign in it escaped.
type HTML string

// Args fill the places of a text. A string is escaped where the text is HTML,
// an HTML is not. "Count" chooses the plural form.
type Args map[string]any

// Catalogues are the texts of all languages. They are read only and may be
// used concurrently.
type Catalogues struct {
	bundle    *i18n.Bundle
	languages []string
}

// Load reads the embedded catalogues.
func Load() (*Catalogues, error) {
	c := &Catalogues{bundle: i18n.NewBundle(language.English)}
	names, err := fs.Glob(files, "*.json")
	if err != nil {
		return nil, fmt.Errorf("catalogues: %w", err)
	}
	for _, name := range names {
		if _, err := c.bundle.LoadMessageFileFS(files, name); err != nil {
			return nil, fmt.Errorf("catalogue %s: %w", name, err)
		}
		c.languages = append(c.languages, strings.TrimSuffix(name, ".json"))
	}
	return c, nil
}

// Languages are the tags of the catalogues, sorted.
func (c *Catalogues) Languages() []string { return slices.Clone(c.languages) }

// For returns the texts in a language: that of the tag ("ru", "pt-BR"), or Default.
func (c *Catalogues) For(tag string) *Locale {
	base, _, _ := strings.Cut(strings.ToLower(tag), "-")
	if !slices.Contains(c.languages, base) {
		base = Default
	}
	return &Locale{Language: base, localizer: i18n.NewLocalizer(c.bundle, base, Default)}
}

// Locale speaks one language.
type Locale struct {
	// Language is the catalogue's tag.
	Language  string
	localizer *i18n.Localizer
}

// HTML is the text of a code for the body of a message.
func (l *Locale) HTML(code string, args ...Args) HTML {
	return HTML(l.say(code, true, args))
}

// Plain is the text of a code for places that show no markup: buttons, toasts,
// the command menu.
func (l *Locale) Plain(code string, args ...Args) string {
	return l.say(code, false, args)
}

// Has reports whether a code exists.
func (l *Locale) Has(code string) bool {
	_, err := l.localizer.Localize(&i18n.LocalizeConfig{MessageID: code, TemplateData: map[string]any{}})
	return err == nil
}

func (l *Locale) say(code string, escape bool, args []Args) string {
	data := Args{}
	for _, a := range args {
		for k, v := range a {
			data[k] = fill(v, escape)
		}
	}
	cfg := i18n.LocalizeConfig{MessageID: code, TemplateData: map[string]any(data)}
	if n, ok := data["Count"]; ok {
		cfg.PluralCount = n
	}
	s, err := l.localizer.Localize(&cfg)
	if err != nil && cfg.PluralCount != nil { // a text with a number in it may have one form alone
		cfg.PluralCount = nil
		s, err = l.localizer.Localize(&cfg)
	}
	if err != nil {
		return code // a test keeps this from happening; a code says more than nothing
	}
	return s
}

func fill(v any, escape bool) any {
	switch v := v.(type) {
	case HTML:
		if escape {
			return string(v)
		}
		return Strip(v)
	case string:
		if escape {
			return string(Escape(v))
		}
		return v
	case fmt.Stringer:
		if escape {
			return string(Escape(v.String()))
		}
		return v.String()
	}
	return v
}

// Escape makes foreign text safe inside HTML. Telegram knows four named
// entities; these three are all that text needs.
func Escape(s string) HTML {
	return HTML(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s))
}

// Attribute makes foreign text safe inside a quoted attribute.
func Attribute(s string) HTML {
	return HTML(strings.ReplaceAll(string(Escape(s)), `"`, "&quot;"))
}

// Link is a hyperlink with foreign text; without an address it is the text alone.
func Link(text, address string) HTML {
	if address == "" {
		return Escape(text)
	}
	return `<a href="` + Attribute(address) + `">` + Escape(text) + "</a>"
}

// Strip takes our own markup out of HTML and decodes it: for toasts and logs.
func Strip(h HTML) string {
	var b strings.Builder
	in := false
	for _, r := range string(h) {
		switch {
		case r == '<':
			in = true
		case r == '>' && in:
			in = false
		case !in:
			b.WriteRune(r)
		}
	}
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&amp;", "&").Replace(b.String())
}

// When names an instant as people would, in loc: "today 18:00", "tomorrow
// 09:00", "Thu 18:00" within a week, "Thu 3 Dec 18:00" further away.
func (l *Locale) When(t, now time.Time, loc *time.Location) string {
	t, now = t.In(loc), now.In(loc)
	args := Args{"Clock": t.Format("15:04"), "Weekday": l.Weekday(t.Weekday()), "Day": t.Day(), "Month": l.Month(t.Month())}
	switch days := daysBetween(now, t); {
	case days == 0:
		return l.Plain("when.today", args)
	case days == 1:
		return l.Plain("when.tomorrow", args)
	case days == -1:
		return l.Plain("when.yesterday", args)
	case days > 1 && days < 7:
		return l.Plain("when.week", args)
	}
	return l.Plain("when.date", args)
}

// Day names a day in loc: "Today", "Tomorrow", "Thu 3 Dec".
func (l *Locale) Day(t, now time.Time, loc *time.Location) string {
	t, now = t.In(loc), now.In(loc)
	switch daysBetween(now, t) {
	case 0:
		return l.Plain("day.today")
	case 1:
		return l.Plain("day.tomorrow")
	}
	return l.Plain("day.date", Args{"Weekday": l.Weekday(t.Weekday()), "Day": t.Day(), "Month": l.Month(t.Month())})
}

// Ago names a span since an instant: "just now", "5 min ago", "3 h ago", "2 days ago".
func (l *Locale) Ago(t, now time.Time) string {
	return l.span("ago", now.Sub(t))
}

// In names a span until an instant: "now", "in 5 min", "in 3 h", "in 2 days".
func (l *Locale) In(t, now time.Time) string {
	return l.span("in", t.Sub(now))
}

func (l *Locale) span(family string, d time.Duration) string {
	switch {
	case d < time.Minute:
		return l.Plain(family + ".now")
	case d < time.Hour:
		return l.Plain(family+".minutes", Args{"Count": int(d / time.Minute)})
	case d < 48*time.Hour:
		return l.Plain(family+".hours", Args{"Count": int(d / time.Hour)})
	}
	return l.Plain(family+".days", Args{"Count": int(d / (24 * time.Hour))})
}

// Weekday is the short name of a weekday.
func (l *Locale) Weekday(d time.Weekday) string {
	return l.Plain("weekday." + strings.ToLower(d.String()[:3]))
}

// Month is the short name of a month as it stands behind a day's number.
func (l *Locale) Month(m time.Month) string {
	return l.Plain("month." + strings.ToLower(m.String()[:3]))
}

// daysBetween counts midnights between two times of the same zone.
func daysBetween(from, to time.Time) int {
	a := time.Date(from.Year(), from.Month(), from.Day(), 12, 0, 0, 0, time.UTC)
	b := time.Date(to.Year(), to.Month(), to.Day(), 12, 0, 0, 0, time.UTC)
	return int(b.Sub(a).Hours()+12*sign(b.Sub(a))) / 24
}

func sign(d time.Duration) float64 {
	if d < 0 {
		return -1
	}
	return 1
}
