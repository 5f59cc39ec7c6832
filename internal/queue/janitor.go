package queue

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	keepHistoryDays = 14
	partitionsAhead = 3 // days
	janitorEvery    = time.Minute
	janitorLong     = time.Hour // partitions, retention, leases
)

// janitorLoop reads the kinds anew every minute and does the housekeeping every hour.
func (e *Engine) janitorLoop(ctx context.Context) {
	last := time.Now()
	for e.pauseCtx(ctx, janitorEvery) {
		err := e.readKinds(ctx)
		if time.Since(last) > janitorLong {
			last = time.Now()
			if kerr := e.keepPartitions(ctx); err == nil {
				err = kerr
			}
			if kerr := e.purge(ctx); err == nil {
				err = kerr
			}
			if kerr := e.purgeKeys(ctx); err == nil {
				err = kerr
			}
		}
		if err != nil && ctx.Err() == nil {
			e.log.Warn().Err(err).Msg("housekeeping failed; the next round tries again")
		}
	}
}

const databaseDaySQL = `SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date`

const partitionListSQL = `
SELECT c.relname
  FROM pg_inherits AS i
  JOIN pg_class AS c ON c.oid = i.inhrelid
 WHERE i.inhparent = $1::regclass`

// partitioned is a table with a partition a day. startSQL gives where a day's partition can start: after what
// the default partition has caught of that day.
type partitioned struct {
	table, startSQL string
}

func partitionedTables() []partitioned {
	return []partitioned{{"job_history", historyStartSQL}, {"job_attempts", attemptsStartSQL}}
}

const historyStartSQL = `
SELECT greatest($1, max(finished_at) + interval '1 microsecond')
  FROM job_history_default
 WHERE finished_at >= $1
   AND finished_at < $2`

const attemptsStartSQL = `
SELECT greatest($1, max(at) + interval '1 microsecond')
  FROM job_attempts_default
 WHERE at >= $1
   AND at < $2`

// keepPartitions makes the partitions of today and the next days and drops those past the retention. The
// default partition catches what has no day, so that a failure here is no emergency.
func (e *Engine) keepPartitions(ctx context.Context) error {
	var today time.Time
	if err := e.pool.QueryRow(ctx, databaseDaySQL).Scan(&today); err != nil {
		return fmt.Errorf("read the day: %w", err)
	}
	for _, p := range partitionedTables() {
		if err := e.keepTable(ctx, p, today); err != nil {
			return fmt.Errorf("partitions of %s: %w", p.table, err)
		}
	}
	return nil
}

func (e *Engine) keepTable(ctx context.Context, p partitioned, today time.Time) error {
	rows, err := e.pool.Query(ctx, partitionListSQL, p.table)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, name := range names {
		have[name] = true
		if err := e.dropIfOld(ctx, p, name, today); err != nil {
			return err
		}
	}
	for day := range partitionsAhead + 1 {
		from := today.AddDate(0, 0, day)
		if name := p.name(from); !have[name] {
			if err := e.addPartition(ctx, p, name, from); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p partitioned) name(day time.Time) string { return p.table + "_" + day.Format("20060102") }

const partitionLockTimeoutSQL = `SET LOCAL lock_timeout = '2s'`

// addPartition makes and attaches the table. Another process may do the same: the loser's error is a
// duplicate name, which is fine.
func (e *Engine) addPartition(ctx context.Context, p partitioned, name string, from time.Time) error {
	to := from.AddDate(0, 0, 1)
	err := pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		var mine bool
		if err := tx.QueryRow(ctx, tryLockSQL, lockJanitor).Scan(&mine); err != nil || !mine {
			return err
		}
		for _, sql := range []string{
			partitionLockTimeoutSQL,
			fmt.Sprintf(partitionCreateSQL, name, p.table),
			fmt.Sprintf(partitionDefaultLockSQL, p.table),
		} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return err
			}
		}
		if err := tx.QueryRow(ctx, p.startSQL, from, to).Scan(&from); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, fmt.Sprintf(partitionAttachSQL, p.table, name, instant(from), instant(to)))
		return err
	})
	if isDuplicateTable(err) {
		return nil
	}
	return err
}

const (
	partitionCreateSQL      = `CREATE TABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)`
	partitionDefaultLockSQL = `LOCK TABLE %s_default IN ACCESS EXCLUSIVE MODE`
	partitionAttachSQL      = `ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM ('%s') TO ('%s')`
	partitionDropSQL        = `DROP TABLE IF EXISTS %s`
)

func instant(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.999999+00") }

func (e *Engine) dropIfOld(ctx context.Context, p partitioned, name string, today time.Time) error {
	suffix, ok := strings.CutPrefix(name, p.table+"_")
	if !ok {
		return nil
	}
	of, err := time.Parse("20060102", suffix)
	if err != nil || !of.Before(today.AddDate(0, 0, -keepHistoryDays)) {
		return nil //nolint:nilerr // the default partition has no date in its name
	}
	return pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, partitionLockTimeoutSQL); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, fmt.Sprintf(partitionDropSQL, name))
		return err
	})
}

// leaseMeasureSQL: clamp(2 x p99 of the last 7 days, 10 s, 15 min), once there is enough to measure.
const leaseMeasureSQL = `
WITH measured AS (
  SELECT kind,
         percentile_cont(0.99) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - claimed_at)) AS p99
    FROM job_history
   WHERE finished_at > now() - interval '7 days'
   GROUP BY kind
  HAVING count(*) >= 100
)
UPDATE job_kinds
   SET measured_lease = make_interval(secs => least(greatest(2 * measured.p99, 10), 900))
  FROM measured
 WHERE job_kinds.name = measured.kind`

