package chat

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/telegram"
)

// Handle is the handler of an update: for app to give to the intake.
func (c *Chat) Handle(ctx context.Context, job *queue.Job[telegram.UpdateArgs], u *models.Update) error {
	if u.Message != nil && u.Message.SuccessfulPayment != nil && c.billing != nil && u.Message.From != nil {
		return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
			return c.billing.Paid(ctx, tx, u.Message.From.ID, u.Message.SuccessfulPayment)
		})
	}
	if u.Message != nil && u.Message.RefundedPayment != nil {
		return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
			if c.billing == nil {
				return nil
			}
			return c.billing.Refunded(ctx, tx, u.Message.RefundedPayment)
		})
	}
	if u.Subscription != nil {
		return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
			if c.billing == nil {
				return nil
			}
			return c.billing.Subscription(ctx, tx, u.Subscription)
		})
	}
	return c.handle(ctx, job, job.Failures, u)
}

// Register adds the chat's job kinds.
func (c *Chat) Register(r *queue.Registry) {
	queue.Register(r, c.CardKind())
	queue.Register(r, c.RecardKind())
	queue.Register(r, c.NoticeKind())
	queue.Register(r, c.AlarmKind())
	queue.Register(r, c.OfferKind())
	sweep := sweepKind()
	queue.Register(r, sweep)
	queue.Schedule(r, "sweep_pastes", queue.Every(24*time.Hour), queue.CatchUpLast, sweep, func(at time.Time) sweepArgs {
		return sweepArgs{At: at.Unix()}
	})
}

type sweepArgs struct {
	At int64 `json:"at"`
}

// sweepKind forgets pastes that no button leads to any more.
func sweepKind() queue.Kind[sweepArgs] {
	return queue.Kind[sweepArgs]{
		Name: "sweep_pastes", Tier: queue.Bulk, Policy: queue.DB, KeepKeys: 72 * time.Hour,
		Key: func(a sweepArgs) string { return strconv.FormatInt(a.At, 10) },
		Work: func(ctx context.Context, job *queue.Job[sweepArgs]) error {
			return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
				_, err := tx.Exec(ctx, pastesSweepSQL)
				return err
			})
		},
	}
}

// errorText is the code and the arguments under which an error is explained.
func errorText(t *turn, err error) (string, texts.Args) {
	var wrong *desk.Error
	if !errors.As(err, &wrong) {
		return "error.other", nil
	}
	args := texts.Args{}
	for k, v := range wrong.Args {
		args[k] = v
	}
	code := wrong.Code
	switch code {
	case desk.CodeSetting:
		field, _ := args["field"].(string)
		code, args = "error.setting."+shortField(field), texts.Args{"Value": args["value"]}
	case desk.CodeRole:
		need, _ := args["need"].(string)
		args = texts.Args{"Role": t.Plain("role." + need)}
	case desk.CodeNoRights:
		right, _ := args["right"].(string)
		args = texts.Args{"Right": t.Plain("right." + right)}
	case desk.CodeText:
		why, _ := args["why"].(string)
		if c := "text." + why; t.Has(c) {
			args["Why"] = t.Plain(c, args)
		} else {
			args["Why"] = why
		}
	case desk.CodeLimit:
		what, _ := args["what"].(string)
		args = texts.Args{"What": t.Plain("meter." + what), "Limit": args["limit"]}
	}
	if !t.Has(code) {
		t.chat.log.Error().Str("code", code).Msg("an error has no text")
		return "error.other", nil
	}
	return code, args
}

// shortField is the chat's word for a field of desk.ChannelChange.
func shortField(field string) string {
	short := map[string]string{
		"language": "lang", "item_languages": "langs", "tone": "tone", "look_for": "look", "avoid": "avoid", "threshold": "thr", "footer": "foot",
		"hashtags": "tags", "time_zone": "tz", "week": "week", "quiet": "quiet", "daily_cap": "cap", "digest_at": "digat", "pattern": "pattern",
	}[field]
	if short == "" {
		return "other"
	}
	return short
}
