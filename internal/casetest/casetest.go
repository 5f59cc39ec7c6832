// Package casetest finds the shared cases: inputs that other programs failed on,
// kept beside the repository. Tests that play them skip where they are absent.
package casetest

import (
	"os"
	"path/filepath"
	"testing"
)

// Dir returns a folder of the shared cases: below POSTONCE_CASES, or below
// shared/cases in this or any parent directory. It skips the test where there
// is none.
func Dir(tb testing.TB, elem ...string) string {
	tb.Helper()
	below := func(root string) string { return filepath.Join(append([]string{root}, elem...)...) }
	if root := os.Getenv("POSTONCE_CASES"); root != "" {
		return below(root)
	}
	at, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for ; at != filepath.Dir(at); at = filepath.Dir(at) {
		dir := below(filepath.Join(at, "shared", "cases"))
		if fi, err := os.Stat(dir); err == nil && fi.IsDir() {
			return dir
		}
	}
	tb.Skip("no folder shared/cases in any parent; set POSTONCE_CASES to run this test")
	return ""
}
