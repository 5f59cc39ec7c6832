package channels

import (
	"context"

	"github.com/postonce/postonce/internal/postgres"
)

// one reads a single value; no row is ErrNotFound.
func one[T any](ctx context.Context, q postgres.Querier, query string, args ...any) (T, error) {
	var v T
	err := q.QueryRow(ctx, query, args...).Scan(&v)
	if postgres.NoRows(err) {
		return v, ErrNotFound
	}
	return v, err
}
