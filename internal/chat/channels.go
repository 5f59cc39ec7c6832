package chat

import (
	"context"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// channelList answers /channels. Tap: cl.
func (c *Chat) channelList(ctx context.Context, t *turn) error {
	if !c.desk.Admitted(t.person) {
		return &desk.Error{Code: desk.CodeNoAccess}
	}
	list, err := c.desk.Channels(ctx, t.by())
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return t.send(ctx, linkMessage(t, "welcome.link"))
	}
	m := message{text: t.HTML("channels.list", texts.Args{"Count": len(list)})}
	for _, ch := range list {
		text := ch.Title
		if ch.Rests {
			text = "💤 " + text
		}
		if ch.Chosen {
			text = "✓ " + text
		}
		m.rows = append(m.rows, row(button{text: text, data: data("cc1", ch.ID)}))
	}
	m.rows = append(m.rows, row(button{text: t.Plain("button.link_another"), data: data("ln")}))
	return t.show(ctx, m)
}

// channelChosen makes commands speak of a channel and shows it. Tap: cc1:<channel>.
func (c *Chat) channelChosen(ctx context.Context, t *turn, d tapped) error {
	if err := c.desk.Choose(ctx, t.by(), d.int64(0)); err != nil {
		return err
	}
	return c.channelScreen(ctx, t, d.int64(0))
}

// channelScreen shows a channel with all its settings. Tap: ch:<channel>.
func (c *Chat) channelScreen(ctx context.Context, t *turn, id int64) error {
	ch, err := c.desk.Channel(ctx, t.by(), id)
	if err != nil {
		return err
	}
	return t.show(ctx, c.channelMessage(t, &ch))
}

// settingGroup are the settings of the channel's screen, in its order.
func settingGroup() []string {
	return []string{"lang", "tone", "look", "avoid", "thr", "foot", "link", "img", "tags", "tz", "quiet", "cap", "miss", "auto", "dig"}
}

func (c *Chat) channelMessage(t *turn, ch *desk.ChannelView) message {
	lines := make([]texts.HTML, 0, 16)
	for _, f := range settingGroup() {
		lines = append(lines, t.HTML("setting.line", texts.Args{"Title": t.HTML("setting." + f), "Value": shorten(c.settings[f].value(t, &ch.Channel), 80)}))
	}
	m := message{text: t.HTML("channel.screen", texts.Args{
		"Channel": ch.Title, "State": channelState(t, ch), "Role": t.Plain("role." + string(ch.Role)),
		"Settings": joinHTML("\n", lines...),
	})}
	if ch.Role == editorial.Owner {
		var fields []button
		for _, f := range settingGroup() {
			fields = append(fields, button{text: t.Plain("setting." + f), data: data("cs", ch.ID, f)})
		}
		fields = append(fields, button{text: t.Plain("button.week"), data: data("cw", ch.ID)})
		m.rows = columns(2, fields)
	}
	pause := button{text: t.Plain("button.pause"), data: data("ps", ch.ID)}
	if ch.Paused {
		pause = resumeButton(t, ch.ID)
	}
	notify := button{text: t.Plain("button.notify_off"), data: data("nf", ch.ID, 0)}
	if !ch.Notify {
		notify = button{text: t.Plain("button.notify_on"), data: data("nf", ch.ID, 1)}
	}
	if ch.Role.May(editorial.Editor) { // viewers get no cards and stop nothing
		m.rows = append(m.rows, row(pause, notify))
	}
	m.rows = append(m.rows,
		row(button{text: t.Plain("button.people"), data: data("pp", ch.ID)}, button{text: t.Plain("button.sources"), data: data("sl", ch.ID, 0)}),
		row(button{text: t.Plain("button.check_rights"), data: data("lr", ch.ID)}, button{text: t.Plain("button.other_channels"), data: data("cl")}))
	if ch.Role == editorial.Owner {
		m.rows = append(m.rows, row(button{text: t.Plain("button.unlink"), data: data("ul", ch.ID)}))
	}
	return m
}

