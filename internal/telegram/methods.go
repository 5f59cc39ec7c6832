package telegram

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// call makes a request and decodes a confirmed result. A result that does not
// decode stays Confirmed: it happened, whatever we understand of the answer.
func call[T any](ctx context.Context, c *Client, method string, params any, opts ...Option) (*T, Outcome) {
	out := c.Do(ctx, method, params, opts...)
	ok, is := out.(Confirmed)
	if !is || ok.Already != "" {
		return nil, out
	}
	v := new(T)
	if err := json.Unmarshal(ok.Result, v); err != nil {
		c.log.Warn().Str("method", method).Err(err).Msg("an answer of telegram does not decode whole")
	}
	return v, out
}

// to counts a call against the limits of a chat. Options of the caller win.
func to(chat any, opts []Option, more ...Option) []Option {
	base := append([]Option{func(o *callOptions) { o.chat, o.timeout = fmt.Sprint(chat), sendTimeout }}, more...)
	return append(base, opts...)
}

// settledBy makes a refusal of this kind a success, as the wanted state is there.
func settledBy(kind Kind) Option { return func(o *callOptions) { o.already = kind } }

// GetMe asks who the token belongs to.
func (c *Client) GetMe(ctx context.Context, opts ...Option) (*models.User, Outcome) {
	return call[models.User](ctx, c, "getMe", nil, opts...)
}

// SendMessage sends a text. The message is nil unless the outcome is Confirmed;
// its id may be 0 (scheduled by the server), which is a success.
func (c *Client) SendMessage(ctx context.Context, p *bot.SendMessageParams, opts ...Option) (*models.Message, Outcome) {
	return call[models.Message](ctx, c, "sendMessage", p, to(p.ChatID, opts)...)
}

// SendPhoto sends a picture by address, file id or upload.
func (c *Client) SendPhoto(ctx context.Context, p *bot.SendPhotoParams, opts ...Option) (*models.Message, Outcome) {
	return call[models.Message](ctx, c, "sendPhoto", p, to(p.ChatID, opts)...)
}

// SendDocument sends a file.
func (c *Client) SendDocument(ctx context.Context, p *bot.SendDocumentParams, opts ...Option) (*models.Message, Outcome) {
	return call[models.Message](ctx, c, "sendDocument", p, to(p.ChatID, opts)...)
}

// SendMediaGroup sends an album of 2 to 10.
func (c *Client) SendMediaGroup(ctx context.Context, p *bot.SendMediaGroupParams, opts ...Option) ([]*models.Message, Outcome) {
	list, out := call[[]*models.Message](ctx, c, "sendMediaGroup", p, to(p.ChatID, opts)...)
	if list == nil {
		return nil, out
	}
	return *list, out
}

// SendChatAction shows "typing…". Nobody waits for its outcome.
func (c *Client) SendChatAction(ctx context.Context, p *bot.SendChatActionParams, opts ...Option) Outcome {
	return c.Do(ctx, "sendChatAction", p, opts...)
}

// EditMessageText replaces a text. "Message is not modified" is Confirmed with
// Already set and no message.
func (c *Client) EditMessageText(ctx context.Context, p *bot.EditMessageTextParams, opts ...Option) (*models.Message, Outcome) {
	return call[models.Message](ctx, c, "editMessageText", p, to(p.ChatID, opts, settledBy(NotModified))...)
}

// EditMessageCaption replaces the text under a picture; see EditMessageText.
func (c *Client) EditMessageCaption(ctx context.Context, p *bot.EditMessageCaptionParams, opts ...Option) (*models.Message, Outcome) {
	return call[models.Message](ctx, c, "editMessageCaption", p, to(p.ChatID, opts, settledBy(NotModified))...)
}

// DeleteMessage removes a message. One that is gone already is Refused as
// MessageNotFound: whoever deletes a post decides whether that is a success.
func (c *Client) DeleteMessage(ctx context.Context, p *bot.DeleteMessageParams, opts ...Option) Outcome {
	return c.Do(ctx, "deleteMessage", p, to(p.ChatID, opts)...)
}

// ForwardMessage forwards one message.
func (c *Client) ForwardMessage(ctx context.Context, p *bot.ForwardMessageParams, opts ...Option) (*models.Message, Outcome) {
	return call[models.Message](ctx, c, "forwardMessage", p, to(p.ChatID, opts)...)
}

