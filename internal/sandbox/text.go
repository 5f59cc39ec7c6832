package sandbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/postonce/postonce/internal/telegram/html"
)

const (
	maxText    = 4096
	maxCaption = 1024
	maxEntries = 100
)

// formatted reads a text with its parse mode or entities as Telegram does.
// field is "text" or "caption".
func formatted(a args, field string) (html.Text, *apiError) {
	return format(a.str(field), a.str("parse_mode"), a.str(entitiesField(field)), field)
}

func entitiesField(field string) string {
	if field == "caption" {
		return "caption_entities"
	}
	return "entities"
}

func format(text, mode, entities, field string) (html.Text, *apiError) {
	if text == "" {
		if field == "caption" {
			return html.Text{}, nil
		}
		return html.Text{}, badRequest("message text is empty")
	}
	t := html.Text{Text: text}
	switch strings.ToLower(mode) {
	case "":
		list, e := readEntities(entities)
		if e != nil {
			return t, e
		}
		t.Entities = list
	case "html":
		parsed, err := html.Parse(text)
		if err != nil {
			return t, badRequest("can't parse entities: " + err.Error())
		}
		t = parsed
	case "markdown", "markdownv2":
		return t, badRequest("can't parse entities: the stand-in reads HTML only")
	default:
		return t, badRequest("unsupported parse_mode")
	}
	return clean(t, field)
}

func clean(t html.Text, field string) (html.Text, *apiError) {
	t, err := html.Clean(t)
	switch {
	case errors.Is(err, html.ErrEmpty) && field == "caption":
		return html.Text{}, nil
	case errors.Is(err, html.ErrEmpty):
		return t, badRequest("text must be non-empty")
	case err != nil:
		return t, badRequest("strings must be encoded in UTF-8")
	}
	units := html.UTF16Len(t.Text)
	if field == "caption" && units > maxCaption {
		return t, badRequest("message caption is too long")
	}
	if units > maxText {
		return t, badRequest("message is too long")
	}
	if len(t.Entities) > maxEntries {
		t.Entities = t.Entities[:maxEntries] // Telegram drops the rest in silence
	}
	return t, nil
}

// apiEntity is an entity as the Bot API writes it.
type apiEntity struct {
	Type          string   `json:"type"`
	Offset        int      `json:"offset"`
	Length        int      `json:"length"`
	URL           string   `json:"url,omitempty"`
	User          *apiUser `json:"user,omitempty"`
	Language      string   `json:"language,omitempty"`
	CustomEmojiID string   `json:"custom_emoji_id,omitempty"`
	UnixTime      int32    `json:"unix_time,omitempty"`
	DateFormat    string   `json:"date_time_format,omitempty"`
}

type apiUser struct {
	ID int64 `json:"id"`
}

func readEntities(s string) ([]html.Entity, *apiError) {
	if s == "" {
		return nil, nil
	}
	var list []apiEntity
	if err := json.Unmarshal([]byte(s), &list); err != nil {
		return nil, badRequest("can't parse entities JSON object")
	}
	var out []html.Entity
	for _, e := range list {
		h := html.Entity{Type: html.Type(e.Type), Offset: e.Offset, Length: e.Length, Language: e.Language, UnixTime: e.UnixTime, DateFormat: e.DateFormat}
		switch h.Type {
		case html.Bold, html.Italic, html.Underline, html.Strikethrough, html.Spoiler, html.Code, html.Pre, html.Blockquote, html.ExpandableBlockquote:
		case html.TextLink:
			if h.URL = html.CheckedLink(e.URL); h.URL == "" {
				continue
			}
		case html.TextMention:
			if e.User == nil {
				continue
			}
			h.UserID = e.User.ID
		default:
			continue // what Telegram finds by itself, or does not know
		}
		if h.Offset < 0 || h.Length < 0 {
			return nil, badRequest("receive an entity with incorrect offset " + itoa(h.Offset))
		}
		out = append(out, h)
	}
	return out, nil
}

// patterns find what Telegram marks by itself; compiled once, never written.
var patterns = struct{ command, mention, hashtag, url, email *regexp.Regexp }{
	command: regexp.MustCompile(`(?:^|[\s>])(/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?)`),
	mention: regexp.MustCompile(`(?:^|[^\w/@.])(@[A-Za-z][A-Za-z0-9_]{3,31})`),
	hashtag: regexp.MustCompile(`(?:^|[^\w&/#])(#[\p{L}\p{N}_]*\p{L}[\p{L}\p{N}_]*)`),
	url:     regexp.MustCompile(`(?i)(?:^|[\s("'«<])((?:https?://|www\.)[^\s<>"'«»]+|t\.me/[^\s<>"'«»]+|(?:[a-z0-9-]+\.)+(?:com|org|net|io|ru|dev|info|news|me|eu|de|fr|uk|test|local)(?:/[^\s<>"'«»]*)?)`),
	email:   regexp.MustCompile(`(?:^|[\s(])([\w.+-]+@[\w-]+\.[\w.-]*\w)`),
}

// entitiesOf lists markup and what Telegram finds by itself, as the Bot API
// shows both.
func entitiesOf(t html.Text) []apiEntity {
	var out []apiEntity
	for _, e := range t.Entities {
		a := apiEntity{Type: string(e.Type), Offset: e.Offset, Length: e.Length, URL: e.URL, Language: e.Language, UnixTime: e.UnixTime, DateFormat: e.DateFormat}
		if e.UserID != 0 {
			a.User = &apiUser{ID: e.UserID}
		}
		if e.CustomEmojiID != 0 {
			a.CustomEmojiID = strconv.FormatInt(e.CustomEmojiID, 10)
		}
		out = append(out, a)
	}
	for _, p := range []struct {
		kind string
		re   *regexp.Regexp
	}{{"email", patterns.email}, {"url", patterns.url}, {"bot_command", patterns.command}, {"mention", patterns.mention}, {"hashtag", patterns.hashtag}} {
		for _, m := range p.re.FindAllStringSubmatchIndex(t.Text, -1) {
			text := t.Text[m[2]:m[3]]
			if p.kind == "url" {
				text = strings.TrimRight(text, ".,:;!?)")
			}
			e := apiEntity{Type: p.kind, Offset: html.UTF16Len(t.Text[:m[2]]), Length: html.UTF16Len(text)}
			if !overlaps(out, e) {
				out = append(out, e)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b apiEntity) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(b.Length, a.Length))
	})
	return out
}

// overlaps: what is found never crosses code, links or an earlier find.
func overlaps(list []apiEntity, e apiEntity) bool {
	for _, o := range list {
		switch o.Type {
		case "bold", "italic", "underline", "strikethrough", "spoiler", "blockquote", "expandable_blockquote":
			continue
		}
		if e.Offset < o.Offset+o.Length && o.Offset < e.Offset+e.Length {
			return true
		}
	}
	return false
}
