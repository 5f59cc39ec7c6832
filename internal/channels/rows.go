package channels

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
)

// one reads a single value; no row is ErrNotFound.
func one[T any](ctx context.Context, q postgres.Querier, query string, args ...any) (T, error) {
	var v T
	err := q.QueryRow(ctx, query, args...).Scan(&v)
	if isNoRows(err) {
		return v, ErrNotFound
	}
	return v, err
}

func isNoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// affected runs a statement that returns a row when it changed something.
func affected(ctx context.Context, q postgres.Querier, query string, args ...any) (bool, error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return false, err
	}
	rows.Next()
	rows.Close()
	if err := rows.Err(); err != nil {
		return false, err
	}
	return rows.CommandTag().RowsAffected() > 0, nil
}
