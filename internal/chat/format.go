package chat

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/telegram/html"
)

func fmtInt(n int) string { return strconv.Itoa(n) }

// minutesWords is a span in minutes or whole hours.
func minutesWords(t *turn, minutes int) string {
	if minutes >= 60 && minutes%60 == 0 {
		return t.Plain("span.hours", texts.Args{"Count": minutes / 60})
	}
	return t.Plain("span.minutes", texts.Args{"Count": minutes})
}

func argsMinutes(t *turn, minutes int) texts.Args {
	return texts.Args{"Span": minutesWords(t, minutes)}
}

func argsScore(score int) texts.Args { return texts.Args{"Score": score} }

// location is the zone of a channel; an unknown name is UTC, as settings are checked when they are set.
func location(name string) *time.Location {
	loc, err := time.LoadLocation(name)
	if err != nil {
		return time.UTC
	}
	return loc
}

func zoneOf(ch *editorial.Channel) *time.Location { return location(ch.TimeZone) }

// when names an instant in a channel's zone.
func (t *turn) when(at time.Time, zone string) string { return t.When(at, t.now, location(zone)) }

// headline is the first line of a post, plain, cut for a list.
func headline(post string, n int) string {
	for l := range strings.Lines(html.Plain(post)) {
		if l = strings.TrimSpace(l); l != "" {
			return shorten(l, n)
		}
	}
	return "…"
}

// entityTypes are Telegram's formats that a post may carry; mentions, commands
// and bare links are plain text in HTML.
func entityTypes() map[models.MessageEntityType]html.Type {
	return map[models.MessageEntityType]html.Type{
		models.MessageEntityTypeBold: html.Bold, models.MessageEntityTypeItalic: html.Italic,
		models.MessageEntityTypeUnderline: html.Underline, models.MessageEntityTypeStrikethrough: html.Strikethrough,
		models.MessageEntityTypeSpoiler: html.Spoiler, models.MessageEntityTypeCode: html.Code,
		models.MessageEntityTypePre: html.Pre, models.MessageEntityTypeBlockquote: html.Blockquote,
		models.MessageEntityTypeExpandableBlockquote: html.ExpandableBlockquote,
		models.MessageEntityTypeTextLink:             html.TextLink,
	}
}

// messageHTML is what a person wrote, with its formats, as Telegram HTML.
func messageHTML(m *models.Message) string {
	text, entities := m.Text, m.Entities
	if text == "" {
		text, entities = m.Caption, m.CaptionEntities
	}
	known := entityTypes()
	out := html.Text{Text: text}
	for _, e := range entities {
		if kind, ok := known[e.Type]; ok {
			out.Entities = append(out.Entities, html.Entity{Type: kind, Offset: e.Offset, Length: e.Length, URL: e.URL, Language: e.Language})
		}
	}
	return strings.TrimSpace(html.Render(out))
}

// linksOf are the addresses in a message, in order: bare links, hidden ones and @names.
func linksOf(m *models.Message) []string {
	text, entities := m.Text, m.Entities
	if text == "" {
		text, entities = m.Caption, m.CaptionEntities
	}
	units := utf16.Encode([]rune(text))
	var out []string
	for _, e := range entities {
		if e.Offset < 0 || e.Length < 0 || e.Offset+e.Length > len(units) {
			continue
		}
		part := string(utf16.Decode(units[e.Offset : e.Offset+e.Length]))
		switch e.Type {
		case models.MessageEntityTypeURL, models.MessageEntityTypeMention:
			out = append(out, part)
		case models.MessageEntityTypeTextLink:
			out = append(out, e.URL)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, f := range strings.Fields(text) {
		if looksLikeAddress(f) {
			out = append(out, f)
		}
	}
	return out
}

// looksLikeAddress takes what a person may have meant as one; desk finds out what it is.
func looksLikeAddress(s string) bool {
	if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "t.me/") {
		return true
	}
	if name, ok := strings.CutPrefix(s, "@"); ok {
		return len(name) >= 4 && !strings.ContainsAny(name, ".,/")
	}
	host, _, _ := strings.Cut(s, "/")
	dot := strings.LastIndexByte(host, '.')
	return dot > 0 && len(host)-dot > 2 && !strings.HasSuffix(host, ".") && !strings.ContainsAny(host, ":@,!?")
}

// onlyLinks reports whether a message is addresses and nothing else.
func onlyLinks(text string) bool {
	fields := strings.Fields(text)
	for _, f := range fields {
		if !looksLikeAddress(f) {
			return false
		}
	}
	return len(fields) > 0
}

// reasonsText names what moved a score: "look for: rockets, moon; fresh".
func reasonsText(l *texts.Locale, reasons []editorial.Reason) string {
	var parts []string
	for _, r := range reasons {
		words := strings.Join(first(r.Words, 4), ", ")
		code := "reason." + r.Code
		if !l.Has(code) {
			if words != "" {
				parts = append(parts, words)
			}
			continue
		}
		s := l.Plain(code, texts.Args{"Words": words})
		if r.Points != 0 {
			s = fmt.Sprintf("%s (%+d)", s, r.Points)
		}
		parts = append(parts, s)
	}
	return strings.Join(first(parts, 4), " · ")
}

func first[T any](list []T, n int) []T { return list[:min(len(list), n)] }

// joinHTML puts blocks below one another, leaving out the empty ones.
func joinHTML(sep string, parts ...texts.HTML) texts.HTML {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, string(p))
		}
	}
	return texts.HTML(strings.Join(out, sep))
}

// page cuts a list: the part on page n (from 0), and whether there are others.
func page[T any](list []T, n, size int) (part []T, number int, more bool) {
	last := max((len(list)-1)/size, 0)
	n = min(max(n, 0), last)
	return list[n*size : min((n+1)*size, len(list))], n, n < last
}

// pager are the buttons between pages; make builds the data for a page.
func pager(n int, more bool, make func(int) string) []button {
	var out []button
	if n > 0 {
		out = append(out, button{text: "‹", data: make(n - 1)})
	}
	if more {
		out = append(out, button{text: "›", data: make(n + 1)})
	}
	return out
}
