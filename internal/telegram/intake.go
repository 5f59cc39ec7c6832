package telegram

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/queue"
)

// Mode is how updates come.
type Mode string

// The two ways; only one can be on for a token.
const (
	Polling Mode = "polling"
	Webhook Mode = "webhook"
)

// PreCheckoutQuery is a payment that waits for a yes.
type PreCheckoutQuery = models.PreCheckoutQuery

// HandleUpdate does what an update asks for. It runs as a job of kind "update":
// domain changes in job.Complete, everything that is sent through job.Perform.
// Updates of one chat are handled one at a time and in order.
type HandleUpdate func(ctx context.Context, job *queue.Job[UpdateArgs], u *models.Update) error

// IntakeConfig is what the intake needs.
type IntakeConfig struct {
	Client *Client
	Pool   *pgxpool.Pool
	Mode   Mode
	// WebhookURL is the public address of Intake.ServeHTTP; only in webhook mode.
	WebhookURL string
	// AllowedUpdates defaults to what postonce understands.
	AllowedUpdates []string
	Handle         HandleUpdate
	// PreCheckout decides about a payment within 7 s, ahead of every queue; an empty
	// reason is a yes. It must only read.
	PreCheckout func(ctx context.Context, q *PreCheckoutQuery) (reason string, err error)
	// Sorry is what a person reads, in the language of that code of Telegram's, when
	// PreCheckout fails or takes too long.
	Sorry func(language string) string
	// Observe is told of every update: new, known or dead; for metrics.
	Observe func(via, result string)
	Logger  zerolog.Logger
	// LongPoll is how long Telegram may hold getUpdates; default 25 s.
	LongPoll time.Duration
	// Holder names this process in the lease row; default made up.
	Holder string
}

// preCheckoutTime is what a decision about a payment may take: Telegram waits
// 10 s in all.
const preCheckoutTime = 7 * time.Second

// Intake takes updates in: a row first, then the acknowledgement. Build it with
// NewIntake, Register its kinds, and Start it when the queue runs.
type Intake struct {
	cfg      IntakeConfig
	bot      int64
	kind     queue.Kind[UpdateArgs]
	secret   string
	log      zerolog.Logger
	answers  sync.WaitGroup // pre-checkout answers under way
	loops    sync.WaitGroup
	stop     context.CancelFunc // nil before Start
	trouble  atomic.Pointer[string]
	stopping atomic.Bool
}

// DefaultUpdates are the kinds that postonce asks for.
func DefaultUpdates() []string {
	return []string{
		"message", "edited_message", "channel_post", "edited_channel_post", "callback_query",
		"my_chat_member", "pre_checkout_query", "subscription",
	}
}

// NewIntake checks the configuration; it touches neither network nor database.
func NewIntake(cfg IntakeConfig) (*Intake, error) {
	if cfg.Mode == "" {
		cfg.Mode = Polling
	}
	if cfg.Mode == Webhook && !strings.HasPrefix(cfg.WebhookURL, "http") {
		return nil, errors.New("telegram: webhook mode needs the public address of the webhook")
	}
	if cfg.Handle == nil {
		return nil, errors.New("telegram: the intake needs a handler")
	}
	if len(cfg.AllowedUpdates) == 0 {
		cfg.AllowedUpdates = DefaultUpdates()
	}
	if cfg.LongPoll <= 0 {
		cfg.LongPoll = 25 * time.Second
	}
	if cfg.Holder == "" {
		cfg.Holder = newHolder()
	}
	if cfg.Observe == nil {
		cfg.Observe = func(string, string) {}
	}
	if cfg.Sorry == nil {
		cfg.Sorry = func(string) string { return "Nothing was charged; please try again." }
	}
	in := &Intake{cfg: cfg, bot: cfg.Client.BotID(), log: cfg.Logger, secret: webhookSecret(cfg.Client.token)}
	in.kind = in.updateKind()
	return in, nil
}

// webhookSecret follows from the token, so that all processes behind a balancer
// know it and no configuration holds it.
func webhookSecret(t Token) string {
	h := hmac.New(sha256.New, []byte(t))
	_, _ = h.Write([]byte("postonce webhook secret 1"))
	return hex.EncodeToString(h.Sum(nil))
}

