package e2e_test

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// connect opens a connection to the shop's database.
func (s *shop) connect() *pgx.Conn {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.db)
	if err != nil {
		s.t.Fatal(err)
	}
	return conn
}

// look reads one value.
func (s *shop) look(query string, out any, args ...any) {
	s.t.Helper()
	conn := s.connect()
	defer func() { _ = conn.Close(context.Background()) }()
	if err := conn.QueryRow(s.t.Context(), query, args...).Scan(out); err != nil {
		s.t.Fatal(err)
	}
}

// hold makes whoever writes to a table wait, and says whether somebody does.
func (s *shop) hold(table string) (waits func() bool, release func()) {
	s.t.Helper()
	conn := s.connect()
	if _, err := conn.Exec(s.t.Context(), "BEGIN; LOCK TABLE "+table+" IN SHARE ROW EXCLUSIVE MODE"); err != nil {
		s.t.Fatal(err)
	}
	waits = func() bool {
		var n int
		if err := conn.QueryRow(s.t.Context(), "SELECT count(*) FROM pg_locks WHERE relation = $1::text::regclass AND NOT granted", table).Scan(&n); err != nil {
			s.t.Fatal(err)
		}
		return n > 0
	}
	return waits, func() { _ = conn.Close(context.Background()) }
}

// forgetLeases is what time does: what a killed process held is free.
func (s *shop) forgetLeases() {
	s.t.Helper()
	conn := s.connect()
	defer func() { _ = conn.Close(context.Background()) }()
	_, err := conn.Exec(s.t.Context(), `UPDATE jobs SET lease_until = clock_timestamp() WHERE state = 'leased';
UPDATE update_pollers SET lease_until = clock_timestamp() - interval '1 millisecond'`)
	if err != nil {
		s.t.Fatal(err)
	}
}
