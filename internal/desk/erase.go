package desk

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
)

const stayingSQL = `
SELECT EXISTS (SELECT FROM payments WHERE person_id = $1),
       EXISTS (SELECT FROM drafts WHERE decided_by = $1 OR created_by = $1)`

// DeleteMe erases a person's data in one transaction, and says what stays and
// why, as codes: payments (the law asks for them), decisions (a number without a
// name, so that the channel's history stays true), posts (they are the
// channel's). It may be asked again at any time; the chat erases its own part.
func (d *Desk) DeleteMe(ctx context.Context, by int64) (Erasure, error) {
	var out Erasure
	err := d.tx(ctx, func(tx pgx.Tx) error {
		var paid, decided bool
		if err := tx.QueryRow(ctx, stayingSQL, by).Scan(&paid, &decided); err != nil {
			return err
		}
		e, err := d.channels.Erase(ctx, tx, by)
		if err != nil {
			return err
		}
		if err := queue.ForgetPersonTx(ctx, tx, by); err != nil {
			return err
		}
		out = Erasure{Channels: e.Channels, Memberships: e.Memberships, Erased: []string{"name", "settings", "memberships", "invitations", "requests"}}
		if paid {
			out.Stays = append(out.Stays, "payments")
		}
		if decided {
			out.Stays = append(out.Stays, "decisions", "posts")
		}
		return nil
	})
	return out, err
}
