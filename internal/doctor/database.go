package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const (
	oldestPostgres = 140000 // server_version_num of 14
	shortStatement = 60_000 // ms
)

const serverSQL = `
SELECT current_setting('server_version_num')::integer,
       current_setting('server_version'),
       current_setting('server_encoding'),
       pg_is_in_recovery(),
       current_setting('synchronous_commit'),
       current_setting('fsync'),
       (SELECT coalesce(sum(setting::integer), 0) FROM pg_settings WHERE name = 'statement_timeout')`

const schemaVersionSQL = `
SELECT coalesce(max(version_id), 0)
  FROM goose_db_version
 WHERE is_applied`

const schemaPresentSQL = `
SELECT to_regclass('goose_db_version') IS NOT NULL`

const backendSQL = `
SELECT pg_backend_pid(),
       pg_current_xact_id()::text`

const archiveOpenSQL = `
SELECT reason,
       count(*),
       count(*) FILTER (WHERE needs_reconcile)
  FROM job_archive
 WHERE status = 'open'
 GROUP BY reason
 ORDER BY reason`

const heldChannelsSQL = `
SELECT count(*),
       coalesce(min(held_at), now())
  FROM restore_holds
 WHERE released_at IS NULL`

func (e *exam) database(ctx context.Context) (Status, string) {
	pool, err := e.cfg.Open(ctx)
	if err != nil {
		return Fail, oneLine(err.Error())
	}
	e.pool = pool
	var num, timeout int
	var version, encoding, sync, fsync string
	var standby bool
	began := e.cfg.Now()
	if err := pool.QueryRow(ctx, serverSQL).Scan(&num, &version, &encoding, &standby, &sync, &fsync, &timeout); err != nil {
		return Fail, "answers no query: " + oneLine(err.Error())
	}
	took := e.cfg.Now().Sub(began).Round(100 * time.Microsecond)
	switch {
	case num < oldestPostgres:
		return Fail, fmt.Sprintf("PostgreSQL %s is too old: want 14 or newer", version)
	case standby:
		return Fail, "this server is a read-only standby: point DATABASE_URL at the primary"
	case encoding != "UTF8":
		return Fail, fmt.Sprintf("its encoding is %s: create it with ENCODING 'UTF8' TEMPLATE template0", encoding)
	case fsync == "off" || sync == "off":
		return Fail, "fsync or synchronous_commit is off: a crash of the server could lose what says that a post was sent; switch both on"
	}
	if timeout > 0 && timeout < shortStatement {
		return Warn, fmt.Sprintf("statement_timeout is %d ms for this role, and housekeeping takes longer on a large database: ALTER ROLE … RESET statement_timeout", timeout)
	}
	return OK, fmt.Sprintf("PostgreSQL %s answers in %s", version, took)
}

func (e *exam) schemaVersion(ctx context.Context) (Status, string) {
	if e.pool == nil {
		return Skip, "no database"
	}
	var present bool
	if err := e.pool.QueryRow(ctx, schemaPresentSQL).Scan(&present); err != nil {
		return Fail, oneLine(err.Error())
	}
	if !present {
		return Fail, "the database is empty: run `postonce migrate up`, or start `postonce serve`, which migrates"
	}
	var have int64
	if err := e.pool.QueryRow(ctx, schemaVersionSQL).Scan(&have); err != nil {
		if pg, ok := errors.AsType[*pgconn.PgError](err); ok && pg.Code == "42501" {
			return Fail, oneLine(pg.Message) + ": the role of DATABASE_URL has to own its tables"
		}
		return Fail, oneLine(err.Error())
	}
	e.schema = have == e.cfg.SchemaWanted
	switch {
	case have < e.cfg.SchemaWanted:
		return Fail, fmt.Sprintf("it is at %d, this program wants %d: run `postonce migrate up`", have, e.cfg.SchemaWanted)
	case have > e.cfg.SchemaWanted:
		return Fail, fmt.Sprintf("it is at %d, this program knows %d: run the release that migrated it, or a newer one", have, e.cfg.SchemaWanted)
	}
	return OK, fmt.Sprintf("at %d, as this program wants", have)
}

// pooler finds out whether one client connection always meets the same server
// connection. Two transactions of one connection with different backends mean a
// pooler in transaction mode; on an idle one the same backend may come back, so
// that silence proves nothing.
func (e *exam) pooler(ctx context.Context) (Status, string) {
	if e.pool == nil {
		return Skip, "no database"
	}
	conn, err := e.pool.Acquire(ctx)
	if err != nil {
		return Fail, oneLine(err.Error())
	}
	defer conn.Release()
	// What the server told at connect against what a query sees: a pooler makes
	// up the first.
	announced := int(conn.Conn().PgConn().PID())
	var pid int
	var xact string
	if err := conn.QueryRow(ctx, backendSQL).Scan(&pid, &xact); err != nil {
		return Fail, oneLine(err.Error())
	}
	if pid == announced {
		return OK, "none in between"
	}
	if e.cfg.Pooled {
		return OK, "one in between; LISTEN and migrations go past it"
	}
	return Fail, "one in between: set DATABASE_DIRECT_URL to the address past it, for LISTEN and migrations"
}

func (e *exam) archive(ctx context.Context) (Status, string) {
	if !e.schema {
		return Skip, "no schema"
	}
	rows, err := e.pool.Query(ctx, archiveOpenSQL)
	if err != nil {
		return Fail, oneLine(err.Error())
	}
	defer rows.Close()
	var parts []string
	doubts := 0
	for rows.Next() {
		var reason string
		var n, doubt int
		if err := rows.Scan(&reason, &n, &doubt); err != nil {
			return Fail, oneLine(err.Error())
		}
		parts = append(parts, fmt.Sprintf("%d %s", n, reason))
		doubts += doubt
	}
	if err := rows.Err(); err != nil {
		return Fail, oneLine(err.Error())
	}
	switch {
	case len(parts) == 0:
		return OK, "nothing open"
	case doubts > 0:
		return Warn, fmt.Sprintf("%s; %d in doubt: `postonce jobs list`", strings.Join(parts, ", "), doubts)
	}
	return Warn, strings.Join(parts, ", ") + ": `postonce jobs list`"
}

func (e *exam) restore(ctx context.Context) (Status, string) {
	if !e.schema {
		return Skip, "no schema"
	}
	var held int
	var since time.Time
	if err := e.pool.QueryRow(ctx, heldChannelsSQL).Scan(&held, &since); err != nil {
		return Fail, oneLine(err.Error())
	}
	if held > 0 {
		return Warn, fmt.Sprintf("%d channels publish nothing since %s, until they are reconciled: `postonce restored status`",
			held, since.UTC().Format("2006-01-02 15:04 MST"))
	}
	return OK, "no channel is held"
}

// oneLine keeps an error on the line of its check.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	const most = 300
	if len(s) > most {
		s = s[:most] + "…"
	}
	return s
}
