package publishing

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres"
)

// changed runs a statement that returns a row when it changed something.
func changed(ctx context.Context, q postgres.Querier, query string, args ...any) (bool, error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return false, err
	}
	any := rows.Next()
	rows.Close()
	return any, rows.Err()
}

func isNoRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
