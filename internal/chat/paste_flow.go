package chat

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/telegram/html"
)

// pasted answers a message that no command or dialog explains: addresses ask
// whether to follow or to draft, other text whether to draft.
func (c *Chat) pasted(ctx context.Context, t *turn) error {
	if t.msg.Text == "" {
		return t.say(ctx, "paste.nothing")
	}
	ch, err := c.current(ctx, t)
	if err != nil {
		return err
	}
	links := linksOf(t.msg)
	if ch.Sources == 0 && len(links) > 0 && onlyLinks(t.msg.Text) {
		return c.addAll(ctx, t, ch.ID, links) // the first minutes: a link means a source
	}
	p := paste{person: t.by(), message: t.msg.ID, kind: pasteText, html: messageHTML(t.msg)}
	if len(links) > 0 && onlyLinks(t.msg.Text) {
		p.kind, p.address = pasteLink, strings.Join(first(links, maxAdds), " ")
	}
	if err := c.pastes.put(ctx, p); err != nil {
		return err
	}
	id := t.msg.ID
	m := message{replyTo: id}
	draft := button{text: t.Plain("paste.draft"), data: data("xd", ch.ID, id)}
	if p.kind == pasteLink {
		m.text = t.HTML("paste.link", texts.Args{"Address": shorten(links[0], 100), "Channel": ch.Title, "Count": len(links)})
		m.rows = [][]button{row(button{text: t.Plain("paste.follow"), data: data("xf", ch.ID, id)}, draft), row(t.cancel(noStep))}
	} else {
		m.text = t.HTML("paste.text", texts.Args{"Channel": ch.Title})
		m.rows = [][]button{row(draft, t.cancel(noStep))}
	}
	return t.send(ctx, m)
}

// forwarded answers a forwarded post: it links a channel, is followed, or is
// drafted from.
func (c *Chat) forwarded(ctx context.Context, t *turn) error {
	o := t.msg.ForwardOrigin
	if o.MessageOriginChannel == nil {
		return c.pasted(ctx, t)
	}
	from := o.MessageOriginChannel.Chat
	if !c.desk.Admitted(t.person) {
		return &desk.Error{Code: desk.CodeNoAccess}
	}
	list, err := c.desk.Channels(ctx, t.by())
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].ChatID == from.ID {
			if err := c.keepOwnPost(ctx, t, &list[i]); err != nil {
				return err
			}
			return t.send(ctx, c.home(t, &list[i]))
		}
	}
	ch := chosen(list)
	if len(list) == 0 || ch == nil {
		return c.linkChannel(ctx, t, from.ID)
	}
	p := paste{
		person: t.by(), message: t.msg.ID, kind: pasteForward, html: messageHTML(t.msg), chat: from.ID,
		post: int64(o.MessageOriginChannel.MessageID), title: from.Title, at: time.Unix(int64(o.MessageOriginChannel.Date), 0),
	}
	if from.Username != "" {
		p.address = "https://t.me/" + from.Username
	}
	if err := c.pastes.put(ctx, p); err != nil {
		return err
	}
	m := message{replyTo: t.msg.ID, text: t.HTML("paste.forward", texts.Args{"From": from.Title, "Channel": ch.Title})}
	if p.html != "" {
		m.rows = append(m.rows, row(button{text: t.Plain("paste.draft"), data: data("xd", ch.ID, t.msg.ID)}))
	}
	if p.address != "" {
		m.rows = append(m.rows, row(button{text: t.Plain("paste.follow"), data: data("xf", ch.ID, t.msg.ID)}))
	}
	m.rows = append(m.rows, row(button{text: t.Plain("paste.my_channel"), data: data("lk", from.ID)}), row(t.cancel(noStep)))
	return t.send(ctx, m)
}

