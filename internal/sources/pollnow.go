package sources

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/sources/address"
	"github.com/postonce/postonce/internal/sources/identity"
)

// PollReport is what `postonce poll` prints: what is new, and why the rest is not.
type PollReport struct {
	SourceID int64       `json:"source_id"`
	URL      string      `json:"url"`
	Result   string      `json:"result"` // ok, unchanged, or a code
	Note     string      `json:"note"`
	Entries  []PollEntry `json:"entries"`
	NextPoll time.Time   `json:"next_poll"`
	Error    string      `json:"error,omitempty"` // one sentence
}

// PollEntry is one entry of a poll, and what became of it.
type PollEntry struct {
	ItemID int64  `json:"item_id,omitempty"`
	Title  string `json:"title"`
	URL    string `json:"url"`
	Why    string `json:"why"` // new, baseline, old, over_cap, known, twice, nameless
}

// PollNow polls a followed source at once, outside the queue but within the
// politeness of its host, and schedules it anew. raw is an address as a person
// types it. ErrUnknown: nobody follows it.
func (s *Service) PollNow(ctx context.Context, raw string) (PollReport, error) {
	t, err := address.Parse(raw, s.reader.preview)
	if err != nil {
		return PollReport{}, problemOf(err)
	}
	src, err := scanRow(s.pool.QueryRow(ctx, sourceByAddressSQL, t.Key()))
	if err != nil {
		return PollReport{}, err
	}
	return s.pollRow(ctx, src)
}

func (s *Service) pollRow(ctx context.Context, src *row) (PollReport, error) {
	for {
		ok, wait, err := s.claimHost(ctx, src.host, src.id)
		if err != nil {
			return PollReport{}, err
		}
		if ok {
			break
		}
		select {
		case <-ctx.Done():
			return PollReport{}, ctx.Err()
		case <-time.After(min(wait, time.Second)):
		}
	}
	out := s.ask(ctx, src)
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return s.record(ctx, tx, src.id, out) })
	if err != nil {
		s.releaseHost(ctx, src.host, src.id, 0)
		return PollReport{}, fmt.Errorf("poll source %d: %w", src.id, err)
	}
	s.tell(out)
	return s.report(ctx, out)
}

const itemsByKeySQL = `
SELECT k.key,
       i.id,
       i.result,
       i.first_seen_at >= $3 AS now
  FROM item_keys k
  JOIN items i ON i.id = k.item_id
 WHERE k.source_id = $1
   AND k.key = ANY ($2::bytea[])`

// report says of each entry of a recorded poll what became of it.
func (s *Service) report(ctx context.Context, out *outcome) (PollReport, error) {
	rep := PollReport{SourceID: out.src.id, URL: out.url, Result: out.result(), Note: out.note(), Entries: []PollEntry{}, NextPoll: out.nextAt}
	if out.problem != nil {
		rep.Error = out.problem.Sentence()
	}
	if out.doc == nil {
		return rep, nil
	}
	if out.same {
		out.ids = identity.Of(out.doc, identityOptions(out, out.src.distrustIDs))
	}
	var keys [][]byte
	for _, e := range out.ids {
		for _, k := range e.Keys {
			sum := k.Sum()
			keys = append(keys, sum[:])
		}
	}
	type fate struct {
		id     int64
		result string
		now    bool
	}
	fates := map[[16]byte]fate{}
	rows, err := s.pool.Query(ctx, itemsByKeySQL, out.src.id, keys, out.at)
	if err != nil {
		return rep, err
	}
	var key []byte
	var f fate
	if _, err := pgx.ForEachRow(rows, []any{&key, &f.id, &f.result, &f.now}, func() error { fates[[16]byte(key)] = f; return nil }); err != nil {
		return rep, err
	}
	told := map[int64]bool{}
	for i, e := range out.ids {
		pe := PollEntry{Title: out.doc.Entries[i].Title, URL: shown(&out.doc.Entries[i]), Why: "nameless"}
		for _, k := range e.Keys {
			if got, ok := fates[k.Sum()]; ok {
				pe.ItemID, pe.Why = got.id, "known"
				if got.now && !told[got.id] {
					pe.Why = got.result
				}
				told[got.id] = true
				break
			}
		}
		if e.Same >= 0 {
			pe.Why = "twice"
		}
		rep.Entries = append(rep.Entries, pe)
	}
	return rep, nil
}
