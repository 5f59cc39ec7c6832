package chat

import (
	"cmp"
	"context"
	"strings"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// setting is one thing of a channel that people change: by a tap on a choice,
// or by writing it.
type setting struct {
	field string
	// value is the present one in words.
	value func(t *turn, ch *editorial.Channel) string
	// choices are offered as buttons; nil where only writing makes sense.
	choices func(t *turn, ch *editorial.Channel) []choice
	// choose reads the value of a button.
	choose func(ch *editorial.Channel, value string) desk.ChannelChange
	// write reads what the person wrote; nil where only buttons make sense.
	write func(ch *editorial.Channel, m written) (desk.ChannelChange, error)
	// clear empties it; nil where it cannot be empty.
	clear func() desk.ChannelChange
	// empty is the text of its value when nothing is set; "": setting.empty.
	empty string
	// parent is the screen to go back to; empty: the channel's.
	parent string
	wide   bool // one choice a row
}

// choice is one value of a setting as a button.
type choice struct {
	text  string
	value string
	on    bool
}

// written is a message as a value: its text, and the same with its markup.
type written struct {
	text string
	html string
}

func (c *Chat) settingTable() map[string]setting {
	table := map[string]setting{}
	for _, list := range [][]setting{contentSettings(), styleSettings(), planSettings(), autopilotSettings()} {
		for _, s := range list {
			table[s.field] = s
		}
	}
	table["tone"] = c.withTone(table["tone"])
	return table
}

// settingScreen shows one setting with its choices. Tap: cs:<channel>:<field>.
func (c *Chat) settingScreen(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	if d.text(1) == "asrc" {
		return c.autopilotSources(ctx, t, tapped{args: d.args[:1]})
	}
	if d.text(1) == "voice" {
		return c.voiceScreen(ctx, t, ch.Channel)
	}
	return c.showSetting(ctx, t, ch.Channel, d.text(1))
}

// zoneAsked shows the time zones in a message of their own: the step that the
// button stands under goes on. Tap: cz:<channel>.
func (c *Chat) zoneAsked(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	return t.send(ctx, c.settingMessage(t, &ch.Channel, c.settings["tz"]))
}

func (c *Chat) showSetting(ctx context.Context, t *turn, ch editorial.Channel, field string) error {
	s, ok := c.settings[field]
	if !ok {
		return c.channelScreen(ctx, t, ch.ID)
	}
	return t.show(ctx, c.settingMessage(t, &ch, s))
}

func (c *Chat) settingMessage(t *turn, ch *editorial.Channel, s setting) message {
	m := message{text: t.HTML("setting.screen", texts.Args{
		"Channel": ch.Title,
		"Title":   t.HTML("setting." + s.field),
		"Help":    t.HTML("setting." + s.field + ".help"),
		"Value":   s.value(t, ch),
	})}
	if s.choices != nil {
		var list []button
		for _, o := range s.choices(t, ch) {
			text := o.text
			if o.on {
				text = "✓ " + text
			}
			list = append(list, button{text: text, data: data("cv", ch.ID, s.field, o.value)})
		}
		m.rows = choiceRows(s, list)
	}
	var more []button
	if s.write != nil {
		more = append(more, button{text: t.Plain("button.write"), data: data("ca", ch.ID, s.field)})
	}
	if s.clear != nil && s.value(t, ch) != t.Plain(cmp.Or(s.empty, "setting.empty")) {
		more = append(more, button{text: t.Plain("button.clear"), data: data("cc", ch.ID, s.field)})
	}
	for _, child := range settingChildren(s.field) {
		more = append(more, button{text: t.Plain("setting." + child), data: data("cs", ch.ID, child)})
	}
	back := data("ch", ch.ID)
	if s.parent != "" {
		back = data("cs", ch.ID, s.parent)
	}
	m.rows = append(m.rows, more, row(button{text: t.Plain("button.back"), data: back}))
	return m
}

// choiceRows keeps buttons readable on a phone: about 30 characters a row, five
// buttons at most.
func choiceRows(s setting, list []button) [][]button {
	if s.wide {
		return columns(1, list)
	}
	var rows [][]button
	room := 0
	for _, b := range list {
		width := len([]rune(b.text)) + 3
		if room < width || len(rows[len(rows)-1]) == 5 {
			rows, room = append(rows, nil), max(30, width)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], b)
		room -= width
	}
	return rows
}

// settingChosen sets a value by its button. Tap: cv:<channel>:<field>:<value>.
func (c *Chat) settingChosen(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	s, ok := c.settings[d.text(1)]
	if !ok || s.choose == nil {
		return t.toast(ctx, "tap.unknown")
	}
	return c.applySetting(ctx, t, ch.Channel, s, s.choose(&ch.Channel, strings.Join(d.args[2:], ":")))
}

// settingCleared empties a setting. Tap: cc:<channel>:<field>.
func (c *Chat) settingCleared(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	s, ok := c.settings[d.text(1)]
	if !ok || s.clear == nil {
		return t.toast(ctx, "tap.unknown")
	}
	return c.applySetting(ctx, t, ch.Channel, s, s.clear())
}

func (c *Chat) applySetting(ctx context.Context, t *turn, ch editorial.Channel, s setting, change desk.ChannelChange) error {
	changed, err := c.desk.Update(ctx, t.by(), ch.ID, change)
	if err != nil {
		return err
	}
	if err := t.toast(ctx, "setting.saved"); err != nil {
		return err
	}
	return t.show(ctx, c.settingMessage(t, &changed.Channel, s))
}

// settingAsked waits for the value as a message. Tap: ca:<channel>:<field>.
func (c *Chat) settingAsked(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	s, ok := c.settings[d.text(1)]
	if !ok || s.write == nil {
		return t.toast(ctx, "tap.unknown")
	}
	return t.ask(ctx, stepSetting, dialogData{Channel: ch.ID, Field: s.field}, message{
		text: t.HTML("setting.ask", texts.Args{"Title": t.HTML("setting." + s.field), "How": t.HTML("setting." + s.field + ".write")}),
		rows: [][]button{row(t.cancel(stepSetting))},
	})
}

// settingWritten takes the message as the value.
func (c *Chat) settingWritten(ctx context.Context, t *turn) error {
	ch, err := c.desk.Channel(ctx, t.by(), t.dialog.data.Channel)
	if err != nil {
		return err
	}
	s, ok := c.settings[t.dialog.data.Field]
	if !ok || s.write == nil {
		return c.dialogs.close(ctx, t.by())
	}
	change, err := s.write(&ch.Channel, written{text: strings.TrimSpace(t.msg.Text), html: messageHTML(t.msg)})
	if err != nil {
		return err // the dialog stays open: the next message is another try
	}
	changed, err := c.desk.Update(ctx, t.by(), ch.ID, change)
	if err != nil {
		return err
	}
	if err := c.dialogs.close(ctx, t.by()); err != nil {
		return err
	}
	m := c.settingMessage(t, &changed.Channel, s)
	m.text = t.HTML("setting.saved") + "\n\n" + m.text
	return t.send(ctx, m)
}

// settingChildren are settings that only mean something below another one.
func settingChildren(field string) []string {
	switch field {
	case "lang":
		return []string{"langs"}
	case "tone":
		return []string{"voice"}
	case "auto":
		return []string{"amin", "ascore", "asrc"}
	case "dig":
		return []string{"digat"}
	}
	return nil
}
