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

// table is one table of the background and its rows.
type table struct {
	name    string
	columns []string
	n       int
	row     func(i int) []any
}

// load fills an empty database with what a year leaves behind, in the shapes
// that the features give it. Every size is treated alike: keys and indexes are
// taken away, the rows copied in, keys and indexes made anew as the migrations
// have them, and all of it vacuumed, analysed and written to disk.
func (w *world) load(ctx context.Context) error {
	tables := slices.Concat(w.people(), w.news(), w.work())
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = t.name
	}
	restore, err := w.strip(ctx, names)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if err := w.copyIn(ctx, t.name, t.columns, t.n, t.row); err != nil {
			return fmt.Errorf("load %s: %w", t.name, err)
		}
		w.cfg.Say("  %s: %d", t.name, t.n)
	}
	for _, statement := range slices.Concat([]string{"SET maintenance_work_mem = '512MB'"}, restore, []string{"RESET maintenance_work_mem", "VACUUM ANALYZE", "CHECKPOINT"}) {
		if _, err := w.pool.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// people are the channels, each with an owner, topics and what was decided in it.
func (w *world) people() []table {
	c := w.cfg.Size.Channels
	return []table{
		{"people", []string{"id", "first_name"}, c, func(i int) []any { return []any{int64(i + 1), fmt.Sprint("Person ", i)} }},
		{"channels", []string{"chat_id", "title", "look_for", "created_by"}, c, func(i int) []any {
			return []any{-int64(i + 1), fmt.Sprint("Channel ", i), title(i), int64(i + 1)}
		}},
		{"word_counts", []string{"channel_id", "word", "liked", "disliked"}, c * 200, func(i int) []any {
			return []any{int64(i/200 + 1), syllables(i % 200), 1 + i%7, 1 + i%5}
		}},
	}
}

// news are the sources, what was read there, and the stories that it made.
func (w *world) news() []table {
	n := w.size.Items
	return []table{
		{"sources", []string{"id", "address", "url", "host", "kind", "next_poll_at"}, w.size.Sources, func(i int) []any {
			a := fmt.Sprintf("made-%d.example/feed", i)
			return []any{madeFrom + int64(i), a, "https://" + a, fmt.Sprintf("made-%d.example", i), "feed", w.began.AddDate(1, 0, 0)}
		}},
		{"polls", []string{"source_id", "at", "result", "status", "entries", "known", "new"}, n, func(i int) []any {
			return []any{w.sourceOf(i), w.began.Add(-time.Duration(i%30) * 24 * time.Hour), "ok", 200, known, known - 1, 1}
		}},
		{"items", []string{"id", "source_id", "url", "canonical", "title", "text", "published_at", "first_seen_at"}, n, w.item},
		{"item_keys", []string{"source_id", "key", "item_id"}, 2 * n, func(i int) []any {
			return []any{w.sourceOf(i / 2), digest(1, i), madeFrom + int64(i/2)}
		}},
		{"stories", []string{"id", "lead_item_id", "title", "language", "fingerprint", "created_at", "grown_at"}, n, func(i int) []any {
			at := w.seen(i)
			return []any{madeFrom + int64(i), madeFrom + int64(i), title(i), "en", int64(binary.BigEndian.Uint64(digest(2, i)) >> 1), at, at} //nolint:gosec // one bit less
		}},
		{"story_items", []string{"item_id", "story_id", "how", "certain", "added_at"}, n, func(i int) []any {
			return []any{madeFrom + int64(i), madeFrom + int64(i), "lead", false, w.seen(i)}
		}},
		{"story_keys", []string{"key", "story_id"}, 2 * n, func(i int) []any {
			return []any{digest(3, i), madeFrom + int64(i/2)}
		}},
		w.words(),
		{"scores", []string{"channel_id", "story_id", "score", "verdict", "features", "source_id", "scored_at"}, n, func(i int) []any {
			return []any{w.channelOf(i), madeFrom + int64(i), i % 100, "below", strings.Fields(title(i)), w.sourceOf(i), w.seen(i)}
		}},
	}
}

// work is what the queue keeps of it, and the posts: one item in fifty became one.
func (w *world) work() []table {
	n, posts := w.size.Items, w.size.Items/50
	hash := digest(4, 1)
	story := func(i int) int { return i * 50 }
	return []table{
		{"job_keys", []string{"job_id", "kind", "key"}, 2 * n, func(i int) []any {
			kind := []string{"match", "score"}[i%2]
			return []any{madeFrom + int64(i), kind, fmt.Sprint("made:", i/2)}
		}},
		{"drafts", []string{"id", "channel_id", "story_id", "kind", "subject", "state", "slot_at", "approved_hash", "created_at"}, posts, func(i int) []any {
			s := madeFrom + int64(story(i))
			return []any{madeFrom + int64(i), w.channelOf(i), s, "post", fmt.Sprint("story:", s), "published", w.seen(story(i)), hash, w.seen(story(i))}
		}},
		{"draft_revisions", []string{"draft_id", "revision", "html", "html_hash", "composer", "created_at"}, posts, func(i int) []any {
			return []any{madeFrom + int64(i), 1, "<b>" + title(story(i)) + "</b>", digest(5, i), "extractive", w.seen(story(i))}
		}},
		{"slots", []string{"channel_id", "at", "draft_id"}, posts, func(i int) []any {
			return []any{w.channelOf(i), w.seen(story(i)).Add(time.Duration(i) * time.Microsecond), madeFrom + int64(i)}
		}},
		{"publications", []string{"draft_id", "channel_id", "chat_id", "state", "effect_key", "form", "html_hash", "message_id", "published_at"}, posts, func(i int) []any {
			return []any{madeFrom + int64(i), w.channelOf(i), -w.channelOf(i), "published", fmt.Sprint("publish:draft:", madeFrom+i), "text", hash, int64(i + 1), w.seen(story(i))}
		}},
		{"effects", []string{"effect_key", "job_id", "lease_token", "deadline_at", "outcome_at", "kind", "class", "state", "request_hash"}, 3 * posts, func(i int) []any {
			at := w.seen(story(i / 3))
			return []any{fmt.Sprintf("made:%d", i), madeFrom + int64(i), int64(i), at, at, "publish", []string{"strict", "courtesy"}[i%2], "done", hash}
		}},
	}
}

const (
	// Whatever makes loading slow and does not change what is measured afterwards.
	keysOfSQL = `
SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname) AS away,
       format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.conrelid::regclass, c.conname, pg_get_constraintdef(c.oid)) AS back
  FROM pg_constraint c
 WHERE c.contype IN ('p', 'u', 'f')
   AND c.conparentid = 0
   AND c.conrelid::regclass::text NOT LIKE 'goose%'
   AND (c.conrelid = ANY($1::text[]::regclass[]) OR c.confrelid = ANY($1::text[]::regclass[]))
 ORDER BY c.contype = 'f' DESC, c.conname`

	indexesOfSQL = `
SELECT format('DROP INDEX %s', i.indexrelid::regclass) AS away,
       pg_get_indexdef(i.indexrelid) AS back
  FROM pg_index i
 WHERE i.indrelid = ANY($1::text[]::regclass[])
   AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)
 ORDER BY 1`
)

// strip takes keys and indexes of the tables away and returns the statements
// that bring them back, in order.
func (w *world) strip(ctx context.Context, tables []string) (restore []string, err error) {
	for _, query := range []string{keysOfSQL, indexesOfSQL} {
		rows, err := w.pool.Query(ctx, query, tables)
		if err != nil {
			return nil, fmt.Errorf("keys and indexes: %w", err)
		}
		var away, back string
		var list []string
		if _, err := pgx.ForEachRow(rows, []any{&away, &back}, func() error {
			list = append(list, away)
			restore = append(restore, back)
			return nil
		}); err != nil {
			return nil, fmt.Errorf("keys and indexes: %w", err)
		}
		for _, statement := range list {
			if _, err := w.pool.Exec(ctx, statement); err != nil {
				return nil, fmt.Errorf("%s: %w", statement, err)
			}
		}
	}
	// References need the keys that they point to, so what was taken first comes back last.
	slices.Reverse(restore)
	return restore, nil
}

func (w *world) copyIn(ctx context.Context, table string, columns []string, n int, row func(int) []any) error {
	for first := 0; first < n; first += bulk {
		_, err := w.pool.CopyFrom(ctx, pgx.Identifier{table}, columns,
			pgx.CopyFromSlice(min(bulk, n-first), func(i int) ([]any, error) { return row(first + i), nil }))
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) channelOf(i int) int64 { return int64(i%w.cfg.Size.Channels + 1) }

func (w *world) sourceOf(item int) int64 { return madeFrom + int64(item%w.size.Sources) }

// words are those by which the stories of the last days are found.
func (w *world) words() table {
	type entry struct {
		word  string
		story int64
		at    time.Time
	}
	var list []entry
	for i := range w.size.Items {
		if at := w.seen(i); w.began.Sub(at) < wordsFor {
			words := strings.Fields(title(i))
			slices.Sort(words)
			for _, word := range slices.Compact(words) {
				list = append(list, entry{word, madeFrom + int64(i), at})
			}
		}
	}
	return table{"story_words", []string{"word", "story_id", "at"}, len(list), func(i int) []any {
		return []any{list[i].word, list[i].story, list[i].at}
	}}
}

// wordsFor is how long the words of stories are kept.
const wordsFor = 72 * time.Hour

// seen spreads the items evenly over the days that they took.
func (w *world) seen(i int) time.Time {
	const golden = 0.6180339887498949
	_, part := math.Modf(float64(i) * golden)
	days := float64(w.cfg.Size.Items) / float64(w.cfg.ADay)
	return w.began.Add(-time.Duration(part * days * float64(24*time.Hour)))
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
	word := func(k int) string { return syllables(int(binary.BigEndian.Uint16(digest(byte(10+k), i))) % 1728) }
	return fmt.Sprintf("%s %s %s %s %s n%d", word(0), word(1), word(2), word(3), word(4), i)
}

// syllables spells a number below 1728.
func syllables(n int) string {
	parts := []string{"ba", "do", "ki", "lu", "me", "na", "po", "ri", "sa", "te", "vo", "zu"}
	return parts[n%12] + parts[n/12%12] + parts[n/144%12]
}
