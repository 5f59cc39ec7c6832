package channels

import (
	"context"

	"github.com/postonce/postonce/internal/telegram"
)

// TelegramRights asks Telegram about a chat: three calls that only read.
type TelegramRights struct{ Client *telegram.Client }

// Look implements Rights.
func (r TelegramRights) Look(ctx context.Context, chatID, personID int64) (Look, error) {
	chat, out := r.Client.GetChat(ctx, &telegram.GetChatParams{ChatID: chatID})
	if err := invisible(out); err != nil {
		return Look{}, err
	}
	look := Look{ChatID: chat.ID, IsChannel: chat.Type == "channel", Title: chat.Title, Username: chat.Username}
	if !look.IsChannel {
		return look, nil
	}
	bot, out := r.Client.GetChatMember(ctx, &telegram.GetChatMemberParams{ChatID: chatID, UserID: r.Client.BotID()})
	if err := invisible(out); err != nil {
		return look, err
	}
	if bot.Administrator != nil {
		look.BotIsAdmin, look.BotCanPost = true, bot.Administrator.CanPostMessages
	}
	person, out := r.Client.GetChatMember(ctx, &telegram.GetChatMemberParams{ChatID: chatID, UserID: personID})
	if _, refused := out.(telegram.Refused); refused {
		return look, nil // somebody who was never in the channel: no administrator
	}
	if err := telegram.AsError(out); err != nil {
		return look, err
	}
	look.PersonAdmin = person.Owner != nil || person.Administrator != nil
	return look, nil
}

// invisible turns a refusal that means "the bot is not in there" into
// ErrBotNoAdmin and keeps what may pass as it is.
func invisible(out telegram.Outcome) error {
	refused, ok := out.(telegram.Refused)
	if ok && !refused.Temporary() {
		return ErrBotNoAdmin
	}
	return telegram.AsError(out)
}
