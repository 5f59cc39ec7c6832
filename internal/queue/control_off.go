//go:build !failpoints

package queue

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// The control run of the torture test exists only in its own build.
func controlIntend(context.Context, *run, Effect, []byte) (*ledgerRow, error) { panic("no control") }

func controlReap(context.Context, pgx.Tx, []int64) error { panic("no control") }
