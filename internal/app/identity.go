package app

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/postonce/postonce/internal/app/config"
	"github.com/postonce/postonce/internal/telegram"
)

// identity is the bot that the token belongs to.
type identity struct {
	client  *telegram.Client
	name    string // without @; empty while silence is set
	silence error  // why Telegram did not tell the name; nil if it did
}

// askTime bounds the question at the start: where Telegram is silent, the start
// goes on without its answer.
const askTime = 10 * time.Second

// identify asks Telegram whose token it is. It comes before the database is
// touched: a token that Telegram does not take leaves everything as it was.
// An outage is no error here; known decides about it.
func identify(ctx context.Context, a *App) (*identity, error) {
	calls := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "postonce_telegram_call_seconds",
		Help:    "Calls of the Bot API by method and by what is known of their outcome.",
		Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120},
	}, []string{"method", "outcome"})
	a.metrics.MustRegister(calls)
	client, err := telegram.New(telegram.Config{
		Token: telegram.Token(a.cfg.BotToken), BaseURL: a.cfg.APIURL, Logger: a.log,
		Observe: func(method, outcome string, took time.Duration) {
			calls.WithLabelValues(method, outcome).Observe(took.Seconds())
		},
	})
	if err != nil {
		return nil, &config.Error{Variable: "TELEGRAM_BOT_TOKEN", Problem: err.Error()}
	}
	me, out := client.GetMe(ctx, telegram.Timeout(askTime))
	err = telegram.AsError(out)
	switch {
	case telegram.RefusedAs(err, telegram.Unauthorized), telegram.RefusedAs(err, telegram.ChatNotFound):
		return nil, &config.Error{Variable: "TELEGRAM_BOT_TOKEN", Problem: "is not known to Telegram: copy it from @BotFather again"}
	case err != nil:
		return &identity{client: client, silence: &unreachableError{what: "TELEGRAM_API_URL " + a.cfg.APIURL, err: err}}, nil //nolint:nilerr // the name may be known from before
	}
	return &identity{client: client, name: me.Username}, nil
}

// known completes the identity from the database, which keeps the name of every
// bot that ran on it. Only the first start with a token needs Telegram: it fails
// where a mistake in the settings is as likely as an outage.
func (i *identity) known(ctx context.Context, a *App) error {
	if i.silence == nil {
		return telegram.KeepName(ctx, a.db.Pool, i.client.BotID(), i.name)
	}
	var err error
	if i.name, err = telegram.KeptName(ctx, a.db.Pool, i.client.BotID()); err != nil {
		return err
	}
	if i.name == "" {
		return i.silence
	}
	a.log.Warn().Err(i.silence).Str("bot", i.name).Msg("started without Telegram: what has to be sent waits until it answers")
	return nil
}

// unreachableError is something outside that does not answer at the start.
type unreachableError struct {
	what string
	err  error
}

func (e *unreachableError) Error() string {
	mend := "check the network and the address"
	if strings.Contains(e.err.Error(), "x509: ") { // the client passes on what TLS said as text
		mend = "nothing was sent; look for a proxy in between, or make its authority known (SSL_CERT_FILE names a file of certificates)"
	}
	return e.what + " does not answer: " + e.err.Error() + ": " + mend
}

func (e *unreachableError) Unwrap() error { return e.err }
