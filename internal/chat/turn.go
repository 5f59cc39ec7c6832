package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/telegram"
)

// turn is one update while it is handled: who speaks, in which language, and
// how to answer. It is used by one goroutine.
type turn struct {
	*texts.Locale
	chat   *Chat
	job    performer
	update int64
	person editorial.Person
	now    time.Time

	msg *models.Message       // what the person sent; nil for a tap
	tap *models.CallbackQuery // nil for a message
	// command is the message's argument text behind a command.
	argument string
	dialog   dialog

	sent     int  // answers so far: the next one's number
	answered bool // the tap has its answer
}

// by is the person's number, as desk wants it.
func (t *turn) by() int64 { return t.person.ID }

// under is the number of the message whose button was tapped; 0 for a message.
func (t *turn) under() int {
	if t.tap == nil {
		return 0
	}
	switch {
	case t.tap.Message.Message != nil:
		return t.tap.Message.Message.ID
	case t.tap.Message.InaccessibleMessage != nil:
		return t.tap.Message.InaccessibleMessage.MessageID
	}
	return 0
}

func (t *turn) key(what string) string {
	t.sent++
	return fmt.Sprintf("update:%d:%s:%d", t.update, what, t.sent)
}

// send answers with a new message.
func (t *turn) send(ctx context.Context, m message) error {
	return t.chat.deliver(ctx, t.job, delivery{key: t.key("reply"), person: t.by(), msg: m})
}

// say answers with one text.
func (t *turn) say(ctx context.Context, code string, args ...texts.Args) error {
	return t.send(ctx, message{text: t.HTML(code, args...)})
}

// show puts a screen where the tapped one was; for a message it is an answer.
// A screen that cannot be edited any more (too old, deleted) is sent anew.
func (t *turn) show(ctx context.Context, m message) error {
	under := t.under()
	if under == 0 || m.keys != nil || m.file != nil || t.underPhoto() {
		return t.send(ctx, m)
	}
	err := t.chat.deliver(ctx, t.job, delivery{key: t.key("edit"), person: t.by(), edit: under, msg: m})
	if errors.Is(err, errUndeliverable) {
		return t.send(ctx, m)
	}
	return err
}

func (t *turn) underPhoto() bool {
	return t.tap != nil && t.tap.Message.Message != nil && len(t.tap.Message.Message.Photo) > 0
}

// toast answers a tap in passing; a second answer to the same tap is dropped.
func (t *turn) toast(ctx context.Context, code string, args ...texts.Args) error {
	return t.answer(ctx, t.Plain(code, args...), false)
}

// alert answers a tap so that the person has to close it.
func (t *turn) alert(ctx context.Context, text string) error { return t.answer(ctx, text, true) }

// maxToast is Telegram's limit for the answer to a tap, in characters.
const maxToast = 200

func (t *turn) answer(ctx context.Context, text string, alert bool) error {
	if t.tap == nil || t.answered {
		return nil
	}
	t.answered = true
	key := fmt.Sprintf("update:%d:answer", t.update)
	_, err := t.job.Perform(ctx, queue.Effect{
		Key: key, Request: []byte(key), Timeout: 15 * time.Second,
		Call: func(ctx context.Context) queue.Outcome {
			out := t.chat.telegram.AnswerCallbackQuery(ctx, &bot.AnswerCallbackQueryParams{
				CallbackQueryID: t.tap.ID, Text: shorten(text, maxToast), ShowAlert: alert,
			}, telegram.In(telegram.Taps))
			return outcome(out, 0)
		},
	})
	if err != nil {
		// Nobody waits for the answer to a tap for long: the edit below says the same.
		t.chat.log.Info().Err(err).Int64("update", t.update).Msg("a tap was not answered")
	}
	return nil
}

// typing shows that the bot works on it. Nothing depends on it.
func (t *turn) typing(ctx context.Context) {
	_ = t.chat.telegram.SendChatAction(ctx, &bot.SendChatActionParams{ChatID: t.by(), Action: models.ChatActionTyping},
		telegram.Timeout(2*time.Second))
}

// ask opens a dialog: the next message is taken for its answer.
func (t *turn) ask(ctx context.Context, step string, d dialogData, m message) error {
	if err := t.chat.dialogs.open(ctx, t.by(), step, d); err != nil {
		return err
	}
	return t.send(ctx, m)
}

// cancel is the button that takes a question back: the dialog of that step, if
// it is still the one that is open, or noStep's, which opened none.
func (t *turn) cancel(step string) button {
	return button{text: t.Plain("button.cancel"), data: data("x", step)}
}

// shorten cuts a text to n characters, with an ellipsis.
func shorten(s string, n int) string {
	r := []rune(strings.TrimSpace(s))
	if len(r) <= n {
		return string(r)
	}
	return strings.TrimRight(string(r[:n-1]), " ,.;:–—-") + "…"
}
