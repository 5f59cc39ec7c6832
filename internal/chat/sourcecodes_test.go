package chat

import (
	"os"
	"regexp"
	"testing"
)

// TestEveryTroubleOfASourceHasAText: without one its owner would read the code.
func TestEveryTroubleOfASourceHasAText(t *testing.T) {
	t.Parallel()
	all := english(t)
	code := regexp.MustCompile(`(?m)^\tCode\w+\s+(?:Code\s+)?= "([a-z_]+)"`)
	for _, file := range []string{"../fetch/errors.go", "../sources/problem.go", "../sources/decode/document.go"} {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := code.FindAllSubmatch(src, -1)
		if len(found) < 10 {
			t.Errorf("%s: only %d codes found", file, len(found))
		}
		for _, m := range found {
			if all["error.source."+string(m[1])] == nil {
				t.Errorf("%s: no text for %s", file, m[1])
			}
		}
	}
}
