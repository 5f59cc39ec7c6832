package extract

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/article/words"
)

const measuredUnits = 350

// TestBBCHeadlines compares the composer with lead-3 on articles whose human
// headline is withheld from both.
func TestBBCHeadlines(t *testing.T) {
	dir := os.Getenv("POSTONCE_BBC")
	if dir == "" {
		t.Skip("POSTONCE_BBC names no folder with BBC articles as NNN.txt (headline, empty line, text): skipped")
	}
	var ours, lead, n float64
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".txt") || d.Name() == "README.txt" {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		head, text, _ := strings.Cut(string(raw), "\n")
		o, l := coverage(head, text)
		ours, lead, n = ours+o, lead+l, n+1
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("no article in %s: %v", dir, err)
	}
	t.Logf("%.0f articles at %d units: composer %.3f, lead-3 %.3f", n, measuredUnits, ours/n, lead/n)
	if ours < lead {
		t.Errorf("the composer covers less of the headlines than lead-3")
	}
}

// coverage is the share of the headline's terms that each summary contains.
func coverage(head, text string) (ours, lead float64) {
	sents := Clean(text)
	var picked []string
	for _, i := range pick(sents, "", measuredUnits+100) {
		picked = append(picked, sents[i])
	}
	return recall(head, first(strings.Join(picked, " "), measuredUnits)), recall(head, first(strings.Join(leadOf(text, 3), " "), measuredUnits))
}

func leadOf(text string, n int) []string {
	s := article.Sentences(text)
	return s[:min(n, len(s))]
}

func first(s string, n int) string {
	r := []rune(s)
	return string(r[:min(n, len(r))])
}

func recall(head, text string) float64 {
	h := words.Set(head)
	if len(h) == 0 {
		return 1
	}
	return float64(overlap(h, words.Set(text))) / float64(len(h))
}
