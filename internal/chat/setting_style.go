package chat

import (
	"slices"
	"strconv"
	"strings"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// tonePresets are rules of style with a button; others are written.
func tonePresets() []string {
	return []string{"calm", "short", "friendly", "expert", "no_emoji", "question"}
}

// styleSettings say how posts look and sound.
func styleSettings() []setting {
	return []setting{
		toneSetting(),
		{
			field: "foot",
			value: func(t *turn, ch *editorial.Channel) string { return orEmpty(t, texts.Strip(texts.HTML(ch.Footer))) },
			write: func(_ *editorial.Channel, m written) (desk.ChannelChange, error) {
				return desk.ChannelChange{Footer: &m.html}, nil
			},
			clear: func() desk.ChannelChange { return desk.ChannelChange{Footer: new(string)} },
		},
		optionSetting("link", "link_style.", func(ch *editorial.Channel) string { return ch.LinkStyle },
			func(v string) desk.ChannelChange { return desk.ChannelChange{LinkStyle: &v} }, "title", "bottom", "none"),
		optionSetting("img", "image_style.", func(ch *editorial.Channel) string { return ch.ImageStyle },
			func(v string) desk.ChannelChange { return desk.ChannelChange{ImageStyle: &v} }, "preview", "photo", "none"),
		{
			field: "tags",
			value: func(t *turn, ch *editorial.Channel) string { return orEmpty(t, strings.Join(ch.Hashtags, " ")) },
			write: func(_ *editorial.Channel, m written) (desk.ChannelChange, error) {
				tags := strings.FieldsFunc(m.text, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' })
				for i, tag := range tags {
					tags[i] = "#" + strings.TrimPrefix(tag, "#")
				}
				return desk.ChannelChange{Hashtags: &tags}, nil
			},
			clear: func() desk.ChannelChange { return desk.ChannelChange{Hashtags: &[]string{}} },
		},
	}
}

// toneSetting is a list: buttons put a rule in or take it out, writing replaces
// the list, one rule a line.
func toneSetting() setting {
	return setting{
		field: "tone", wide: true,
		value: func(t *turn, ch *editorial.Channel) string { return orEmpty(t, bulleted(ch.Tone)) },
		choices: func(t *turn, ch *editorial.Channel) []choice {
			var list []choice
			for i, p := range tonePresets() {
				rule := t.Plain("tone." + p)
				on := slices.Contains(ch.Tone, rule)
				list = append(list, choice{text: rule, value: t.Language + "." + strconv.Itoa(i), on: on})
			}
			return list
		},
		choose: nil, // needs the catalogue: settingChosen of tone is toneToggled
		write: func(_ *editorial.Channel, m written) (desk.ChannelChange, error) {
			rules := lines(m.text)
			return desk.ChannelChange{Tone: &rules}, nil
		},
		clear: func() desk.ChannelChange { return desk.ChannelChange{Tone: &[]string{}} },
	}
}

// withTone completes the setting whose values are texts.
func (c *Chat) withTone(s setting) setting {
	s.choose = func(ch *editorial.Channel, v string) desk.ChannelChange {
		language, index, _ := strings.Cut(v, ".")
		presets := tonePresets()
		rules := slices.Clone(ch.Tone)
		if i := number(index); i >= 0 && i < len(presets) {
			rule := c.texts.For(language).Plain("tone." + presets[i])
			if at := slices.Index(rules, rule); at >= 0 {
				rules = slices.Delete(rules, at, at+1)
			} else {
				rules = append(rules, rule)
			}
		}
		return desk.ChannelChange{Tone: &rules}
	}
	return s
}

func optionSetting(field, prefix string, get func(*editorial.Channel) string, set func(string) desk.ChannelChange, values ...string) setting {
	return setting{
		field:   field,
		value:   func(t *turn, ch *editorial.Channel) string { return t.Plain(prefix + get(ch)) },
		choices: options(prefix, get, values...),
		choose:  func(_ *editorial.Channel, v string) desk.ChannelChange { return set(v) },
		wide:    true,
	}
}

// lines are the lines of a text that say something, without bullets.
func lines(s string) []string {
	out := []string{}
	for l := range strings.Lines(s) {
		if l = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(l), "•-–—* ")); l != "" {
			out = append(out, l)
		}
	}
	return out
}

func bulleted(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "• " + strings.Join(list, "\n• ")
}
