package figures

import (
	"testing"

	"github.com/postonce/postonce/internal/article/labelled"
)

// TestLabelledSet gates relevance on the items that are in the repository: four
// channels, topics as their owners would write them, five fixed seeds.
func TestLabelledSet(t *testing.T) {
	t.Parallel()
	var items []newsItem
	for _, it := range labelled.Items() {
		items = append(items, newsItem{Topic: it.Topic, Title: it.Title, Text: it.Text})
	}
	if len(items) < 200 {
		t.Fatalf("%d items, want 200", len(items))
	}
	steps := []int{0, 50, 150}
	gates := []float64{0.79, 0.87, 0.92}
	mean := make([]float64, len(steps))
	topics := []string{"space", "money", "sport", "health"}
	for _, topic := range topics {
		m := make([]float64, len(steps))
		for seed := range uint64(5) {
			for i, v := range curve(items, topic, lookFor(topic), seed, steps) {
				m[i] += v / 5
				mean[i] += v / float64(5*len(topics))
			}
		}
		t.Logf("%-9s %.3f", topic, m)
	}
	t.Logf("mean      %.3f at %v decisions", mean, steps)
	for i, gate := range gates {
		if mean[i] < gate {
			t.Errorf("AUC %.3f after %d decisions, want %.2f", mean[i], steps[i], gate)
		}
	}
}
