package queue

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/postgres/dbtest"
)

const fillForPlansSQL = `
INSERT INTO jobs (id, kind, tier, key, payload, run_at, state, lease_token, lease_until, claimed_at, leased_by, claim_nonce)
SELECT nextval('job_id_seq'),
       'kind' || g % 12,
       'default',
       'number:' || g,
       '{}',
       now() + CASE WHEN g > $1 + 200 THEN make_interval(hours => 1, secs => g) ELSE make_interval(secs => -g) END,
       CASE WHEN g <= 200 THEN 'leased' ELSE 'ready' END,
       CASE WHEN g <= 200 THEN g END,
       CASE WHEN g <= 200 THEN now() END,
       CASE WHEN g <= 200 THEN now() END,
       CASE WHEN g <= 200 THEN 7 END,
       CASE WHEN g <= 200 THEN 7 END
  FROM generate_series(1, 200 + $1 + $2::int) AS g`

// TestHotStatementsNeitherSortNorScan reads the plans that the engine's connections get, on a deep queue. With
// QUEUE_DEEP=1 it is a million ready and a hundred thousand delayed jobs.
func TestHotStatementsNeitherSortNorScan(t *testing.T) {
	t.Parallel()
	ready, delayed := 30_000, 3_000
	if os.Getenv("QUEUE_DEEP") != "" {
		ready, delayed = 1_000_000, 100_000
	}
	pool := dbtest.New(t)
	ctx := t.Context()
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := pool.Exec(ctx, sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(fillForPlansSQL, ready, delayed)
	exec(`INSERT INTO job_kinds (name, tier, policy, class) SELECT 'kind' || g, 'default', 'db', 'strict' FROM generate_series(0, 11) AS g`)
	exec("VACUUM ANALYZE jobs")
	exec("ANALYZE job_kinds")
	tokens := "'{1" + strings.Repeat(",2", 99) + "}'"
	for name, s := range map[string]struct{ sql, args string }{
		"claim from the front":   {jobClaimSQL, "'default', 'epoch', 0, '{}', 100, 1, '{}', '{}', 1, '60 s'"},
		"claim from a bound":     {jobClaimSQL, "'default', now(), 5, '{}', 100, 1, '{kind3}', '{90 s}', 1, '60 s'"},
		"complete":               {jobCompleteIfLeasedSQL, tokens},
		"complete and tell":      {jobCompleteAndTellSQL, tokens},
		"renew":                  {jobRenewIfLeasedSQL, tokens + ", '{60 s}'"},
		"find a claim":           {jobClaimFindSQL, "7, 7"},
		"intend":                 {effectIntendIfLeasedSQL, tokens + ", '{a}', '{x}', '{strict}', '{1 s}', '1 s'"},
		"lock for the reaper":    {jobExpiredLockSQL, ""},
		"complete with outcomes": {effectSettleManyIfIntentSQL, tokens + ", '{}', '{}', '{}', '{}', '{}', '{}'"},
	} {
		plan := planOf(ctx, t, pool, s.sql, s.args)
		if regexp.MustCompile(`Seq Scan on (jobs|effects)\b`).MatchString(plan) {
			t.Errorf("%s scans the whole table:\n%s", name, plan)
		}
		if strings.HasPrefix(name, "claim") && strings.Contains(plan, "Sort") {
			t.Errorf("%s sorts:\n%s", name, plan)
		}
	}
	// The test can fail: without the partial index's condition there is nothing but the table.
	if plan := planOf(ctx, t, pool, "SELECT id FROM jobs WHERE leased_by = $1::bigint ORDER BY payload::text LIMIT 5", "7"); !strings.Contains(plan, "Seq Scan on jobs") || !strings.Contains(plan, "Sort") {
		t.Errorf("the test does not see a bad plan:\n%s", plan)
	}
}

// planOf is the plan of a statement as the claiming connections make it: once, whatever the arguments.
func planOf(ctx context.Context, t *testing.T, pool *pgxpool.Pool, sql, args string) string {
	t.Helper()
	conn, err := pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release() // with the transaction open: the pool closes the connection
	if args != "" {
		args = "(" + args + ")"
	}
	settings := claimSettingsSQL
	if strings.Contains(sql, " effects") {
		settings = groupSettingsSQL
	}
	for _, s := range []string{"DEALLOCATE ALL", "BEGIN", settings, "PREPARE p AS " + sql} {
		if _, err := conn.Conn().PgConn().Exec(ctx, s).ReadAll(); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	var plan strings.Builder
	results, err := conn.Conn().PgConn().Exec(ctx, "EXPLAIN EXECUTE p"+args).ReadAll()
	if err != nil {
		t.Fatalf("explain %.60s: %v", sql, err)
	}
	for _, row := range results[0].Rows {
		fmt.Fprintf(&plan, "%s\n", row[0])
	}
	return plan.String()
}
