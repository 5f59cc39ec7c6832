package telegram

import (
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/go-telegram/bot"
	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
)

const (
	secretHeader = "X-Telegram-Bot-Api-Secret-Token"
	maxUpdate    = 4 << 20
	// webhookCheck is how often the webhook is compared with what it should be:
	// somebody else may have changed it.
	webhookCheck = 5 * time.Minute
	// webhookTime bounds the handling of one delivery; Telegram waits longer.
	webhookTime = 15 * time.Second
)

// ServeHTTP takes one update from Telegram: POST /telegram/webhook. The secret
// is compared in constant time before a byte of the body is read. 200 follows
// the commit; anything else makes Telegram bring the update again.
func (in *Intake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if in.cfg.Mode != Webhook || subtle.ConstantTimeCompare([]byte(r.Header.Get(secretHeader)), []byte(in.secret)) != 1 {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if in.stopping.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxUpdate))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), webhookTime)
	defer cancel()
	if err := in.takeOne(ctx, body); err != nil {
		in.log.Error().Err(err).Msg("an update was not kept; Telegram will bring it again")
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusOK)
}

// takeOne stores one delivered update. What is no update at all becomes a dead
// letter too: to refuse it would bring it back for a day.
func (in *Intake) takeOne(ctx context.Context, body []byte) error {
	list := []received{decode(body)}
	in.preCheckout(list)
	var fresh map[int64]bool
	err := postgres.InTx(ctx, in.cfg.Pool, func(tx pgx.Tx) (err error) {
		fresh, err = in.keepTx(ctx, tx, string(Webhook), list)
		return err
	})
	if err == nil {
		in.count(string(Webhook), list, fresh)
	}
	return err
}

// keepWebhook sets the webhook, and sets it again when it is not what it should
// be. Several processes do the same; only a difference makes a call.
func (in *Intake) keepWebhook(ctx context.Context) {
	// The secret cannot be read back, so each process sets the webhook once at its start.
	ours := false
	for wait := time.Duration(0); pause(ctx, wait); {
		if err := in.setWebhook(ctx, &ours); err != nil {
			in.pollError(ctx, err)
			wait = 10 * time.Second
			continue
		}
		wait = webhookCheck
	}
}

func (in *Intake) setWebhook(ctx context.Context, ours *bool) error {
	info, out := in.cfg.Client.GetWebhookInfo(ctx)
	if err := AsError(out); err != nil {
		return err
	}
	if info != nil && info.URL == in.cfg.WebhookURL && slices.Equal(info.AllowedUpdates, in.cfg.AllowedUpdates) && *ours {
		if info.LastErrorMessage != "" && info.PendingUpdateCount > 0 {
			in.log.Warn().Int("pending", info.PendingUpdateCount).Str("why", info.LastErrorMessage).Msg("telegram cannot deliver updates")
			in.setTrouble(ctx, "Telegram cannot deliver updates to PUBLIC_URL: "+info.LastErrorMessage)
			return nil
		}
		in.setTrouble(ctx, "")
		return nil
	}
	err := AsError(in.cfg.Client.SetWebhook(ctx, &bot.SetWebhookParams{
		URL: in.cfg.WebhookURL, SecretToken: in.secret, AllowedUpdates: in.cfg.AllowedUpdates, MaxConnections: 40,
	}))
	if err == nil {
		*ours = true
		in.setTrouble(ctx, "")
		in.log.Info().Msg("telegram delivers updates to the webhook")
	}
	return err
}
