package chat

import (
	"context"
	"errors"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/telegram"
)

// RegisterMenu sets the command menu in each language, for operators their own
// one, and the menu button that opens the Mini App. Setting it again changes
// nothing, so it is called at every start; what failed is returned joined and
// costs no more than an old menu.
func (c *Chat) RegisterMenu(ctx context.Context, operators []int64) error {
	var errs []error
	for _, language := range c.texts.Languages() {
		l := c.texts.For(language)
		code := language
		if language == texts.Default {
			code = "" // for everybody whose language has no menu of its own
		}
		errs = append(errs, telegram.AsError(c.telegram.SetMyCommands(ctx, &bot.SetMyCommandsParams{
			Commands: c.menu(l, false), Scope: &models.BotCommandScopeAllPrivateChats{}, LanguageCode: code,
		})))
		for _, id := range operators {
			errs = append(errs, optional(telegram.AsError(c.telegram.SetMyCommands(ctx, &bot.SetMyCommandsParams{
				Commands: c.menu(l, true), Scope: &models.BotCommandScopeChat{ChatID: id}, LanguageCode: code,
			}))))
		}
	}
	if c.appURL != "" {
		errs = append(errs, telegram.AsError(c.telegram.SetChatMenuButton(ctx, &bot.SetChatMenuButtonParams{
			MenuButton: models.MenuButtonWebApp{Type: models.MenuButtonTypeWebApp, Text: c.texts.For(texts.Default).Plain("button.app"), WebApp: models.WebAppInfo{URL: c.appURL}},
		})))
	}
	return errors.Join(errs...)
}

// ownMenuButton names the Mini App's button in the person's language. Telegram
// keeps one such name for each chat and no other way to speak to it; nothing
// depends on it.
func (c *Chat) ownMenuButton(ctx context.Context, t *turn) {
	if c.appURL == "" {
		return
	}
	_ = c.telegram.SetChatMenuButton(ctx, &bot.SetChatMenuButtonParams{
		ChatID:     t.by(),
		MenuButton: models.MenuButtonWebApp{Type: models.MenuButtonTypeWebApp, Text: t.Plain("button.app"), WebApp: models.WebAppInfo{URL: c.appURL}},
	}, telegram.Timeout(2*time.Second))
}

// optional passes over an operator who never wrote to the bot.
func optional(err error) error {
	if telegram.RefusedAs(err, telegram.ChatNotFound) || telegram.RefusedAs(err, telegram.CannotStart) {
		return nil
	}
	return err
}

func (c *Chat) menu(l *texts.Locale, operator bool) []models.BotCommand {
	var out []models.BotCommand
	for _, name := range menuOrder() {
		cmd := c.commands[name]
		if !cmd.menu || cmd.operators && !operator {
			continue
		}
		out = append(out, models.BotCommand{Command: name, Description: l.Plain("menu." + name)})
	}
	return out
}
