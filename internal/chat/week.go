package chat

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// weekdays in the order in which people of both languages read a week.
func weekdays() []time.Weekday {
	return []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday, time.Saturday, time.Sunday}
}

// weekPresets are the weeks with a button.
func weekPresets() map[string][]editorial.Clock {
	return map[string][]editorial.Clock{
		"1": {12 * 60}, "2": {10 * 60, 18 * 60}, "3": {9 * 60, 13 * 60, 18 * 60}, "5": {9 * 60, 12 * 60, 15 * 60, 18 * 60, 21 * 60},
	}
}

func clocks(list []editorial.Clock) string {
	out := make([]string, len(list))
	for i, c := range list {
		out[i] = c.String()
	}
	return strings.Join(out, " ")
}

// weekLines is the week, one day a line.
func weekLines(t *turn, w editorial.Week) texts.HTML {
	var out []texts.HTML
	for _, d := range weekdays() {
		times := clocks(w[d])
		if times == "" {
			times = "—"
		}
		out = append(out, t.HTML("week.line", texts.Args{"Day": t.Weekday(d), "Times": times}))
	}
	return joinHTML("\n", out...)
}

// weekScreen shows the slots of the week. Tap: cw:<channel>.
func (c *Chat) weekScreen(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	return t.show(ctx, weekMessage(t, &ch.Channel))
}

func weekMessage(t *turn, ch *editorial.Channel) message {
	m := message{text: t.HTML("week.screen", texts.Args{"Channel": ch.Title, "Week": weekLines(t, ch.Week), "Zone": ch.TimeZone})}
	var days, presets []button
	for _, d := range weekdays() {
		days = append(days, button{text: t.Weekday(d), data: data("cd", ch.ID, int(d))})
	}
	for _, p := range []string{"1", "2", "3", "5"} {
		presets = append(presets, button{text: t.Plain("week.preset", texts.Args{"Count": number(p)}), data: data("cp", ch.ID, p)})
	}
	m.rows = append(columns(4, days), columns(2, presets)...)
	m.rows = append(m.rows, row(button{text: t.Plain("button.back"), data: data("ch", ch.ID)}))
	return m
}

// dayScreen shows one weekday. Tap: cd:<channel>:<weekday>.
func (c *Chat) dayScreen(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	return t.show(ctx, dayMessage(t, &ch.Channel, weekday(d.int(1))))
}

func weekday(n int) time.Weekday { return time.Weekday(((n % 7) + 7) % 7) }

func dayMessage(t *turn, ch *editorial.Channel, day time.Weekday) message {
	times := clocks(ch.Week[day])
	if times == "" {
		times = t.Plain("setting.empty")
	}
	m := message{text: t.HTML("week.day", texts.Args{"Channel": ch.Title, "Day": t.Weekday(day), "Times": times})}
	var off []button
	for _, at := range ch.Week[day] {
		off = append(off, button{text: "✕ " + at.String(), data: data("ct", ch.ID, int(day), int(at))})
	}
	var on []button
	for _, at := range []editorial.Clock{8 * 60, 9 * 60, 10 * 60, 12 * 60, 13 * 60, 15 * 60, 18 * 60, 19 * 60, 21 * 60} {
		if !slices.Contains(ch.Week[day], at) {
			on = append(on, button{text: "+ " + at.String(), data: data("ct", ch.ID, int(day), int(at))})
		}
	}
	m.rows = append(columns(4, off), columns(4, on)...)
	m.rows = append(m.rows,
		row(button{text: t.Plain("button.write"), data: data("cx", ch.ID, int(day))}, button{text: t.Plain("week.copy"), data: data("cy", ch.ID, int(day))}),
		row(button{text: t.Plain("button.back"), data: data("cw", ch.ID)}))
	return m
}

// timeToggled puts a slot in or takes it out. Tap: ct:<channel>:<weekday>:<minutes>.
func (c *Chat) timeToggled(ctx context.Context, t *turn, d tapped) error {
	return c.changeWeek(ctx, t, d, func(w *editorial.Week) {
		day, at := weekday(d.int(1)), editorial.Clock(d.int(2))
		if i := slices.Index(w[day], at); i >= 0 {
			w[day] = slices.Delete(slices.Clone(w[day]), i, i+1)
			return
		}
		w[day] = append(slices.Clone(w[day]), at)
		slices.Sort(w[day])
	}, func(ch *editorial.Channel) message { return dayMessage(t, ch, weekday(d.int(1))) })
}

// dayCopied gives every day the times of one. Tap: cy:<channel>:<weekday>.
func (c *Chat) dayCopied(ctx context.Context, t *turn, d tapped) error {
	return c.changeWeek(ctx, t, d, func(w *editorial.Week) {
		for i := range w {
			w[i] = slices.Clone(w[weekday(d.int(1))])
		}
	}, func(ch *editorial.Channel) message { return weekMessage(t, ch) })
}

// presetChosen takes a whole week. Tap: cp:<channel>:<preset>.
func (c *Chat) presetChosen(ctx context.Context, t *turn, d tapped) error {
	return c.changeWeek(ctx, t, d, func(w *editorial.Week) {
		if times, ok := weekPresets()[d.text(1)]; ok {
			for i := range w {
				w[i] = slices.Clone(times)
			}
		}
	}, func(ch *editorial.Channel) message { return weekMessage(t, ch) })
}

func (c *Chat) changeWeek(ctx context.Context, t *turn, d tapped, change func(*editorial.Week), then func(*editorial.Channel) message) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	w := ch.Week
	change(&w)
	changed, err := c.desk.Update(ctx, t.by(), ch.ID, desk.ChannelChange{Week: &w})
	if err != nil {
		return err
	}
	if err := t.toast(ctx, "setting.saved"); err != nil {
		return err
	}
	return t.show(ctx, then(&changed.Channel))
}

// timesAsked waits for the times of a day. Tap: cx:<channel>:<weekday>.
func (c *Chat) timesAsked(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	day := weekday(d.int(1))
	return t.ask(ctx, stepWeek, dialogData{Channel: ch.ID, Source: int64(day)}, message{
		text: t.HTML("week.ask", texts.Args{"Day": t.Weekday(day)}), rows: [][]button{row(t.cancel(stepWeek))},
	})
}

// timesWritten takes the message as the times of a day.
func (c *Chat) timesWritten(ctx context.Context, t *turn) error {
	ch, err := c.desk.Channel(ctx, t.by(), t.dialog.data.Channel)
	if err != nil {
		return err
	}
	times, err := parseClocks(t.msg.Text)
	if err != nil {
		return err
	}
	w, day := ch.Week, weekday(int(t.dialog.data.Source))
	w[day] = times
	slices.Sort(w[day])
	w[day] = slices.Compact(w[day])
	changed, err := c.desk.Update(ctx, t.by(), ch.ID, desk.ChannelChange{Week: &w})
	if err != nil {
		return err
	}
	if err := c.dialogs.close(ctx, t.by()); err != nil {
		return err
	}
	return t.send(ctx, dayMessage(t, &changed.Channel, day))
}
