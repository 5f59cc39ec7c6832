package chat

import (
	"context"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/editorial"
)

// peopleScreen shows who works on a channel. Tap: pp:<channel>.
func (c *Chat) peopleScreen(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	members, err := c.desk.Members(ctx, t.by(), ch.ID)
	if err != nil {
		return err
	}
	lines := make([]texts.HTML, 0, len(members))
	m := message{}
	for _, p := range members {
		lines = append(lines, t.HTML("people.line", texts.Args{"Name": nameOf(p.FirstName, p.Username), "Role": t.Plain("role." + string(p.Role))}))
		if ch.Role == editorial.Owner && p.PersonID != t.by() {
			m.rows = append(m.rows, row(button{text: "✕ " + nameOf(p.FirstName, p.Username), data: data("pr", ch.ID, p.PersonID)}))
		}
	}
	m.text = t.HTML("people.screen", texts.Args{"Channel": ch.Title, "People": joinHTML("\n", lines...)})
	if ch.Role == editorial.Owner {
		m.rows = append(m.rows, row(
			button{text: t.Plain("button.invite_editor"), data: data("pi", ch.ID, string(editorial.Editor))},
			button{text: t.Plain("button.invite_viewer"), data: data("pi", ch.ID, string(editorial.Viewer))},
			button{text: t.Plain("button.invite_owner"), data: data("pi", ch.ID, string(editorial.Owner))}))
	}
	m.rows = append(m.rows,
		row(button{text: t.Plain("button.leave"), data: data("pr", ch.ID, t.by())}),
		row(button{text: t.Plain("button.back"), data: data("ch", ch.ID)}))
	return t.show(ctx, m)
}

func nameOf(first, username string) string {
	if first != "" {
		return first
	}
	if username != "" {
		return "@" + username
	}
	return "…"
}

// invite makes a link into a channel. Tap: pi:<channel>:<role>.
func (c *Chat) invite(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	role := editorial.Role(d.text(1))
	token, err := c.desk.Invite(ctx, t.by(), ch.ID, role, "")
	if err != nil {
		return err
	}
	return t.send(ctx, message{text: t.HTML("invite.channel", texts.Args{
		"Channel": ch.Title, "Role": t.Plain("role." + string(role)), "Link": c.startLink(token),
	})})
}

// inviteBot makes a link into the bot, for operators. Tap: oi.
func (c *Chat) inviteBot(ctx context.Context, t *turn, _ tapped) error {
	token, err := c.desk.InvitePerson(ctx, t.by())
	if err != nil {
		return err
	}
	return t.send(ctx, message{text: t.HTML("invite.bot", texts.Args{"Link": c.startLink(token)})})
}

func (c *Chat) startLink(token string) string {
	return "https://t.me/" + c.username + "?start=" + token
}

// memberRemoved takes somebody out of a channel, or the person leaves. Tap: pr:<channel>:<person>.
func (c *Chat) memberRemoved(ctx context.Context, t *turn, d tapped) error {
	if _, err := c.desk.RemoveMember(ctx, t.by(), d.int64(0), d.int64(1)); err != nil {
		return err
	}
	if d.int64(1) == t.by() {
		return t.show(ctx, message{text: t.HTML("people.left"), rows: [][]button{row(button{text: t.Plain("button.other_channels"), data: data("cl")})}})
	}
	if err := t.toast(ctx, "people.removed"); err != nil {
		return err
	}
	return c.peopleScreen(ctx, t, d)
}
