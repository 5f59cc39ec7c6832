package chat

import (
	"strconv"
	"strings"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// planSettings say when posts go out. The week itself has screens of its own.
func planSettings() []setting {
	return []setting{
		{
			field: "tz",
			value: func(t *turn, ch *editorial.Channel) string {
				return ch.TimeZone + ", " + t.now.In(zoneOf(ch)).Format("15:04")
			},
			choices: zoneChoices,
			choose:  func(_ *editorial.Channel, v string) desk.ChannelChange { return desk.ChannelChange{TimeZone: &v} },
			write: func(_ *editorial.Channel, m written) (desk.ChannelChange, error) {
				zone, ok := findZone(m.text)
				if !ok {
					return desk.ChannelChange{}, invalid("tz", m.text)
				}
				return desk.ChannelChange{TimeZone: &zone}, nil
			},
		},
		{
			field: "quiet",
			value: func(t *turn, ch *editorial.Channel) string { return quietWords(t, ch.Quiet) },
			choices: func(t *turn, ch *editorial.Channel) []choice {
				var list []choice
				for _, v := range []string{"00:00-00:00", "22:00-08:00", "23:00-07:00", "00:00-09:00"} {
					q, _ := parseQuiet(v)
					list = append(list, choice{text: quietWords(t, q), value: v, on: q == ch.Quiet})
				}
				return list
			},
			choose: func(_ *editorial.Channel, v string) desk.ChannelChange {
				q, _ := parseQuiet(v)
				return desk.ChannelChange{Quiet: &q}
			},
			write: func(_ *editorial.Channel, m written) (desk.ChannelChange, error) {
				q, err := parseQuiet(m.text)
				return desk.ChannelChange{Quiet: &q}, err
			},
		},
		{
			field: "cap",
			value: func(t *turn, ch *editorial.Channel) string { return capWords(t, ch.DailyCap) },
			choices: func(t *turn, ch *editorial.Channel) []choice {
				var list []choice
				for _, n := range []int{0, 1, 2, 3, 5, 8, 12} {
					list = append(list, choice{text: capWords(t, n), value: strconv.Itoa(n), on: n == ch.DailyCap})
				}
				return list
			},
			choose: func(_ *editorial.Channel, v string) desk.ChannelChange {
				n := number(v)
				return desk.ChannelChange{DailyCap: &n}
			},
			write: func(_ *editorial.Channel, m written) (desk.ChannelChange, error) {
				n, err := writtenNumber(m.text, "cap")
				return desk.ChannelChange{DailyCap: &n}, err
			},
		},
		optionSetting("miss", "missed.", func(ch *editorial.Channel) string { return ch.Missed },
			func(v string) desk.ChannelChange { return desk.ChannelChange{Missed: &v} }, "move", "skip"),
	}
}

func quietWords(t *turn, q editorial.Quiet) string {
	if q.From == q.To {
		return t.Plain("quiet.none")
	}
	return q.From.String() + "–" + q.To.String()
}

func capWords(t *turn, n int) string {
	if n == 0 {
		return t.Plain("cap.none")
	}
	return strconv.Itoa(n)
}

// parseQuiet reads "23:00-07:00", with any dash and with spaces.
func parseQuiet(s string) (editorial.Quiet, error) {
	clean := strings.NewReplacer("–", "-", "—", "-", " ", "", ".", ":").Replace(s)
	from, to, ok := strings.Cut(clean, "-")
	a, err := editorial.ParseClock(from)
	b, err2 := editorial.ParseClock(to)
	if !ok || err != nil || err2 != nil {
		return editorial.Quiet{}, invalid("quiet", s)
	}
	return editorial.Quiet{From: a, To: b}, nil
}

// parseClocks reads times of day between spaces or commas: "9:00, 13:30 18".
func parseClocks(s string) ([]editorial.Clock, error) {
	var out []editorial.Clock
	for _, f := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' || r == ';' || r == '\n' }) {
		f = strings.ReplaceAll(f, ".", ":")
		if !strings.Contains(f, ":") {
			f += ":00"
		}
		if len(f) == 4 {
			f = "0" + f
		}
		c, err := editorial.ParseClock(f)
		if err != nil {
			return nil, invalid("week", s)
		}
		out = append(out, c)
	}
	return out, nil
}
