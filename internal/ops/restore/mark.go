package restore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// How says by what a torn history was noticed.
type How string

// The ways. A restored copy of the data directory's files shows none of these:
// the operator has to say it (Command).
const (
	Command       How = "command"        // `postonce restored begin`
	OtherServer   How = "other_server"   // a dump, restored into another cluster
	Rebuilt       How = "rebuilt"        // a dump, restored into a new database or new tables of the same cluster
	OtherTimeline How = "other_timeline" // point-in-time recovery, or a promoted standby
)

// mark is by what a database is recognised.
type mark struct {
	systemID    int64
	timeline    int32
	databaseOID int64
	anchorOID   int64
	declaredBy  string // who said that it was restored; only in the kept mark
}

// The timeline is read off the name of the current WAL file: pg_control shows a
// promotion only after the next checkpoint.
const markReadSQL = `
SELECT (SELECT system_identifier FROM pg_control_system()),
       substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8),
       (SELECT oid FROM pg_database WHERE datname = current_database())::bigint,
       'publications'::regclass::oid::bigint`

const markKeptSQL = `
SELECT system_id,
       timeline,
       database_oid,
       anchor_oid,
       declared_by
  FROM database_marks
   FOR UPDATE`

// A timeline that cannot be: Held sees at once that it does not fit.
const markDeclareSQL = `
INSERT INTO database_marks (system_id, timeline, database_oid, anchor_oid, declared_by)
VALUES (0, 0, 0, 0, $1)
    ON CONFLICT (id) DO UPDATE SET timeline = 0,
                                   declared_by = EXCLUDED.declared_by`

const markSetSQL = `
INSERT INTO database_marks (system_id, timeline, database_oid, anchor_oid)
VALUES ($1, $2, $3, $4)
    ON CONFLICT (id) DO UPDATE SET system_id = EXCLUDED.system_id,
                                   timeline = EXCLUDED.timeline,
                                   database_oid = EXCLUDED.database_oid,
                                   anchor_oid = EXCLUDED.anchor_oid,
                                   declared_by = '',
                                   noted_at = clock_timestamp()`

const lastTraceSQL = `
SELECT greatest((SELECT max(noted_at) FROM database_marks),
                (SELECT max(seen_at) FROM workers),
                (SELECT max(started_at) FROM publications))`

func readMark(ctx context.Context, db pgx.Tx) (mark, error) {
	var m mark
	var timeline string
	if err := db.QueryRow(ctx, markReadSQL).Scan(&m.systemID, &timeline, &m.databaseOID, &m.anchorOID); err != nil {
		return m, fmt.Errorf("read the database's mark: %w", err)
	}
	t, err := strconv.ParseUint(timeline, 16, 32)
	if err != nil {
		return m, fmt.Errorf("read the database's timeline %q: %w", timeline, err)
	}
	m.timeline = int32(t) //nolint:gosec // timelines count up from 1
	return m, nil
}

// compare locks the kept mark and says how the present one differs; "" where it
// does not, or where none was kept yet. by is who declared a restore.
func compare(ctx context.Context, tx pgx.Tx, now mark) (how How, by string, err error) {
	var kept mark
	err = tx.QueryRow(ctx, markKeptSQL).Scan(&kept.systemID, &kept.timeline, &kept.databaseOID, &kept.anchorOID, &kept.declaredBy)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", "", nil
	case err != nil:
		return "", "", fmt.Errorf("read the kept mark: %w", err)
	case kept.declaredBy != "":
		return Command, kept.declaredBy, nil
	case kept.systemID != now.systemID:
		return OtherServer, "", nil
	case kept.databaseOID != now.databaseOID || kept.anchorOID != now.anchorOID:
		return Rebuilt, "", nil
	case kept.timeline != now.timeline:
		return OtherTimeline, "", nil
	}
	return "", "", nil
}

func setMark(ctx context.Context, tx pgx.Tx, m mark) error {
	if _, err := tx.Exec(ctx, markSetSQL, m.systemID, m.timeline, m.databaseOID, m.anchorOID); err != nil {
		return fmt.Errorf("keep the database's mark: %w", err)
	}
	return nil
}

func lastTrace(ctx context.Context, tx pgx.Tx) (*time.Time, error) {
	var at *time.Time
	if err := tx.QueryRow(ctx, lastTraceSQL).Scan(&at); err != nil {
		return nil, fmt.Errorf("newest trace of work: %w", err)
	}
	return at, nil
}
