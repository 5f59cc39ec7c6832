package desk

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
)

// Release lets a channel publish again that is held after a restored backup:
// its owner, or an operator, has compared what stands in it with the plan. It
// returns whether this call released it.
func (d *Desk) Release(ctx context.Context, by, channelID int64) (released bool, err error) {
	if d.operator(ctx, d.pool, by) != nil {
		if _, err := d.may(ctx, d.pool, by, channelID, editorial.Owner); err != nil {
			return false, err
		}
	}
	if d.onRelease == nil {
		return false, nil
	}
	err = d.tx(ctx, func(tx pgx.Tx) (err error) {
		released, err = d.onRelease(ctx, tx, channelID, author(by))
		return err
	})
	return released, err
}