// What the default partition caught is not dropped with a day.
const historyPurgeSQL = `
DELETE FROM job_history
 WHERE finished_at < now() - interval '15 days'`

const attemptsPurgeSQL = `
DELETE FROM job_attempts
 WHERE at < now() - interval '15 days'`

// keysPurgeSQL reads one batch of keys in the order of their jobs' numbers, which is that of time, from where the last
// one ended, and forgets those of the kinds that keep theirs for $1. It ends before the first that is younger. What is
// still needed when it is read stays for good: that is the safe side. It answers with how many it read.
const keysPurgeSQL = `
WITH keeping AS MATERIALIZED (
  SELECT name,
         keys_read_to
    FROM job_kinds
   WHERE keep_keys = $1
     FOR UPDATE
), batch AS MATERIALIZED (
  SELECT job_id,
         kind,
         seen_at
    FROM job_keys
   WHERE job_id > (SELECT min(keys_read_to) FROM keeping)
   ORDER BY job_id
   LIMIT $2
), old AS MATERIALIZED (
  SELECT job_id,
         kind
    FROM batch
   WHERE job_id < coalesce((SELECT min(job_id) FROM batch WHERE seen_at >= now() - $1::interval), 9223372036854775807)
), gone AS (
  DELETE FROM job_keys AS k
   USING old
   WHERE k.job_id = old.job_id
     AND old.kind IN (SELECT name FROM keeping)
     AND NOT EXISTS (
           SELECT
             FROM jobs
            WHERE jobs.id = k.job_id
         )
     AND NOT EXISTS (
           SELECT
             FROM job_archive
            WHERE job_archive.job_id = k.job_id
              AND job_archive.status = 'open'
         )
), noted AS (
  UPDATE job_kinds
     SET keys_read_to = (SELECT max(job_id) FROM old)
   WHERE name IN (SELECT name FROM keeping)
     AND EXISTS (SELECT FROM old)
)
SELECT count(*)
  FROM old`

const keepsListSQL = `
SELECT DISTINCT keep_keys
  FROM job_kinds
 WHERE keep_keys IS NOT NULL
 ORDER BY keep_keys`

const (
	keysBatch   = 10_000
	keysBatches = 100 // of each retention an hour
)

// scheduleRunsPurgeSQL names the schedules, so that each is read by its key. The last run of each stays.
const scheduleRunsPurgeSQL = `
DELETE FROM schedule_runs AS r
 USING (SELECT name FROM schedules UNION SELECT 'queue:leases') AS s
 WHERE r.name = s.name
   AND r.fire_at < now() - interval '90 days'
   AND r.fire_at < (SELECT max(fire_at) FROM schedule_runs AS newer WHERE newer.name = s.name)`

const workersPurgeSQL = `
DELETE FROM workers
 WHERE seen_at < now() - interval '30 days'
   AND NOT EXISTS (
         SELECT
           FROM jobs
          WHERE jobs.state = 'leased'
            AND jobs.leased_by = workers.id
       )`

const leaseMeasuredTodaySQL = `
SELECT EXISTS (
         SELECT
           FROM schedule_runs
          WHERE name = 'queue:leases'
            AND fire_at = date_trunc('day', now())
       )`

// purge applies the retention and, once a day in all processes together, measures the leases.
func (e *Engine) purge(ctx context.Context) error {
	return pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		var mine, measured bool
		if err := tx.QueryRow(ctx, tryLockSQL, lockJanitor).Scan(&mine); err != nil || !mine {
			return err
		}
		for _, sql := range []string{historyPurgeSQL, attemptsPurgeSQL, scheduleRunsPurgeSQL, workersPurgeSQL} {
			if _, err := tx.Exec(ctx, sql); err != nil {
				return fmt.Errorf("retention: %w", err)
			}
		}
		if err := tx.QueryRow(ctx, leaseMeasuredTodaySQL).Scan(&measured); err != nil || measured {
			return err
		}
		return e.measureLeases(ctx, tx)
	})
}

// purgeKeys forgets the natural keys that their kinds no longer keep, in short transactions.
func (e *Engine) purgeKeys(ctx context.Context) error {
	rows, err := e.pool.Query(ctx, keepsListSQL)
	if err != nil {
		return fmt.Errorf("retention of keys: %w", err)
	}
	keeps, err := pgx.CollectRows(rows, pgx.RowTo[time.Duration])
	if err != nil {
		return fmt.Errorf("retention of keys: %w", err)
	}
	for _, keep := range keeps {
		read := keysBatch
		for n := 0; read == keysBatch && n < keysBatches; n++ {
			if read, err = e.purgeKeysOf(ctx, keep); err != nil {
				return fmt.Errorf("retention of keys: %w", err)
			}
		}
	}
	return nil
}

// purgeKeysOf does one batch of one retention and returns how many keys it read.
func (e *Engine) purgeKeysOf(ctx context.Context, keep time.Duration) (read int, err error) {
	err = pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {
		var mine bool
		if err := tx.QueryRow(ctx, tryLockSQL, lockJanitor).Scan(&mine); err != nil || !mine {
			return err
		}
		return tx.QueryRow(ctx, keysPurgeSQL, keep, keysBatch).Scan(&read)
	})
	return read, err
}

const leaseMeasuredNoteSQL = `
INSERT INTO schedule_runs (name, fire_at)
VALUES ('queue:leases', date_trunc('day', now()))
    ON CONFLICT (name, fire_at) DO NOTHING`

func (e *Engine) measureLeases(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, leaseMeasureSQL); err != nil {
		return fmt.Errorf("measure leases: %w", err)
	}
	_, err := tx.Exec(ctx, leaseMeasuredNoteSQL)
	return err
}
