package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/postonce/postonce/internal/postgres/dbtest"
)

// pagePlans limit nothing that the flows do.
const pagePlans = `{"free": {"drafts_month": 300},
 "plans": [{"id": "pro", "title": "Pro", "titles": {"ru": "Профи"}, "price": 250, "days": 30, "channels": 3, "sources": 50, "drafts_month": 900},
           {"id": "desk", "title": "News desk", "price": 900, "days": 30, "channels": 20, "sources": 500}]}`

// TestTheMiniAppOverTheDemo drives the page in Chromium through whole flows, over
// the running demo: what is decided there, and what is decided in the chat.
func TestTheMiniAppOverTheDemo(t *testing.T) {
	t.Parallel()
	const scripts = "../miniapp/browsertest"
	for _, name := range []string{"node", "chromium"} {
		if _, err := exec.LookPath(name); err != nil {
			lacks(t, name)
		}
	}
	if _, err := os.Stat(scripts + "/node_modules"); err != nil {
		lacks(t, scripts+"/node_modules (npm install there)")
	}
	plans := filepath.Join(t.TempDir(), "plans.json")
	if err := os.WriteFile(plans, []byte(pagePlans), 0o600); err != nil {
		t.Fatal(err)
	}
	d := startDemo(t, dbtest.ServerDir(t), "127.0.0.1:0", "BILLING=stars", "BILLING_PLANS="+plans)
	args := []string{"--test", "--test-reporter=spec"}
	if only := os.Getenv("PAGE_TESTS"); only != "" {
		args = append(args, "--test-name-pattern="+only)
	}
	cmd := exec.CommandContext(t.Context(), "node", append(args, "flows.test.mjs")...)
	cmd.Dir = scripts
	cmd.Env = append(os.Environ(), "DEMO="+d.base)
	// The two seconds hold on a machine of one's own; beside other tests they get room.
	if os.Getenv("POSTONCE_BENCH") == "" {
		cmd.Env = append(cmd.Env, "SLACK=5")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, tail(string(out), 8000))
	}
	t.Log(tail(string(out), 1500))
}

// lacks skips a test that the machine cannot run; under CI nothing may be missing.
func lacks(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("missing: %s", what)
	}
	t.Skipf("missing: %s", what)
}