// GetChat reads what the bot may know about a chat.
func (c *Client) GetChat(ctx context.Context, p *bot.GetChatParams, opts ...Option) (*models.ChatFullInfo, Outcome) {
	return call[models.ChatFullInfo](ctx, c, "getChat", p, opts...)
}

// GetChatMember reads somebody's rights in a chat, the bot's own among them.
func (c *Client) GetChatMember(ctx context.Context, p *bot.GetChatMemberParams, opts ...Option) (*models.ChatMember, Outcome) {
	return call[models.ChatMember](ctx, c, "getChatMember", p, opts...)
}

// AnswerCallbackQuery answers a tap. An answer that comes too late is Confirmed
// with Already set: nobody waits for it any more.
func (c *Client) AnswerCallbackQuery(ctx context.Context, p *bot.AnswerCallbackQueryParams, opts ...Option) Outcome {
	return c.Do(ctx, "answerCallbackQuery", p, append([]Option{settledBy(QueryTooOld)}, opts...)...)
}

// AnswerPreCheckoutQuery accepts or declines a payment; Telegram waits 10 s.
func (c *Client) AnswerPreCheckoutQuery(ctx context.Context, p *bot.AnswerPreCheckoutQueryParams, opts ...Option) Outcome {
	return c.Do(ctx, "answerPreCheckoutQuery", p, opts...)
}

// CreateInvoiceLink makes a link that asks for a payment.
func (c *Client) CreateInvoiceLink(ctx context.Context, p *bot.CreateInvoiceLinkParams, opts ...Option) (string, Outcome) {
	s, out := call[string](ctx, c, "createInvoiceLink", p, opts...)
	if s == nil {
		return "", out
	}
	return *s, out
}

// RefundStarPayment gives Stars back. A charge that was refunded before is
// Confirmed with Already set.
func (c *Client) RefundStarPayment(ctx context.Context, p *bot.RefundStarPaymentParams, opts ...Option) Outcome {
	return c.Do(ctx, "refundStarPayment", p, append([]Option{settledBy(AlreadyRefunded)}, opts...)...)
}

// GetStarTransactions lists the bot's Star movements from the oldest on. The id
// of an incoming payment is its telegram_payment_charge_id.
func (c *Client) GetStarTransactions(ctx context.Context, p *bot.GetStarTransactionsParams, opts ...Option) (*models.StarTransactions, Outcome) {
	return call[models.StarTransactions](ctx, c, "getStarTransactions", p, opts...)
}

// EditUserStarSubscription stops or resumes the renewal of a subscription.
func (c *Client) EditUserStarSubscription(ctx context.Context, p *bot.EditUserStarSubscriptionParams, opts ...Option) Outcome {
	return c.Do(ctx, "editUserStarSubscription", p, opts...)
}

// SetMyCommands sets the list behind the menu button for a scope and language.
func (c *Client) SetMyCommands(ctx context.Context, p *bot.SetMyCommandsParams, opts ...Option) Outcome {
	return c.Do(ctx, "setMyCommands", p, opts...)
}

// SetChatMenuButton sets the button beside the input field.
func (c *Client) SetChatMenuButton(ctx context.Context, p *bot.SetChatMenuButtonParams, opts ...Option) Outcome {
	return c.Do(ctx, "setChatMenuButton", p, opts...)
}

// SetWebhook makes Telegram send updates to an address.
func (c *Client) SetWebhook(ctx context.Context, p *bot.SetWebhookParams, opts ...Option) Outcome {
	return c.Do(ctx, "setWebhook", p, opts...)
}

// DeleteWebhook makes getUpdates possible again.
func (c *Client) DeleteWebhook(ctx context.Context, p *bot.DeleteWebhookParams, opts ...Option) Outcome {
	return c.Do(ctx, "deleteWebhook", p, opts...)
}

// GetWebhookInfo reads where updates go and what went wrong with it.
func (c *Client) GetWebhookInfo(ctx context.Context, opts ...Option) (*models.WebhookInfo, Outcome) {
	return call[models.WebhookInfo](ctx, c, "getWebhookInfo", nil, opts...)
}
