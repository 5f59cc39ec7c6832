package watch_test

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const deploy = "../../../docs/deploy/"

// Prometheus' own tool reads the rules and plays their tests; and it would say
// so if a threshold were another.
func TestPromtoolAgreesWithTheAlertRules(t *testing.T) {
	t.Parallel()
	tool, err := osexec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed (Debian: prometheus)")
	}
	for _, args := range [][]string{{"check", "rules", deploy + "alerts.yml"}, {"test", "rules", deploy + "alerts_test.yml"}} {
		if out, err := osexec.CommandContext(t.Context(), tool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}

	dir := t.TempDir()
	for _, name := range []string{"alerts.yml", "alerts_test.yml"} {
		text, err := os.ReadFile(deploy + name)
		if err != nil {
			t.Fatal(err)
		}
		spoiled := strings.ReplaceAll(string(text), "0.9 * max(postonce_model_budget_tokens)", "1.9 * max(postonce_model_budget_tokens)")
		if err := os.WriteFile(filepath.Join(dir, name), []byte(spoiled), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := osexec.CommandContext(t.Context(), tool, "test", "rules", filepath.Join(dir, "alerts_test.yml")).CombinedOutput(); err == nil {
		t.Errorf("a spoiled rule passes:\n%s", out)
	}
}
