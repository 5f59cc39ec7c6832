package queue

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// isServerError tells whether the server itself said that the statement failed. 57P01 to 57P03 (shutting down)
// may arrive instead of the reply to a commit, so they say nothing.
func isServerError(err error) bool {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return false
	}
	return len(pg.Code) == 5 && pg.Code[:3] != "57P"
}

const uniqueViolation = "23505"

func isUniqueViolation(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == uniqueViolation
}

const duplicateTable = "42P07"

func isDuplicateTable(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == duplicateTable
}
