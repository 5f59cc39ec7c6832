package chat

import (
	"context"
	"slices"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// autopilotSettings say what goes out without a person, and the digest.
func autopilotSettings() []setting {
	return []setting{
		{
			field:   "auto",
			value:   autopilotWords,
			choices: options("autopilot.", func(ch *editorial.Channel) string { return string(ch.Autopilot) }, "off", "delay", "score"),
			choose: func(_ *editorial.Channel, v string) desk.ChannelChange {
				level := editorial.Autopilot(v)
				return desk.ChannelChange{Autopilot: &level}
			},
			wide: true,
		},
		{
			field: "amin", parent: "auto",
			value:   func(t *turn, ch *editorial.Channel) string { return minutesWords(t, ch.AutopilotMinutes) },
			choices: minuteChoices,
			choose: func(_ *editorial.Channel, v string) desk.ChannelChange {
				n := number(v)
				return desk.ChannelChange{AutopilotMinutes: &n}
			},
		},
		{
			field: "ascore", parent: "auto",
			value:   func(_ *turn, ch *editorial.Channel) string { return fmtInt(ch.AutopilotScore) },
			choices: numbers(func(ch *editorial.Channel) int { return ch.AutopilotScore }, 60, 70, 75, 80, 85, 90, 95),
			choose: func(_ *editorial.Channel, v string) desk.ChannelChange {
				n := number(v)
				return desk.ChannelChange{AutopilotScore: &n}
			},
		},
		{
			// Which sources: their buttons need the channel's list, see sourcesChosen.
			field: "asrc", parent: "auto", empty: "autopilot.all_sources",
			value: func(t *turn, ch *editorial.Channel) string {
				if len(ch.AutopilotSources) == 0 {
					return t.Plain("autopilot.all_sources")
				}
				return t.Plain("count.sources", texts.Args{"Count": len(ch.AutopilotSources)})
			},
			clear: func() desk.ChannelChange { return desk.ChannelChange{AutopilotSources: &[]int64{}} },
		},
		optionSetting("dig", "digest.", func(ch *editorial.Channel) string { return ch.Digest },
			func(v string) desk.ChannelChange { return desk.ChannelChange{Digest: &v} }, "off", "daily", "weekly"),
		{
			field: "digat", parent: "dig",
			value: func(_ *turn, ch *editorial.Channel) string { return ch.DigestAt.String() },
			choices: func(_ *turn, ch *editorial.Channel) []choice {
				var list []choice
				for _, v := range []string{"08:00", "12:00", "17:00", "19:00", "21:00"} {
					list = append(list, choice{text: v, value: v, on: v == ch.DigestAt.String()})
				}
				return list
			},
			choose: func(_ *editorial.Channel, v string) desk.ChannelChange {
				at, _ := editorial.ParseClock(v)
				return desk.ChannelChange{DigestAt: &at}
			},
			write: func(_ *editorial.Channel, m written) (desk.ChannelChange, error) {
				list, err := parseClocks(m.text)
				if err != nil || len(list) != 1 {
					return desk.ChannelChange{}, invalid("digat", m.text)
				}
				return desk.ChannelChange{DigestAt: &list[0]}, nil
			},
		},
	}
}

func autopilotWords(t *turn, ch *editorial.Channel) string {
	switch ch.Autopilot {
	case editorial.AutopilotDelay:
		return t.Plain("autopilot.delay.now", argsMinutes(t, ch.AutopilotMinutes))
	case editorial.AutopilotScore:
		return t.Plain("autopilot.score.now", argsScore(ch.AutopilotScore))
	case editorial.AutopilotOff:
	}
	return t.Plain("autopilot.off")
}

func minuteChoices(t *turn, ch *editorial.Channel) []choice {
	var list []choice
	for _, n := range []int{15, 30, 60, 120, 240, 720} {
		list = append(list, choice{text: minutesWords(t, n), value: fmtInt(n), on: n == ch.AutopilotMinutes})
	}
	return list
}

// autopilotSources chooses the sources that may go out by their score alone.
// Tap: au:<channel>[:<source>] shows the list, and with a source toggles it.
func (c *Chat) autopilotSources(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	if id := d.int64(1); id != 0 {
		chosen := slices.Clone(ch.AutopilotSources)
		if at := slices.Index(chosen, id); at >= 0 {
			chosen = slices.Delete(chosen, at, at+1)
		} else {
			chosen = append(chosen, id)
		}
		if ch, err = c.desk.Update(ctx, t.by(), ch.ID, desk.ChannelChange{AutopilotSources: &chosen}); err != nil {
			return err
		}
		if err := t.toast(ctx, "setting.saved"); err != nil {
			return err
		}
	}
	list, err := c.desk.Sources(ctx, t.by(), ch.ID)
	if err != nil {
		return err
	}
	s := c.settings["asrc"]
	m := c.settingMessage(t, &ch.Channel, s)
	var rows [][]button
	for _, v := range first(list, 20) {
		text := sourceName(v)
		if slices.Contains(ch.AutopilotSources, v.ID) {
			text = "✓ " + text
		}
		rows = append(rows, row(button{text: text, data: data("au", ch.ID, v.ID)}))
	}
	m.rows = append(rows, m.rows...)
	return t.show(ctx, m)
}
