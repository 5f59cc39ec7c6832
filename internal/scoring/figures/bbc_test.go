package figures

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postonce/postonce/internal/article"
)

// bbc reads the BBC articles as items: headline and the first three sentences.
func bbc(t *testing.T) []newsItem {
	t.Helper()
	dir := os.Getenv("POSTONCE_BBC")
	if dir == "" {
		t.Skip("POSTONCE_BBC names no folder with BBC articles as TOPIC/NNN.txt (headline, empty line, text): skipped")
	}
	var out []newsItem
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".txt") {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		head, text, _ := strings.Cut(string(raw), "\n")
		sents := article.Sentences(text)
		out = append(out, newsItem{Topic: filepath.Base(filepath.Dir(path)), Title: head, Text: strings.Join(sents[:min(3, len(sents))], " ")})
		return nil
	})
	if err != nil || len(out) < 1000 {
		t.Fatalf("%d articles in %s: %v", len(out), dir, err)
	}
	return out
}

// bbcTopics are what owners of channels on BBC's five topics would write down.
func bbcTopics(topic string) []string {
	switch topic {
	case "politics":
		return []string{"government", "minister", "election", "Labour", "Tory", "Blair", "party", "MPs", "vote", "parliament", "Howard", "Brown", "policy", "council", "immigration", "tax"}
	case "entertainment":
		return []string{"film", "music", "album", "actor", "award", "Oscar", "band", "singer", "star", "TV", "show", "director", "festival", "theatre", "box office", "chart"}
	}
	return lookFor(topic)
}

// TestBBCTopics are the figures by which the constants of bayes were chosen; those
// that prove something are TestAGNews'.
func TestBBCTopics(t *testing.T) {
	items := bbc(t)
	steps := []int{0, 50, 200, 800}
	mean := make([]float64, len(steps))
	topics := []string{"business", "entertainment", "politics", "sport", "tech"}
	for _, topic := range topics {
		for seed := range uint64(5) {
			for i, v := range curve(items, topic, bbcTopics(topic), seed+100, steps) {
				mean[i] += v / float64(5*len(topics))
			}
		}
	}
	t.Logf("mean      %.3f at %v decisions", mean, steps)
	for i, gate := range []float64{0.88, 0.95, 0.975, 0.99} {
		if mean[i] < gate {
			t.Errorf("AUC %.3f after %d decisions, want %.3f", mean[i], steps[i], gate)
		}
	}
}
