package torture_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

// invariants are queries that must return no row, each with what a row means.
func invariants() map[string]string {
	return map[string]string{
		"a job is in no place, or in two": `
SELECT k.job_id, k.kind, k.key
  FROM job_keys AS k
 WHERE (SELECT count(*) FROM jobs WHERE id = k.job_id)
     + (SELECT count(*) FROM job_history WHERE id = k.job_id)
     + (SELECT count(*) FROM job_archive WHERE job_id = k.job_id) <> 1`,
		"a job without a key": `
SELECT id FROM (SELECT id FROM jobs UNION ALL SELECT id FROM job_history UNION ALL SELECT job_id FROM job_archive) AS all_jobs
 WHERE id NOT IN (SELECT job_id FROM job_keys)`,
		"an intent without outcome although nothing runs": `
SELECT effect_key FROM effects WHERE state = 'intent'`,
		"a completed strict job whose effects are not both done": `
SELECT h.id FROM job_history AS h
 WHERE h.kind = 'post' AND (SELECT count(*) FROM effects AS e WHERE e.effect_key IN ('post:' || h.key || ':A', 'post:' || h.key || ':B') AND e.state = 'done') <> 2`,
		"a completed strict job whose domain does not say published": `
SELECT h.id FROM job_history AS h
 WHERE h.kind = 'post' AND NOT EXISTS (SELECT FROM torture_posts AS p WHERE p.n = h.key::int AND p.state = 'published')`,
		"a post that is published without its effect done": `
SELECT p.n FROM torture_posts AS p
 WHERE p.state = 'published' AND NOT EXISTS (SELECT FROM effects AS e WHERE e.effect_key = 'post:' || p.n || ':B' AND e.state = 'done')`,
		"an unconfirmed job without a doubt": `
SELECT a.job_id FROM job_archive AS a
 WHERE a.reason = 'unconfirmed' AND a.needs_reconcile AND NOT EXISTS (SELECT FROM effects AS e WHERE e.job_id = a.job_id AND e.state = 'unknown')`,
		"a doubt that is not in the archive as such": `
SELECT e.effect_key FROM effects AS e
 WHERE e.state = 'unknown' AND e.class = 'strict'
   AND NOT EXISTS (SELECT FROM job_archive AS a WHERE a.job_id = e.job_id AND a.reason = 'unconfirmed' AND a.needs_reconcile)`,
		"lease_lost_twice in spite of a doubt": `
SELECT a.job_id FROM job_archive AS a JOIN effects AS e ON e.job_id = a.job_id
 WHERE a.reason = 'lease_lost_twice' AND e.state IN ('intent', 'unknown')`,
		"a job that ran to completion twice": `
SELECT id FROM job_history GROUP BY id HAVING count(*) > 1`,
		"a database change that happened twice": `
SELECT n FROM torture_rows GROUP BY n HAVING count(*) > 1`,
		"a database change without its completion, or a completion without it": `
SELECT coalesce(r.n::text, h.key) FROM torture_rows AS r FULL JOIN (SELECT key FROM job_history WHERE kind = 'pure') AS h ON h.key = r.n::text
 WHERE r.n IS NULL OR h.key IS NULL`,
		"a parent without its children": `
SELECT h.id FROM job_history AS h WHERE h.kind = 'pure' AND (SELECT count(*) FROM job_keys WHERE parent_id = h.id AND kind = 'leaf') <> 2`,
		"a child without its parent's completion": `
SELECT k.job_id FROM job_keys AS k WHERE k.kind = 'leaf' AND NOT EXISTS (SELECT FROM job_history AS h WHERE h.id = k.parent_id)`,
		"a submitted key that is unknown": `
SELECT n FROM torture_submitted AS s WHERE NOT EXISTS (SELECT FROM job_keys AS k WHERE k.kind = s.kind AND k.key = s.n::text)`,
		"a job that was returned more than once": `
SELECT job_id FROM job_attempts WHERE outcome = 'lease_expired' GROUP BY job_id HAVING count(*) > 2`,
	}
}

// check verifies everything after a run and returns what is wrong.
func check(t *testing.T, pool *pgxpool.Pool, w *world) (wrong []string) {
	t.Helper()
	ctx := context.Background()
	for what, sql := range invariants() {
		if rows := lines(ctx, t, pool, sql); len(rows) > 0 {
			wrong = append(wrong, fmt.Sprintf("%s: %d, e.g. %s", what, len(rows), rows[0]))
		}
	}
	if keys := w.twice(); len(keys) > 0 {
		wrong = append(wrong, fmt.Sprintf("effects that happened twice: %d, e.g. %s", len(keys), keys[0]))
	}
	if bad := w.disorder(); len(bad) > 0 {
		wrong = append(wrong, fmt.Sprintf("out of order: %d, e.g. %s", len(bad), bad[0]))
	}
	return append(wrong, checkLedger(ctx, t, pool, w)...)
}

// checkLedger compares what the ledger is sure of with what really happened.
func checkLedger(ctx context.Context, t *testing.T, pool *pgxpool.Pool, w *world) (wrong []string) {
	t.Helper()
	for _, line := range lines(ctx, t, pool, "SELECT effect_key, state FROM effects WHERE state IN ('done', 'not_done')") {
		key, state, _ := strings.Cut(line, " ")
		if n := w.times(key); state == "done" && n == 0 || state == "not_done" && n > 0 {
			wrong = append(wrong, fmt.Sprintf("the ledger says %s of %s, which happened %d times", state, key, n))
		}
	}
	return wrong
}

func lines(ctx context.Context, t *testing.T, pool *pgxpool.Pool, sql string) []string {
	t.Helper()
	rows, err := pool.Query(ctx, sql)
	if err != nil {
		t.Fatalf("%v in %s", err, sql)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.Trim(fmt.Sprint(values), "[]"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