func channelState(t *turn, ch *desk.ChannelView) string {
	if ch.Rests && ch.State == editorial.ChannelActive {
		return t.Plain("channel.rests")
	}
	if ch.Paused && ch.State == editorial.ChannelActive {
		return t.Plain("channel.paused")
	}
	return t.Plain("channel." + string(ch.State))
}

// resumeButton ends the pause of a channel.
func resumeButton(t *turn, channel int64) button {
	return button{text: t.Plain("button.resume"), data: data("rs", channel)}
}

// rightsChecked looks at the bot's rights in a linked channel, and stays where it
// was asked if none is missing. Tap: lr:<channel>.
func (c *Chat) rightsChecked(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	res, err := c.desk.Link(ctx, t.by(), ch.ChatID)
	if err != nil {
		return err
	}
	if len(res.Missing) > 0 {
		res.Channel.Missing = res.Missing
		return t.show(ctx, missingMessage(t, &res.Channel))
	}
	if err := t.toast(ctx, "rights.fine"); err != nil {
		return err
	}
	return c.channelScreen(ctx, t, ch.ID)
}

// unlinkAsked asks once more. Tap: ul:<channel>.
func (c *Chat) unlinkAsked(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	return t.show(ctx, message{
		text: t.HTML("unlink.ask", texts.Args{"Channel": ch.Title}),
		rows: [][]button{row(button{text: t.Plain("button.unlink_yes"), data: data("ul1", ch.ID)}, button{text: t.Plain("button.back"), data: data("ch", ch.ID)})},
	})
}

// unlinked lets go of a channel. Tap: ul1:<channel>.
func (c *Chat) unlinked(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	if _, err := c.desk.Unlink(ctx, t.by(), ch.ID); err != nil {
		return err
	}
	return t.show(ctx, message{text: t.HTML("unlink.done", texts.Args{"Channel": ch.Title}), rows: [][]button{row(button{text: t.Plain("button.link_another"), data: data("ln")})}})
}

// notifySet says whether the person gets the cards of a channel. Tap: nf:<channel>:<0|1>.
func (c *Chat) notifySet(ctx context.Context, t *turn, d tapped) error {
	on := d.int(1) == 1
	if err := c.desk.SetNotify(ctx, t.by(), d.int64(0), on); err != nil {
		return err
	}
	code := "notify.off"
	if on {
		code = "notify.on"
	}
	if err := t.toast(ctx, code); err != nil {
		return err
	}
	return c.channelScreen(ctx, t, d.int64(0))
}

// pausing answers /pause and /resume for the chosen channel.
func (c *Chat) pausing(stop bool) handler {
	return func(ctx context.Context, t *turn) error {
		ch, err := c.current(ctx, t)
		if err != nil {
			return err
		}
		m, err := c.pause(ctx, t, ch.ID, ch.Title, stop)
		if err != nil {
			return err
		}
		return t.send(ctx, m)
	}
}

// pauseTapped is the same by a button. Taps: ps:<channel>, rs:<channel>.
func (c *Chat) pauseTapped(stop bool) tapHandler {
	return func(ctx context.Context, t *turn, d tapped) error {
		ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
		if err != nil {
			return err
		}
		m, err := c.pause(ctx, t, ch.ID, ch.Title, stop)
		if err != nil {
			return err
		}
		return t.show(ctx, m)
	}
}

func (c *Chat) pause(ctx context.Context, t *turn, id int64, title string, stop bool) (message, error) {
	code, other, verb := "resume.done", "button.pause", "ps"
	do := c.desk.Resume
	if stop {
		code, other, verb, do = "pause.done", "button.resume", "rs", c.desk.Pause
	}
	if _, err := do(ctx, t.by(), id); err != nil {
		return message{}, err
	}
	return message{
		text: t.HTML(code, texts.Args{"Channel": title}),
		rows: [][]button{row(button{text: t.Plain(other), data: data(verb, id)}, button{text: t.Plain("button.channel"), data: data("ch", id)})},
	}, nil
}
