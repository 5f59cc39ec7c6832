package drafting

import (
	"math"
	"testing"
)

func TestPagesAreReadWithinTheDayWhateverTheChannelsNumber(t *testing.T) {
	t.Parallel()
	for _, id := range []int64{1, 2, 71_999, 72_000, 5_000_000, math.MaxInt64 / 8000} {
		if at := learnOffset(id); at < 0 || at >= learnSpread {
			t.Errorf("channel %d: %s", id, at)
		}
	}
	if a, b := learnOffset(1), learnOffset(2); (b - a).Abs().Hours() < 1 {
		t.Errorf("neighbours are read at %s and %s", a, b)
	}
}