// Start begins to take updates in. In webhook mode it tells Telegram the
// address (a webhook stays when the process stops: others may serve it); in
// polling mode it removes a webhook that is set.
func (in *Intake) Start(ctx context.Context) error {
	ctx, in.stop = context.WithCancel(ctx)
	if in.cfg.Mode == Webhook {
		in.loops.Go(func() { in.keepWebhook(ctx) })
		return nil
	}
	in.loops.Go(func() { in.pollLoop(ctx) })
	return nil
}

// Stop ends the intake and waits for answers under way. The webhook handler
// answers 503 from now on, so that Telegram keeps what it has.
func (in *Intake) Stop(ctx context.Context) error {
	if in.stop == nil {
		return nil
	}
	in.stopping.Store(true)
	in.stop()
	done := make(chan struct{})
	go func() {
		in.loops.Wait()
		in.answers.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("telegram: the intake did not stop in time: %w", ctx.Err())
	}
}

// Trouble is what keeps updates from coming to this process, in a sentence for
// the operator; empty when all is well. It stands in update_troubles too, for
// whoever tells operators.
func (in *Intake) Trouble() string {
	if t := in.trouble.Load(); t != nil {
		return *t
	}
	return ""
}

const troubleSetSQL = `
INSERT INTO update_troubles AS t (bot_id, what)
VALUES ($1, $2)
    ON CONFLICT (bot_id) DO UPDATE
   SET what = excluded.what`

const troubleClearSQL = `
DELETE FROM update_troubles
 WHERE bot_id = $1`

// setTrouble notes a change, for this process and for the operators; what an
// earlier process left behind is cleared by the first success of a later one.
// Only the process that takes updates in calls it.
func (in *Intake) setTrouble(ctx context.Context, text string) {
	known := in.trouble.Swap(&text)
	switch {
	case known != nil && *known == text:
		return
	case text != "":
		in.log.Warn().Str("trouble", text).Msg("no updates from Telegram")
	case known != nil:
		in.log.Info().Msg("updates from Telegram again")
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var err error
	if text == "" {
		_, err = in.cfg.Pool.Exec(ctx, troubleClearSQL, in.bot)
	} else {
		_, err = in.cfg.Pool.Exec(ctx, troubleSetSQL, in.bot, text)
	}
	if err != nil {
		in.trouble.Store(nil) // the database is away: the next time writes
		in.log.Debug().Err(err).Msg("the trouble with updates was not noted")
	}
}

// preCheckout answers a payment at once, whatever the queue is doing. An answer
// that was given before is refused by Telegram and harms nobody.
func (in *Intake) preCheckout(list []received) {
	for _, r := range list {
		if r.update == nil || r.update.PreCheckoutQuery == nil {
			continue
		}
		q := r.update.PreCheckoutQuery
		in.answers.Go(func() { in.answerPreCheckout(q) })
	}
}

func (in *Intake) answerPreCheckout(q *PreCheckoutQuery) {
	ctx, cancel := context.WithTimeout(context.Background(), preCheckoutTime)
	defer cancel()
	reason, err := in.decide(ctx, q)
	if err != nil {
		in.log.Error().Err(err).Str("query", q.ID).Msg("a payment was not decided; it is declined")
		reason = in.sorry(q)
	}
	answerCtx, cancelAnswer := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancelAnswer()
	out := in.cfg.Client.AnswerPreCheckoutQuery(answerCtx, &bot.AnswerPreCheckoutQueryParams{
		PreCheckoutQueryID: q.ID, OK: reason == "", ErrorMessage: reason,
	})
	if err := AsError(out); err != nil {
		in.log.Warn().Err(err).Str("query", q.ID).Msg("the answer to a payment did not arrive")
	}
}

func (in *Intake) decide(ctx context.Context, q *PreCheckoutQuery) (reason string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if in.cfg.PreCheckout == nil {
		return in.sorry(q), nil
	}
	return in.cfg.PreCheckout(ctx, q)
}

func (in *Intake) sorry(q *PreCheckoutQuery) string {
	if q.From == nil {
		return in.cfg.Sorry("")
	}
	return in.cfg.Sorry(q.From.LanguageCode)
}
