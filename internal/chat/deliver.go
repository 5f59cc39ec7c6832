package chat

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/telegram"
)

// sendTimeout bounds one message to a person, waiting for its turn included.
const sendTimeout = 60 * time.Second

// performer is the part of a job that makes an outside effect once.
type performer interface {
	Perform(ctx context.Context, e queue.Effect) (queue.Outcome, error)
}

// delivery is one message that goes out, or one edit, under the ledger.
type delivery struct {
	key    string // names it for ever; says which answer to which update it is, not what it says
	person int64
	edit   int // message to edit; 0 sends a new one
	photo  bool
	msg    message
	// after records the message in the transaction that records the outcome.
	after func(ctx context.Context, tx pgx.Tx, messageID int64) error
}

// errUndeliverable means that a message certainly did not reach its person and
// never will in this form: the bot is blocked, the message to edit is gone.
var errUndeliverable = errors.New("chat: undeliverable")

// deliver sends or edits once. The request is hashed by its key alone: a
// handler that runs again after a crash may word its answer differently, and it
// is still the same answer. A doubt closes by itself; nil is returned for it,
// as the person sees the state with the next tap.
func (c *Chat) deliver(ctx context.Context, job performer, d delivery) error {
	var refusal telegram.Refused
	e := queue.Effect{
		Key: d.key, Request: []byte(d.key), Timeout: sendTimeout,
		Call: func(ctx context.Context) queue.Outcome {
			id, out := c.call(ctx, d)
			if r, ok := out.(telegram.Refused); ok {
				refusal = r
			}
			return outcome(out, id)
		},
	}
	if d.after != nil {
		e.After = func(ctx context.Context, tx pgx.Tx, o queue.Outcome) error {
			done, ok := o.(queue.Confirmed)
			if !ok {
				return nil
			}
			// "Not modified" confirms an edit without a number: its own is known.
			id, err := strconv.ParseInt(done.ExternalID, 10, 64)
			if err != nil {
				id = int64(d.edit)
			}
			return d.after(ctx, tx, id)
		}
	}
	_, err := job.Perform(ctx, e)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, queue.ErrInDoubt):
		c.log.Warn().Str("effect", d.key).Msg("a message to a person is in doubt and is not sent again")
		return nil
	case refusal.Kind != "" && !refusal.Temporary():
		c.log.Info().Str("effect", d.key).Str("kind", string(refusal.Kind)).Str("why", refusal.Description).Msg("a message to a person was refused")
		return undeliverable(refusal.Kind)
	}
	return err
}

// call makes the request.
func (c *Chat) call(ctx context.Context, d delivery) (int, telegram.Outcome) {
	var m *models.Message
	var out telegram.Outcome
	lane := telegram.In(telegram.Taps)
	switch {
	case d.edit != 0 && d.photo:
		m, out = c.telegram.EditMessageCaption(ctx, &bot.EditMessageCaptionParams{
			ChatID: d.person, MessageID: d.edit, Caption: string(d.msg.text), ParseMode: models.ParseModeHTML, ReplyMarkup: d.msg.markup(),
		}, lane)
	case d.edit != 0:
		m, out = c.telegram.EditMessageText(ctx, &bot.EditMessageTextParams{
			ChatID: d.person, MessageID: d.edit, Text: string(d.msg.text), ParseMode: models.ParseModeHTML,
			LinkPreviewOptions: d.msg.linkPreview(), ReplyMarkup: d.msg.markup(),
		}, lane)
	default:
		m, out = c.send(ctx, d, lane)
	}
	if m == nil {
		return 0, out
	}
	return m.ID, out
}

func (c *Chat) send(ctx context.Context, d delivery, lane telegram.Option) (*models.Message, telegram.Outcome) {
	markup := d.msg.markup()
	if d.msg.keys == nil && len(d.msg.rows) == 0 {
		markup = nil
	}
	var reply *models.ReplyParameters
	if d.msg.replyTo != 0 {
		reply = &models.ReplyParameters{MessageID: d.msg.replyTo, AllowSendingWithoutReply: true}
	}
	switch {
	case d.msg.file != nil:
		return c.telegram.SendDocument(ctx, &bot.SendDocumentParams{
			ChatID: d.person, Caption: string(d.msg.text), ParseMode: models.ParseModeHTML, ReplyMarkup: markup,
			Document: &models.InputFileUpload{Filename: d.msg.file.name, Data: bytes.NewReader(d.msg.file.body)},
		}, lane)
	case d.msg.photo != "":
		return c.telegram.SendPhoto(ctx, &bot.SendPhotoParams{
			ChatID: d.person, Photo: &models.InputFileString{Data: d.msg.photo}, Caption: string(d.msg.text),
			ParseMode: models.ParseModeHTML, ReplyMarkup: markup, ReplyParameters: reply,
		}, lane)
	}
	return c.telegram.SendMessage(ctx, &bot.SendMessageParams{
		ChatID: d.person, Text: string(d.msg.text), ParseMode: models.ParseModeHTML,
		LinkPreviewOptions: d.msg.linkPreview(), ReplyMarkup: markup, ReplyParameters: reply,
	}, lane)
}

// outcome carries what Telegram's client knows over to the ledger.
func outcome(o telegram.Outcome, messageID int) queue.Outcome {
	id := ""
	if messageID != 0 {
		id = strconv.Itoa(messageID)
	}
	return telegram.ToQueue(o, id, nil)
}
