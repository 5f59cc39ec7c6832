package sources

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/fetch"
)

// Health is how a source is, for lists. Text names the mend in English; the
// code is for the catalogues.
type Health struct {
	ID           int64
	Address      string // redacted
	URL          string // redacted
	SiteURL      string
	Kind         string
	Title        string
	Language     string
	State        string
	Code         string // empty: healthy
	Text         string
	FailingSince time.Time
	LastNewAt    time.Time
	LastPollAt   time.Time
	NextPollAt   time.Time
	Items7d      int // of the newest 1,000 it ever had
}

// A source's week is counted among its newest 1,000 items, which the index gives:
// what one source brought in years is not read for a number in a list.
const healthSQL = `
SELECT s.id,
       s.address,
       s.url,
       s.site_url,
       s.kind,
       s.title,
       s.language,
       s.state,
       s.error_code,
       s.failing_since,
       s.last_new_at,
       s.last_poll_at,
       s.next_poll_at,
       (SELECT count(*)
          FROM (SELECT i.first_seen_at FROM items i WHERE i.source_id = s.id ORDER BY i.id DESC LIMIT 1000) newest
         WHERE newest.first_seen_at > now() - interval '7 days')
  FROM sources s
 WHERE s.id = ANY ($1::bigint[])
 ORDER BY s.id`

// HealthOf reports on sources, in the order of their numbers.
func (s *Service) HealthOf(ctx context.Context, q querier, ids []int64) ([]Health, error) {
	rows, err := q.Query(ctx, healthSQL, ids)
	if err != nil {
		return nil, fmt.Errorf("health of sources: %w", err)
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (Health, error) {
		var h Health
		var since, newAt, polled *time.Time
		err := r.Scan(&h.ID, &h.Address, &h.URL, &h.SiteURL, &h.Kind, &h.Title, &h.Language, &h.State, &h.Code, &since, &newAt, &polled, &h.NextPollAt, &h.Items7d)
		h.FailingSince, h.LastNewAt, h.LastPollAt = orZero(since), orZero(newAt), orZero(polled)
		h.URL, h.Address = fetch.Redact(h.URL), strings.TrimPrefix(fetch.Redact("//"+h.Address), "//")
		if h.Code != "" {
			h.Text = (&Problem{Code: h.Code}).Sentence()
		}
		return h, err
	})
}

const sickSQL = `
SELECT id
  FROM sources
 WHERE id = ANY ($1::bigint[])
   AND error_code <> ''`

// Sick are those of the sources that could not be read at their last poll.
func (s *Service) Sick(ctx context.Context, q querier, ids []int64) ([]int64, error) {
	rows, err := q.Query(ctx, sickSQL, ids)
	if err != nil {
		return nil, fmt.Errorf("sick sources: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// Line is one poll in the ledger.
type Line struct {
	At     time.Time
	Result string
	Note   string
}

const linesSQL = `
SELECT at,
       result,
       note
  FROM polls
 WHERE source_id = $1
 ORDER BY at DESC
 LIMIT $2`

// Lines are the last polls of a source, newest first.
func (s *Service) Lines(ctx context.Context, q querier, id int64, n int) ([]Line, error) {
	rows, err := q.Query(ctx, linesSQL, id, n)
	if err != nil {
		return nil, fmt.Errorf("ledger of source %d: %w", id, err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Line])
}
