package chat

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/telegram"
)

// Config is what a Chat needs.
type Config struct {
	Pool     *pgxpool.Pool
	Desk     *desk.Desk
	Telegram *telegram.Client
	// Username is the bot's, without @: invitation links carry it.
	Username string
	// AppURL is where the Mini App is reached; empty hides its buttons.
	AppURL string
	// Billing sells plans; nil where nothing is sold.
	Billing Billing
	// Now is the calendar's clock; nil is the system's.
	Now    func() time.Time
	Logger zerolog.Logger
}

// Chat is the edge that people talk to. It is safe for concurrent use: each
// update has a turn of its own, and the queue orders those of one person.
type Chat struct {
	pool     *pgxpool.Pool
	desk     *desk.Desk
	telegram *telegram.Client
	username string
	appURL   string
	billing  Billing
	now      func() time.Time
	log      zerolog.Logger

	texts    *texts.Catalogues
	dialogs  dialogs
	pastes   pastes
	cards    cards
	commands map[string]command
	taps     map[string]tapHandler
	steps    map[string]handler
	settings map[string]setting
}

// New builds the chat; it fails only if the embedded catalogues do not parse.
func New(cfg Config) (*Chat, error) {
	catalogues, err := texts.Load()
	if err != nil {
		return nil, fmt.Errorf("chat: %w", err)
	}
	c := &Chat{
		pool: cfg.Pool, desk: cfg.Desk, telegram: cfg.Telegram, username: cfg.Username, appURL: cfg.AppURL,
		billing: cfg.Billing, now: cfg.Now, log: cfg.Logger, texts: catalogues,
		dialogs: dialogs{cfg.Pool}, pastes: pastes{cfg.Pool}, cards: cards{cfg.Pool},
	}
	if c.now == nil {
		c.now = time.Now
	}
	c.commands = c.commandTable()
	c.taps = c.tapTable()
	c.steps = c.stepTable()
	c.settings = c.settingTable()
	return c, nil
}

// handler answers a message; tapHandler answers a button.
type (
	handler    func(ctx context.Context, t *turn) error
	tapHandler func(ctx context.Context, t *turn, d tapped) error
)

// command is one word behind a slash.
type command struct {
	run handler
	// menu lists it behind Telegram's menu button.
	menu bool
	// operators alone see and use it.
	operators bool
}
