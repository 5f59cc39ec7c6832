package queue

import (
	"os"
	"os/exec"
	"testing"
)

// TestTheModelHoldsAndItsMutationsDoNot lets spin visit every state of model/queue.pml.
func TestTheModelHoldsAndItsMutationsDoNot(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"spin", "cc"} {
		if _, err := exec.LookPath(tool); err != nil && os.Getenv("CI") == "" {
			t.Skipf("%s is not installed (apt install spin gcc)", tool)
		}
	}
	cmd := exec.CommandContext(t.Context(), "./check.sh")
	cmd.Dir = "model"
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
