package html

import (
	"cmp"
	"slices"
)

// Type names a kind of entity in the words of the Bot API
// (https://core.telegram.org/bots/api#messageentity).
type Type string

// The entity types that HTML markup can produce. Pre carries a Language when
// it was written as <pre><code class="language-…">.
const (
	Bold                 Type = "bold"
	Italic               Type = "italic"
	Underline            Type = "underline"
	Strikethrough        Type = "strikethrough"
	Spoiler              Type = "spoiler"
	Code                 Type = "code"
	Pre                  Type = "pre"
	Blockquote           Type = "blockquote"
	ExpandableBlockquote Type = "expandable_blockquote"
	TextLink             Type = "text_link"
	TextMention          Type = "text_mention"
	CustomEmoji          Type = "custom_emoji"
	DateTime             Type = "date_time"
)

// Entity is one formatted range of a text. Offset and Length are UTF-16 code
// units. Only the field that belongs to the type is set beside them.
type Entity struct {
	Type          Type
	Offset        int
	Length        int
	URL           string // TextLink
	UserID        int64  // TextMention
	Language      string // Pre
	CustomEmojiID int64  // CustomEmoji
	UnixTime      int32  // DateTime
	DateFormat    string // DateTime; letters out of "rtTdDwW"
}

// End is the offset behind the last unit of the entity.
func (e Entity) End() int { return e.Offset + e.Length }

// Text is a text with its formatting. Entities are sorted as Telegram sorts
// them: by offset, then the longer first, then by the priority of the type.
type Text struct {
	Text     string
	Entities []Entity
}

// priority orders entities that cover the same range; the lower is the outer.
func priority(e Entity) int {
	switch e.Type {
	case Blockquote, ExpandableBlockquote:
		return 0
	case Pre:
		if e.Language != "" {
			return 10
		}
		return 11
	case Code:
		return 20
	case DateTime:
		return 30
	case TextLink, TextMention:
		return 49
	case Bold:
		return 90
	case Italic:
		return 91
	case Underline:
		return 92
	case Strikethrough:
		return 93
	case Spoiler:
		return 94
	case CustomEmoji:
		return 99
	}
	return 50
}

func sortEntities(es []Entity) {
	slices.SortStableFunc(es, func(a, b Entity) int {
		return cmp.Or(
			cmp.Compare(a.Offset, b.Offset),
			cmp.Compare(b.Length, a.Length),
			cmp.Compare(priority(a), priority(b)),
		)
	})
}
