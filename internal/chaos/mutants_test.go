package chaos_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutation breaks one rule of the program in a copy of its source. A checker
// that does not notice any of them would prove nothing.
type mutation struct {
	name    string
	noticed witness
	edits   []edit
}

// witness is what has to fail on the mutated program; zero is the chaos run.
type witness struct{ pkg, test string }

var chaosRun witness //nolint:gochecknoglobals // the zero value by its name

func test(pkg, name string) witness { return witness{pkg, name} }

// edit replaces text in a file; the text has to be there exactly once.
type edit struct{ file, old, new string }

// TestMutantsAreCaught runs when CHAOS_MUTANTS is set, as make mutants does.
func TestMutantsAreCaught(t *testing.T) {
	if os.Getenv("CHAOS_MUTANTS") == "" {
		t.Skip("takes minutes: make mutants")
	}
	for _, m := range mutations() {
		t.Run(m.name, func(t *testing.T) {
			if m.noticed == chaosRun {
				m.attacked(t)
				return
			}
			out, err := exec.Command("go", "test", "-count=1", "-overlay", m.overlay(t), "-run", "^"+m.noticed.test+"$", filepath.Join("..", "..", m.noticed.pkg)).CombinedOutput()
			switch {
			case err == nil:
				t.Errorf("%s of %s passes", m.noticed.test, m.noticed.pkg)
			case !strings.Contains(string(out), "--- FAIL: "+m.noticed.test) && !strings.Contains(string(out), "\npanic: "):
				t.Errorf("%s did not run: %s", m.noticed.test, out)
			default:
				t.Logf("caught by %s", m.noticed.test)
			}
		})
	}
}

// attacked plays the storm on the mutated program until the checker finds
// something, with a few seeds at most.
func (m *mutation) attacked(t *testing.T) {
	t.Helper()
	binary := build(t, m)
	for seed := range uint64(4) {
		problems, report := attack(t, binary, seed+1, 60)
		if len(problems) > 0 {
			t.Logf("caught: %s\n%s", strings.Join(problems, "\n"), report)
			return
		}
	}
	t.Error("the checker found nothing")
}

// overlay writes the changed files and the list of them that go build takes.
func (m *mutation) overlay(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	changed := map[string]string{}
	for _, e := range m.edits {
		path, err := filepath.Abs(filepath.Join("..", "..", e.file))
		if err != nil {
			t.Fatal(err)
		}
		from := path
		if already, ok := changed[path]; ok {
			from = already
		}
		source, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(source), e.old); n != 1 {
			t.Fatalf("mutation %q: %s has the text %d times, not once:\n%s", m.name, e.file, n, e.old)
		}
		to := filepath.Join(dir, strings.ReplaceAll(e.file, "/", "_"))
		if err := os.WriteFile(to, []byte(strings.Replace(string(source), e.old, e.new, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		changed[path] = to
	}
	list, err := json.Marshal(map[string]any{"Replace": changed})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// mutations break the rules of the contract, one at a time. Each names who has
// to notice: the chaos run, or a test of the package that keeps the rule.
func mutations() []mutation {
	return []mutation{
		{
			name:    "the ledger asks nobody: an intent without an outcome is performed again",
			noticed: chaosRun,
			edits: []edit{
				{"internal/queue/intent.go", " WHERE e.state = 'not_done'\n", " WHERE e.state <> 'done'\n"},
				{"internal/queue/reaper.go", "           WHEN u.job_id IS NOT NULL OR coalesce", "           WHEN coalesce"},
			},
		},
		{
			name:    "updates are acknowledged before they are stored",
			noticed: test("./internal/telegram", "TestAnUpdateIsAcknowledgedOnceItIsStored"),
			edits: []edit{{
				"internal/telegram/poller.go",
				"	return 0, in.takeBatch(ctx, token, raws)\n",
				`	last := decode(raws[len(raws)-1]).id
	in.cfg.Client.Do(ctx, "getUpdates", map[string]any{"offset": last + 1, "limit": 1, "timeout": 0}, Timeout(time.Second))
	return 0, in.takeBatch(ctx, token, raws)
`,
			}},
		},
		{
			name:    "leases have no fencing: every claim of a job holds the same token",
			noticed: test("./internal/queue", "TestAnExecutionThatWasReplacedCanDoNothingMore"),
			edits:   []edit{{"internal/queue/claim.go", "lease_token = nextval('job_lease_seq')", "lease_token = jobs.id"}},
		},
		{
			name:    "the reaper judges by the snapshot that its transaction began with, as one statement does",
			noticed: test("./internal/queue", "TestTheReaperSeesAnIntentThatWasCommittedBeforeItsLock"),
			edits: []edit{{
				"internal/queue/reaper.go",
				"	err = pgx.BeginFunc(ctx, e.pool, func(tx pgx.Tx) error {\n",
				"	err = pgx.BeginTxFunc(ctx, e.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {\n",
			}},
		},
		{
			name:    "a send without an answer is taken for one that was refused",
			noticed: test("./internal/publishing", "TestOutcomes"),
			edits: []edit{{
				"internal/publishing/publish.go",
				"	case telegram.Unknown:\n		return queue.Unknown{Err: o}\n",
				"	case telegram.Unknown:\n		return queue.Refused{Err: o}\n",
			}},
		},
		{
			name:    "a slot is looked for, then taken",
			noticed: test("./internal/planning", "TestASlotThatIsBeingTakenIsNotTakenAgain"),
			edits: []edit{
				{"migrations/0007_planning.sql", "clock_timestamp(),\n    UNIQUE (channel_id, at)\n", "clock_timestamp()\n"},
				{"internal/planning/slots.go", " WHERE id = $1\n   FOR NO KEY UPDATE`", " WHERE id = $1`"},
				{"internal/planning/slots.go", ") VALUES ($1, $2, $3, $4)\nON CONFLICT (channel_id, at) DO NOTHING", ") SELECT $1::bigint, $2::timestamptz, $3::bigint, $4::bigint WHERE NOT EXISTS (SELECT FROM slots WHERE channel_id = $1 AND at = $2)"},
			},
		},
	}
}
