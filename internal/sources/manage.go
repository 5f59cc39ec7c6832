package sources

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sources/address"
	"github.com/postonce/postonce/internal/sources/identity"
)

const sourceInsertSQL = `
INSERT INTO sources (address, url, site_url, host, kind, title, language, state, next_poll_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ON CONFLICT (address) DO NOTHING
RETURNING id`

const sourceStateSQL = `
UPDATE sources
   SET state = $2
 WHERE id = $1
   AND state <> 'merged'`

// sourceWakeSQL starts the polls of a sleeping source again; what it shows then
// is a baseline.
const sourceWakeSQL = `
UPDATE sources
   SET state = 'active',
       baseline_at = NULL,
       failures = 0,
       failing_since = NULL,
       error_code = '',
       error_text = '',
       told_at = NULL,
       next_poll_at = $2
 WHERE id = $1
   AND state IN ('paused', 'gone')
RETURNING id`

const sourceDueSQL = `
UPDATE sources
   SET next_poll_at = $2
 WHERE id = $1
   AND state = 'active'
RETURNING id`

// Added is a source that a channel may now follow.
type Added struct {
	ID      int64
	Kind    address.Kind
	Title   string
	Existed bool // it was followed before, by anybody
	Items   int  // entries recorded with it
}

// Add keeps what Look found as a source, and records the document that Look
// read as its baseline: a source is asked once when it is added. One that is
// known already, under this or an earlier address, is found; a sleeping one
// wakes with a new baseline. Subscribe the channel in the same transaction.
func (s *Service) Add(ctx context.Context, tx pgx.Tx, f *Found) (Added, error) {
	if f.Address == "" || f.Kind == OPML {
		return Added{}, &Problem{Code: CodeNothing}
	}
	a := Added{Kind: f.Kind, Title: f.Title}
	src, err := scanRow(tx.QueryRow(ctx, sourceByAddressSQL, f.Address))
	if errors.Is(err, ErrUnknown) {
		src, err = s.insert(ctx, tx, f)
	} else if err == nil {
		a.Existed = true
	}
	if err != nil {
		return a, fmt.Errorf("add source: %w", err)
	}
	a.ID, a.Title = src.id, firstOf(src.title, f.Title)
	if a.Existed && src.state == stateActive && src.baselineAt != nil {
		return a, nil
	}
	if src.state != stateActive {
		if err := s.setState(ctx, tx, src.id, stateActive); err != nil {
			return a, err
		}
		src.state, src.baselineAt, src.failures, src.failingSince, src.toldAt = stateActive, nil, 0, nil, nil
	}
	if f.Doc == nil {
		return a, s.pollAt(ctx, tx, src.id, s.now())
	}
	out := &outcome{src: src, at: s.now(), resp: f.resp, doc: f.Doc, url: src.url}
	if f.Doc.Cut || f.resp != nil && f.resp.Cut {
		out.problem = &Problem{Code: CodeCutBody}
	}
	s.settle(out)
	out.moved, out.hint = false, ""
	if err := s.recordFirst(ctx, tx, src, out); err != nil {
		return a, fmt.Errorf("add source: %w", err)
	}
	a.Items = out.tally.baseline
	return a, nil
}

func (s *Service) recordFirst(ctx context.Context, tx pgx.Tx, src *row, out *outcome) error {
	src.baselineAt = nil
	if _, err := s.recordEntries(ctx, tx, src, out); err != nil {
		return err
	}
	up := s.update(src, out)
	if err := s.write(ctx, tx, src, out, up); err != nil {
		return err
	}
	return s.children(ctx, tx, src, out, up, nil)
}

// insert creates the row; a row that appeared meanwhile is taken.
func (s *Service) insert(ctx context.Context, tx pgx.Tx, f *Found) (*row, error) {
	var id int64
	err := tx.QueryRow(ctx, sourceInsertSQL, f.Address, f.URL, f.SiteURL, identity.HostOf(f.URL), string(f.Kind), f.Title, f.Language, stateActive, s.now().Add(-time.Second)).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return scanRow(tx.QueryRow(ctx, sourceByAddressSQL, f.Address))
	}
	if err != nil {
		return nil, err
	}
	return scanRow(tx.QueryRow(ctx, sourceFindSQL, id))
}

// AddAddress keeps a feed's address without reading it first, for imports; its
// first poll comes soon.
func (s *Service) AddAddress(ctx context.Context, tx pgx.Tx, raw, title string) (Added, error) {
	t, err := address.Parse(raw, s.reader.preview)
	if err != nil {
		return Added{}, problemOf(err)
	}
	if t.Page {
		return Added{}, &Problem{Code: CodeNoFeed}
	}
	return s.Add(ctx, tx, &Found{Address: t.Key(), URL: t.URL, SiteURL: t.Site, Kind: t.Kind, Title: title})
}

// pollAt makes a poll due at a time and replaces the one that was.
func (s *Service) pollAt(ctx context.Context, tx pgx.Tx, id int64, at time.Time) error {
	for range 120 { // a due time that was used before is no new job
		at = ceilSecond(at)
		sub, err := s.poll.EnqueueTx(ctx, tx, pollArgs{id, at.Unix()}, queue.RunAt(at))
		if err != nil {
			return err
		}
		if sub.Fresh {
			_, err = tx.Exec(ctx, sourceDueSQL, id, at)
			return err
		}
		at = at.Add(time.Second)
	}
	return fmt.Errorf("source %d: no free due time", id)
}

// PollSoon polls a source now, whatever its schedule says, within the
// politeness of its host. False: it is not polled at all.
func (s *Service) PollSoon(ctx context.Context, tx pgx.Tx, id int64) (bool, error) {
	src, err := scanRow(tx.QueryRow(ctx, sourceLockSQL, id))
	if err != nil {
		return false, err
	}
	if src.state == stateGone || src.state == statePaused {
		return true, s.Resume(ctx, tx, id)
	}
	if src.state != stateActive {
		return false, nil
	}
	return true, s.pollAt(ctx, tx, id, s.now())
}

// Pause stops the polls of a source for all that follow it. Channels pause
// their own subscription instead.
func (s *Service) Pause(ctx context.Context, tx pgx.Tx, id int64) error {
	return s.setState(ctx, tx, id, statePaused)
}

// Resume starts the polls again. What was published meanwhile is recorded as
// a baseline, not proposed.
func (s *Service) Resume(ctx context.Context, tx pgx.Tx, id int64) error {
	at := s.now()
	var woken int64
	err := tx.QueryRow(ctx, sourceWakeSQL, id, at).Scan(&woken)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // it never slept
	}
	if err != nil {
		return fmt.Errorf("resume source %d: %w", id, err)
	}
	return s.pollAt(ctx, tx, id, at)
}

func (s *Service) setState(ctx context.Context, tx pgx.Tx, id int64, state string) error {
	if _, err := tx.Exec(ctx, sourceStateSQL, id, state); err != nil {
		return fmt.Errorf("set source %d %s: %w", id, state, err)
	}
	return nil
}
