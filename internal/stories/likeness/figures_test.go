package likeness

import (
	"testing"

	"github.com/postonce/postonce/internal/article/labelled"
)

// TestGroupingIsPrecise gates what likeness claims on all pairs of the labelled set.
func TestGroupingIsPrecise(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "ru"} {
		var items []labelled.Item
		var cut []Item
		for _, it := range labelled.Items() {
			if it.Language == lang {
				items, cut = append(items, it), append(cut, New(it.Title, it.Text))
			}
		}
		hit, wrong, missed := 0, 0, 0
		for i := range items {
			for j := range i {
				same := items[i].Story == items[j].Story
				like := Of(cut[i], cut[j])
				switch {
				case like >= Group && same:
					hit++
				case like >= Group:
					wrong++
					t.Logf("wrongly grouped at %.2f: %q, %q", like, items[j].Title, items[i].Title)
				case same:
					missed++
					t.Logf("missed at %.2f: %q, %q", like, items[j].Title, items[i].Title)
				}
			}
		}
		precision := float64(hit) / float64(max(1, hit+wrong))
		recall := float64(hit) / float64(hit+missed)
		t.Logf("%s: %d items, precision %.3f, recall %.3f", lang, len(items), precision, recall)
		if precision < 0.95 || recall < 0.5 {
			t.Errorf("%s: precision %.3f, recall %.3f; want .95, .5", lang, precision, recall)
		}
	}
}

// TestGroupingIsPreciseOnPairs gates it on pairs that are alike on purpose: the events differ and share
// names and wording, or one came after the other. The weights of oneEvent were fitted on the even ones; the odd
// ones were held out.
func TestGroupingIsPreciseOnPairs(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"en", "ru", "fitted", "held out"} {
		pairs, hit, wrong, missed := 0, 0, map[string]int{}, 0
		for i, p := range labelled.Pairs() {
			if p.Language != part && part != []string{"fitted", "held out"}[i%2] {
				continue
			}
			pairs++
			like := Of(New(p.A.Title, p.A.Text), New(p.B.Title, p.B.Text))
			switch {
			case like >= Group && p.Kind == "same":
				hit++
			case like >= Group:
				wrong[p.Kind]++
				t.Logf("wrongly grouped at %.2f (%s): %q, %q", like, p.Kind, p.A.Title, p.B.Title)
			case p.Kind == "same":
				missed++
			}
		}
		precision := float64(hit) / float64(max(1, hit+wrong["other"]+wrong["follow"]))
		recall := float64(hit) / float64(hit+missed)
		t.Logf("%s: %d pairs, precision %.3f (wrong: %v), recall %.3f", part, pairs, precision, wrong, recall)
		if precision < 0.95 || recall < 0.5 {
			t.Errorf("%s: precision %.3f, recall %.3f; want .95, .5", part, precision, recall)
		}
	}
}