// pasteFollowed follows what was pasted. Tap: xf:<channel>:<message>.
func (c *Chat) pasteFollowed(ctx context.Context, t *turn, d tapped) error {
	p, ok, err := c.pastes.get(ctx, t.by(), d.int(1))
	if err != nil {
		return err
	}
	if !ok || p.address == "" {
		return t.toast(ctx, "paste.too_old")
	}
	if err := t.answer(ctx, "", false); err != nil {
		return err
	}
	return c.addAll(ctx, t, d.int64(0), strings.Fields(p.address))
}

// pasteDrafted drafts a post from what was pasted. Tap: xd:<channel>:<message>.
func (c *Chat) pasteDrafted(ctx context.Context, t *turn, d tapped) error {
	p, ok, err := c.pastes.get(ctx, t.by(), d.int(1))
	if err != nil {
		return err
	}
	if !ok {
		return t.toast(ctx, "paste.too_old")
	}
	job, err := c.draftPaste(ctx, t, d.int64(0), p)
	if err != nil {
		return err
	}
	if err := t.toast(ctx, "paste.drafting_toast"); err != nil {
		return err
	}
	return t.show(ctx, message{text: t.HTML("paste.drafting", texts.Args{"Job": job.JobID})})
}

// draftPaste makes a draft of a paste. The message's number is the natural key:
// two taps draft once.
func (c *Chat) draftPaste(ctx context.Context, t *turn, channel int64, p paste) (desk.Submission, error) {
	id := int64(p.message)
	switch p.kind {
	case pasteLink:
		address, _, _ := strings.Cut(p.address, " ")
		return c.desk.OwnDraft(ctx, t.by(), channel, desk.OwnInput{URL: address, UpdateID: id})
	case pasteForward:
		return c.desk.AddForwarded(ctx, t.by(), channel, desk.Forwarded{
			ChatID: p.chat, MessageID: p.post, ChatTitle: p.title, Username: strings.TrimPrefix(p.address, "https://t.me/"),
			HTML: p.html, Text: html.Plain(p.html), At: p.at, UpdateID: id,
		})
	}
	return c.desk.OwnDraft(ctx, t.by(), channel, desk.OwnInput{HTML: p.html, UpdateID: id})
}

// maxOPML bounds a list of sources: 2 MB hold some ten thousand.
const maxOPML = 2 << 20

// document answers a file: a list of sources (OPML), or nothing that we read.
func (c *Chat) document(ctx context.Context, t *turn) error {
	ch, err := c.current(ctx, t)
	if err != nil {
		return err
	}
	doc := t.msg.Document
	name := strings.ToLower(doc.FileName)
	if !strings.HasSuffix(name, ".opml") && !strings.HasSuffix(name, ".xml") {
		return t.say(ctx, "import.not_opml")
	}
	if doc.FileSize > maxOPML {
		return t.say(ctx, "import.too_large")
	}
	body, err := c.telegram.Download(ctx, doc.FileID, maxOPML)
	if err != nil {
		return fmt.Errorf("fetch a list of sources: %w", err)
	}
	if err := c.dialogs.close(ctx, t.by()); err != nil {
		return err
	}
	job, err := c.desk.ImportOPML(ctx, t.by(), ch.ID, body)
	if err != nil {
		return err
	}
	return t.say(ctx, "import.started", texts.Args{"Job": job.JobID})
}

// importAsked answers /import.
func (c *Chat) importAsked(ctx context.Context, t *turn) error {
	if _, err := c.current(ctx, t); err != nil {
		return err
	}
	return t.say(ctx, "import.ask")
}

// export answers /export with the channel's sources as OPML.
func (c *Chat) export(ctx context.Context, t *turn) error {
	ch, err := c.current(ctx, t)
	if err != nil {
		return err
	}
	body, err := c.desk.ExportOPML(ctx, t.by(), ch.ID)
	if err != nil {
		return err
	}
	return t.send(ctx, message{
		text: t.HTML("export.done", texts.Args{"Channel": ch.Title, "Count": ch.Sources}),
		file: &file{name: "postonce-" + t.now.Format(time.DateOnly) + ".opml", body: body},
	})
}
