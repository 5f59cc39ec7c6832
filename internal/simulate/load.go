package simulate

import (
	"context"
	"crypto/md5" //nolint:gosec // even spread of made-up keys, nothing is protected by it
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// bulk is how many rows one COPY holds.
const bulk = 50_000

// made sources and items carry numbers from here on, clear of the real ones.
const madeFrom = 1_000_000_000

// grow brings the background to so many sources and items: what a year leaves
// behind. Rows are copied in, in the shapes that the features give them.
func (w *world) grow(ctx context.Context, to Size) error {
	steps := []struct {
		table   string
		columns []string
		from, n int
		row     func(i int) []any
	}{
		{"sources", []string{"id", "address", "url", "host", "kind", "next_poll_at"}, w.size.Sources, to.Sources, func(i int) []any {
			a := fmt.Sprintf("made-%d.example/feed", i)
			return []any{madeFrom + int64(i), a, "https://" + a, fmt.Sprintf("made-%d.example", i), "feed", w.now().AddDate(1, 0, 0)}
		}},
		{"items", []string{"id", "source_id", "url", "canonical", "title", "text", "published_at", "first_seen_at"}, w.size.Items, to.Items, w.item},
		{"item_keys", []string{"source_id", "key", "item_id"}, 2 * w.size.Items, 2 * to.Items, func(i int) []any {
			return []any{w.sourceOf(i / 2), digest(1, i), madeFrom + int64(i/2)}
		}},
		{"stories", []string{"id", "lead_item_id", "title", "language", "fingerprint", "created_at", "grown_at"}, w.size.Items, to.Items, func(i int) []any {
			at := w.seen(i)
			return []any{madeFrom + int64(i), madeFrom + int64(i), title(i), "en", int64(binary.BigEndian.Uint64(digest(2, i)) >> 1), at, at} //nolint:gosec // one bit less
		}},
		{"story_items", []string{"item_id", "story_id", "how", "certain", "added_at"}, w.size.Items, to.Items, func(i int) []any {
			return []any{madeFrom + int64(i), madeFrom + int64(i), "lead", false, w.seen(i)}
		}},
		{"story_keys", []string{"key", "story_id"}, 2 * w.size.Items, 2 * to.Items, func(i int) []any {
			return []any{digest(3, i), madeFrom + int64(i/2)}
		}},
		{"scores", []string{"channel_id", "story_id", "score", "verdict", "source_id", "scored_at"}, w.size.Items, to.Items, func(i int) []any {
			return []any{madeFrom + int64(i%w.cfg.Size.Channels), madeFrom + int64(i), i % 100, "below", w.sourceOf(i), w.seen(i)}
		}},
		{"job_keys", []string{"job_id", "kind", "key"}, 2 * w.size.Items, 2 * to.Items, func(i int) []any {
			kind := []string{"match", "score"}[i%2]
			return []any{madeFrom + int64(i), kind, fmt.Sprint("made:", i/2)}
		}},
	}
	for _, s := range steps {
		if err := w.copyIn(ctx, s.table, s.columns, s.from, s.n, s.row); err != nil {
			return fmt.Errorf("load %s: %w", s.table, err)
		}
		w.cfg.Say("  %s: %d", s.table, s.n)
	}
	if err := w.copyWords(ctx, w.size.Items, to.Items); err != nil {
		return fmt.Errorf("load story_words: %w", err)
	}
	if _, err := w.pool.Exec(ctx, "VACUUM ANALYZE"); err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	w.size = to
	return nil
}

func (w *world) copyIn(ctx context.Context, table string, columns []string, from, to int, row func(int) []any) error {
	for at := from; at < to; at += bulk {
		first, n := at, min(bulk, to-at)
		_, err := w.pool.CopyFrom(ctx, pgx.Identifier{table}, columns,
			pgx.CopyFromSlice(n, func(i int) ([]any, error) { return row(first + i), nil }))
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) sourceOf(item int) int64 { return madeFrom + int64(item%w.cfg.Size.Sources) }

// copyWords adds the words by which the stories of the last days are found.
func (w *world) copyWords(ctx context.Context, from, to int) error {
	type entry struct {
		word  string
		story int64
		at    time.Time
	}
	var list []entry
	for i := from; i < to; i++ {
		if at := w.seen(i); w.began.Sub(at) < wordsFor {
			words := strings.Fields(title(i))
			slices.Sort(words)
			for _, word := range slices.Compact(words) {
				list = append(list, entry{word, madeFrom + int64(i), at})
			}
		}
	}
	return w.copyIn(ctx, "story_words", []string{"word", "story_id", "at"}, 0, len(list), func(i int) []any {
		return []any{list[i].word, list[i].story, list[i].at}
	})
}

// wordsFor is how long the words of stories are kept.
const wordsFor = 72 * time.Hour

// seen spreads items over the last year, evenly at every share of them.
func (w *world) seen(i int) time.Time {
	const golden = 0.6180339887498949
	_, part := math.Modf(float64(i) * golden)
	return w.began.Add(-time.Duration(part * float64(365*24*time.Hour)))
}

func (w *world) item(i int) []any {
	at := w.seen(i)
	address := fmt.Sprintf("made-%d.example/story/%d", i%w.cfg.Size.Sources, i)
	text := fmt.Sprintf("%s. It was said on %s that number %d will be followed by another one; the council agreed after a long debate.",
		title(i), at.Format(time.DateOnly), i)
	return []any{madeFrom + int64(i), w.sourceOf(i), "https://" + address, address, title(i), text, at, at}
}

func digest(class byte, i int) []byte {
	var b [9]byte
	b[0] = class
	binary.BigEndian.PutUint64(b[1:], uint64(i)) //nolint:gosec // counts up from 0
	sum := md5.Sum(b[:])                         //nolint:gosec // see above
	return sum[:]
}

// title makes titles of a vocabulary of some thousand words, as news has it.
func title(i int) string {
	word := func(k int) string {
		syllables := []string{"ba", "do", "ki", "lu", "me", "na", "po", "ri", "sa", "te", "vo", "zu"}
		n := int(binary.BigEndian.Uint16(digest(byte(10+k), i))) % 1728
		return syllables[n%12] + syllables[n/12%12] + syllables[n/144%12]
	}
	return fmt.Sprintf("%s %s %s %s %s n%d", word(0), word(1), word(2), word(3), word(4), i)
}
