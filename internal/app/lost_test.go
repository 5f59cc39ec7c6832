package app

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres/dbtest"
)

func TestEachLossOfAChannelIsTold(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	p := &parts{channels: channels.New(channels.Config{Pool: pool})}
	for _, q := range []string{
		`INSERT INTO people (id, first_name) VALUES (1, 'Ann')`,
		`INSERT INTO channels (chat_id, title, created_by) VALUES (-1, 'Harbour', 1)`,
		`INSERT INTO memberships (channel_id, person_id, role) SELECT id, 1, 'owner' FROM channels`,
	} {
		if _, err := pool.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	// Taken away, told of twice by two refusals, given back, and taken away again within the hour.
	for _, state := range []editorial.ChannelState{
		editorial.ChannelKicked, editorial.ChannelKicked, editorial.ChannelActive, editorial.ChannelKicked,
	} {
		err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			var id int64
			if err := tx.QueryRow(t.Context(), `SELECT id FROM channels`).Scan(&id); err != nil {
				return err
			}
			return p.channelState(context.WithoutCancel(t.Context()), tx, id, state, "kicked")
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var told int
	if err := pool.QueryRow(t.Context(), `SELECT count(*) FROM jobs WHERE kind = 'notice'`).Scan(&told); err != nil {
		t.Fatal(err)
	}
	if told != 2 {
		t.Errorf("the owner hears %d times of two losses", told)
	}
}
