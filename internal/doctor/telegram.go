package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/telegram"
)

const channelsToCheckSQL = `
SELECT chat_id,
       title
  FROM channels
 WHERE state = 'active'
 ORDER BY id
 LIMIT $1`

// fresh errors of a webhook are shown, old ones are history.
const webhookErrorAge = time.Hour

func (e *exam) token(ctx context.Context) (Status, string) {
	if e.cfg.Token == "" {
		return Fail, "TELEGRAM_BOT_TOKEN is not set: get one from @BotFather"
	}
	client, err := telegram.New(telegram.Config{Token: telegram.Token(e.cfg.Token), BaseURL: e.cfg.APIURL})
	if err != nil {
		return Fail, oneLine(err.Error())
	}
	var me struct{ Username string }
	if err := ask(ctx, client, "getMe", nil, &me); err != nil {
		if telegram.RefusedAs(err, telegram.Unauthorized) {
			return Fail, "Telegram does not take TELEGRAM_BOT_TOKEN: it is wrong or was revoked; @BotFather shows the current one"
		}
		return Fail, e.cfg.APIURL + " cannot be asked: " + oneLine(err.Error())
	}
	e.client = client
	return OK, "@" + me.Username
}

func (e *exam) webhook(ctx context.Context) (Status, string) {
	if e.client == nil {
		return Skip, "no token"
	}
	var hook struct {
		URL       string
		Pending   int    `json:"pending_update_count"`
		ErrorDate int64  `json:"last_error_date"`
		Error     string `json:"last_error_message"`
	}
	if err := ask(ctx, e.client, "getWebhookInfo", nil, &hook); err != nil {
		return Fail, oneLine(err.Error())
	}
	waiting := fmt.Sprintf("%d updates wait", hook.Pending)
	if e.cfg.Updates == "polling" {
		if hook.URL != "" {
			return Fail, "one is set, so that polling gets nothing: stop the program that set it, or set TELEGRAM_UPDATES=webhook"
		}
		return OK, "none is set, as polling wants; " + waiting
	}
	switch {
	case hook.URL == "":
		return Warn, "none is set yet: `postonce serve` sets it at its start; " + waiting
	case e.cfg.WebhookURL != "" && hook.URL != e.cfg.WebhookURL:
		return Fail, fmt.Sprintf("it points at %s, this program listens at %s: another program uses the same token, or PUBLIC_URL changed", hook.URL, e.cfg.WebhookURL)
	case hook.Error != "" && e.cfg.Now().Sub(time.Unix(hook.ErrorDate, 0)) < webhookErrorAge:
		return Fail, fmt.Sprintf("Telegram could not deliver: %s; %s", oneLine(hook.Error), waiting)
	}
	return OK, "set; " + waiting
}

// rights asks for the bot's own membership in every channel, which no member
// of the channel sees.
func (e *exam) rights(ctx context.Context) (Status, string) {
	if e.client == nil || !e.schema {
		return Skip, "needs the token and the schema"
	}
	rows, err := e.pool.Query(ctx, channelsToCheckSQL, maxChannels)
	if err != nil {
		return Fail, oneLine(err.Error())
	}
	type channel struct {
		ChatID int64
		Title  string
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[channel])
	if err != nil {
		return Fail, oneLine(err.Error())
	}
	if len(list) == 0 {
		return OK, "no channel is linked yet"
	}
	var lacking []string
	for _, c := range list {
		if lack := e.lack(ctx, c.ChatID); lack != "" {
			lacking = append(lacking, fmt.Sprintf("%s (%d): %s", c.Title, c.ChatID, lack))
		}
	}
	if len(lacking) > 0 {
		return Fail, fmt.Sprintf("%d of %d channels: %s", len(lacking), len(list), strings.Join(lacking, "; "))
	}
	return OK, fmt.Sprintf("the bot may post in all %d channels", len(list))
}

// lack says what the bot lacks in a chat, empty when it may post.
func (e *exam) lack(ctx context.Context, chatID int64) string {
	var m struct {
		Status string
		Post   bool `json:"can_post_messages"`
	}
	err := ask(ctx, e.client, "getChatMember", map[string]any{"chat_id": chatID, "user_id": e.client.BotID()}, &m)
	switch {
	case telegram.RefusedAs(err, telegram.Kicked), telegram.RefusedAs(err, telegram.ChatNotFound):
		return "the bot is no member: add it as an administrator"
	case err != nil:
		return oneLine(err.Error())
	case m.Status != "administrator" && m.Status != "creator":
		return "the bot is no administrator: make it one with the right to post messages"
	case !m.Post && m.Status != "creator":
		return "the right to post messages is missing"
	}
	return ""
}

func (e *exam) logChat(ctx context.Context) (Status, string) {
	switch {
	case e.cfg.LogChatID == 0:
		return Skip, "LOG_CHAT_ID is not set: doubts in private channels can only be settled by people"
	case e.client == nil:
		return Skip, "no token"
	}
	var chat struct{ Type string }
	if err := ask(ctx, e.client, "getChat", map[string]any{"chat_id": e.cfg.LogChatID}, &chat); err != nil {
		return Fail, fmt.Sprintf("LOG_CHAT_ID %d cannot be reached: %s; add the bot there", e.cfg.LogChatID, oneLine(err.Error()))
	}
	return OK, "a " + chat.Type + " chat that the bot reaches"
}

// ask reads one answer of the Bot API into v.
func ask(ctx context.Context, c *telegram.Client, method string, params map[string]any, v any) error {
	out := c.Do(ctx, method, params, telegram.Timeout(checkTimeout))
	ok, is := out.(telegram.Confirmed)
	if !is {
		return telegram.AsError(out)
	}
	return json.Unmarshal(ok.Result, v)
}
