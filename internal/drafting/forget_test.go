package drafting_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting"
)

// Old answers go; that the calls were made, and what they cost, stays.
func TestRawAnswersAreForgottenAfterTheirTime(t *testing.T) {
	t.Parallel()
	b := newBundle(t, func(c *drafting.Config) { c.KeepAnswers = 48 * time.Hour })
	channel := b.channel("en")
	draft := b.id(`INSERT INTO drafts (channel_id, kind, subject) VALUES ($1, 'own', 'own:x') RETURNING id`, channel)
	const call = `INSERT INTO model_calls (draft_id, revision, turn, channel_id, request_hash, model, reserved, tokens_in, state, answer, made_at)
		VALUES ($1, 1, $2, $3, '\x00', 'm', 9, 7, 'answered', 'raw', now() - $4::interval)`
	b.exec(call, draft, 1, channel, 49*time.Hour)
	b.exec(call, draft, 2, channel, 47*time.Hour)
	for i, want := range []int{1, 0} {
		b.tx(func(ctx context.Context, tx pgx.Tx) error {
			n, err := b.svc.ForgetAnswersTx(ctx, tx)
			if n != want {
				t.Errorf("run %d erased %d answers, want %d", i, n, want)
			}
			return err
		})
	}
	if got := b.text(`SELECT string_agg(turn || ':' || coalesce(answer, 'erased') || ':' || tokens_in, ' ' ORDER BY turn) FROM model_calls`); got != "1:erased:7 2:raw:7" {
		t.Error(got)
	}
}
