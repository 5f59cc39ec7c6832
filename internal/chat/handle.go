package chat

import (
	"context"
	"errors"
	"strings"

	"github.com/go-telegram/bot/models"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/queue"
)

// handle answers one update. It may run again for the same update after a
// crash: whatever desk did is found done then, and each answer goes out once.
func (c *Chat) handle(ctx context.Context, job performer, failures int, u *models.Update) error {
	from, private := sender(u)
	if from == nil || from.IsBot {
		return nil
	}
	ctx = queue.WithOrigin(ctx, withPerson(ctx, int64(u.ID), from.ID))
	t, err := c.begin(ctx, job, u, from)
	if err != nil {
		return err
	}
	switch {
	case u.MyChatMember != nil:
		err = c.membershipChanged(ctx, t, u.MyChatMember)
	case !private:
		return nil
	case t.tap != nil:
		err = c.handleTap(ctx, t)
	default:
		err = c.handleMessage(ctx, t)
	}
	return c.finish(ctx, t, failures, err)
}

func withPerson(ctx context.Context, update, person int64) queue.Origin {
	o := queue.OriginFrom(ctx)
	o.UpdateID, o.PersonID = update, person
	return o
}

// sender is who an update comes from, and whether it came from the private chat.
func sender(u *models.Update) (*models.User, bool) {
	switch {
	case u.Message != nil:
		return u.Message.From, u.Message.Chat.Type == models.ChatTypePrivate
	case u.CallbackQuery != nil:
		m := u.CallbackQuery.Message
		private := m.Message != nil && m.Message.Chat.Type == models.ChatTypePrivate ||
			m.InaccessibleMessage != nil && m.InaccessibleMessage.Chat.Type == models.ChatTypePrivate
		return &u.CallbackQuery.From, private
	case u.MyChatMember != nil:
		return &u.MyChatMember.From, u.MyChatMember.Chat.Type == models.ChatTypePrivate
	}
	return nil, false
}

func (c *Chat) begin(ctx context.Context, job performer, u *models.Update, from *models.User) (*turn, error) {
	person, err := c.desk.Seen(ctx, desk.Profile{ID: from.ID, FirstName: from.FirstName, Username: from.Username, Language: from.LanguageCode})
	if err != nil {
		return nil, err
	}
	return &turn{
		Locale: c.texts.For(person.Language), chat: c, job: job, update: u.ID, person: person, now: c.now(),
		msg: u.Message, tap: u.CallbackQuery,
	}, nil
}

// finish turns what went wrong into words, where it is the person's to mend,
// and leaves the rest to the queue.
func (c *Chat) finish(ctx context.Context, t *turn, failures int, err error) error {
	var wrong *desk.Error
	switch {
	case err == nil:
	case errors.Is(err, errUndeliverable):
		err = c.courtesy(ctx, t.by(), err)
	case errors.Is(err, errNoChannel):
		err = c.channelFirst(ctx, t)
	case errors.As(err, &wrong):
		err = c.explain(ctx, t, wrong)
	case failures >= 2 && !errors.Is(err, queue.ErrLeaseLost):
		// The last try: the person should not wait for an answer that never comes.
		_ = t.say(ctx, "error.internal", texts.Args{"Number": t.update})
		return err
	}
	if err != nil {
		return err
	}
	return t.answer(ctx, "", false)
}

// explain says what a person cannot do, and what to do instead.
func (c *Chat) explain(ctx context.Context, t *turn, wrong error) error {
	code, args := errorText(t, wrong)
	if t.tap != nil && !t.answered {
		return t.alert(ctx, t.Plain(code, args))
	}
	if strings.HasPrefix(code, desk.CodeSource) { // a part of a sentence
		code, args = "error.source_alone", texts.Args{"Why": t.Plain(code, args)}
	}
	err := t.say(ctx, code, args)
	if errors.Is(err, errUndeliverable) {
		return nil
	}
	return err
}

func (c *Chat) handleTap(ctx context.Context, t *turn) error {
	d := parseTap(t.tap.Data)
	run, ok := c.taps[d.verb]
	if !ok {
		return t.toast(ctx, "tap.unknown")
	}
	return run(ctx, t, d)
}

func (c *Chat) handleMessage(ctx context.Context, t *turn) error {
	if name, argument, ok := commandOf(t.msg.Text, c.username); ok {
		t.argument = argument
		return c.runCommand(ctx, t, name)
	}
	switch {
	case t.msg.ChatShared != nil:
		return c.linkChannel(ctx, t, t.msg.ChatShared.ChatID)
	case t.msg.SuccessfulPayment != nil:
		return nil // Handle gave it to billing
	case t.msg.ForwardOrigin != nil:
		return c.forwarded(ctx, t)
	case t.msg.Document != nil:
		return c.document(ctx, t)
	}
	var err error
	if t.dialog, err = c.dialogs.current(ctx, t.by()); err != nil {
		return err
	}
	if run, ok := c.steps[t.dialog.step]; ok && t.msg.Text != "" {
		return run(ctx, t)
	}
	return c.pasted(ctx, t)
}

// runCommand closes whatever was being asked: a command always means itself.
func (c *Chat) runCommand(ctx context.Context, t *turn, name string) error {
	cmd, ok := c.commands[name]
	if !ok || cmd.operators && !t.operator() {
		return t.say(ctx, "command.unknown", texts.Args{"Command": "/" + name})
	}
	if err := c.dialogs.close(ctx, t.by()); err != nil {
		return err
	}
	return cmd.run(ctx, t)
}

// commandOf reads "/name@bot argument". A command for another bot is none.
func commandOf(text, username string) (name, argument string, ok bool) {
	rest, found := strings.CutPrefix(text, "/")
	if !found {
		return "", "", false
	}
	word := rest
	if i := strings.IndexAny(rest, " \n\t"); i >= 0 {
		word, argument = rest[:i], strings.TrimSpace(rest[i:])
	}
	name, to, addressed := strings.Cut(word, "@")
	if name == "" || addressed && !strings.EqualFold(to, username) {
		return "", "", false
	}
	return strings.ToLower(name), argument, true
}
