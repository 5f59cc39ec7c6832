package chat

import (
	"strconv"
	"strings"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// languageNames are the languages of posts that have a button, each in its own name.
func languageNames() []choice {
	return []choice{
		{text: "English", value: "en"},
		{text: "Русский", value: "ru"},
		{text: "Українська", value: "uk"},
		{text: "Deutsch", value: "de"},
		{text: "Español", value: "es"},
		{text: "Français", value: "fr"},
		{text: "Italiano", value: "it"},
		{text: "Português", value: "pt"},
		{text: "Türkçe", value: "tr"},
		{text: "Polski", value: "pl"},
		{text: "O‘zbekcha", value: "uz"},
		{text: "فارسی", value: "fa"},
	}
}

func languageName(tag string) string {
	for _, l := range languageNames() {
		if l.value == tag {
			return l.text
		}
	}
	return tag
}

// contentSettings say what a channel is about.
func contentSettings() []setting {
	return []setting{
		{
			field: "lang",
			value: func(_ *turn, ch *editorial.Channel) string { return languageName(ch.Language) },
			choices: func(_ *turn, ch *editorial.Channel) []choice {
				list := languageNames()
				for i := range list {
					list[i].on = list[i].value == ch.Language
				}
				return list
			},
			choose: func(_ *editorial.Channel, v string) desk.ChannelChange { return desk.ChannelChange{Language: &v} },
			write: func(_ *editorial.Channel, m written) (desk.ChannelChange, error) {
				tag := strings.ToLower(m.text)
				return desk.ChannelChange{Language: &tag}, nil
			},
		},
		{
			field: "langs", parent: "lang",
			value: func(t *turn, ch *editorial.Channel) string { return orEmpty(t, strings.Join(ch.ItemLanguages, ", ")) },
			write: func(_ *editorial.Channel, m written) (desk.ChannelChange, error) {
				list := strings.FieldsFunc(strings.ToLower(m.text), func(r rune) bool { return r == ' ' || r == ',' || r == '\n' })
				return desk.ChannelChange{ItemLanguages: &list}, nil
			},
			clear: func() desk.ChannelChange { return desk.ChannelChange{ItemLanguages: &[]string{}} },
		},
		topicSetting("look", func(ch *editorial.Channel) string { return ch.LookFor },
			func(s string) desk.ChannelChange { return desk.ChannelChange{LookFor: &s} }),
		topicSetting("avoid", func(ch *editorial.Channel) string { return ch.Avoid },
			func(s string) desk.ChannelChange { return desk.ChannelChange{Avoid: &s} }),
		{
			field:   "thr",
			value:   func(_ *turn, ch *editorial.Channel) string { return strconv.Itoa(ch.Threshold) },
			choices: numbers(func(ch *editorial.Channel) int { return ch.Threshold }, 20, 30, 40, 50, 60, 70, 80),
			choose: func(_ *editorial.Channel, v string) desk.ChannelChange {
				n := number(v)
				return desk.ChannelChange{Threshold: &n}
			},
			write: func(_ *editorial.Channel, m written) (desk.ChannelChange, error) {
				n, err := writtenNumber(m.text, "thr")
				return desk.ChannelChange{Threshold: &n}, err
			},
		},
	}
}

func topicSetting(field string, get func(*editorial.Channel) string, set func(string) desk.ChannelChange) setting {
	return setting{
		field: field,
		value: func(t *turn, ch *editorial.Channel) string { return orEmpty(t, get(ch)) },
		write: func(_ *editorial.Channel, m written) (desk.ChannelChange, error) { return set(m.text), nil },
		clear: func() desk.ChannelChange { return set("") },
	}
}

// orEmpty names what is not set.
func orEmpty(t *turn, s string) string {
	if strings.TrimSpace(s) == "" {
		return t.Plain("setting.empty")
	}
	return s
}

func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return 0
	}
	return n
}

// writtenNumber reads a whole number that a person wrote.
func writtenNumber(s, field string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return 0, invalid(field, s)
	}
	return n, nil
}

// invalid says that a setting cannot have the value.
func invalid(field, value string) error {
	return &desk.Error{Code: "error.setting." + field, Args: map[string]any{"Value": shorten(value, 60)}}
}

// numbers offers fixed values and marks the present one.
func numbers(get func(*editorial.Channel) int, values ...int) func(*turn, *editorial.Channel) []choice {
	return func(_ *turn, ch *editorial.Channel) []choice {
		list := make([]choice, 0, len(values))
		for _, v := range values {
			s := strconv.Itoa(v)
			list = append(list, choice{text: s, value: s, on: get(ch) == v})
		}
		return list
	}
}

// options offers the words of a closed set, named by codes below prefix.
func options(prefix string, get func(*editorial.Channel) string, values ...string) func(*turn, *editorial.Channel) []choice {
	return func(t *turn, ch *editorial.Channel) []choice {
		list := make([]choice, 0, len(values))
		for _, v := range values {
			list = append(list, choice{text: t.Plain(prefix + v), value: v, on: get(ch) == v})
		}
		return list
	}
}
