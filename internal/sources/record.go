package sources

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sources/address"
	"github.com/postonce/postonce/internal/sources/identity"
)

// The states of a source.
const (
	stateActive = "active"
	statePaused = "paused"
	stateGone   = "gone"
	stateMerged = "merged"
)

// record writes everything that follows from a poll, in the transaction that
// completes it: identities, items, the ledger's line, the next due time and
// the next job. The source's row is locked first: polls of one source are
// recorded one after another.
func (s *Service) record(ctx context.Context, tx pgx.Tx, id int64, out *outcome) error {
	src, err := scanRow(tx.QueryRow(ctx, sourceLockSQL, id))
	if err != nil {
		return fmt.Errorf("record poll of source %d: %w", id, err)
	}
	var fresh []int64
	if out.same {
		out.tally = tally{entries: len(out.doc.Entries), known: len(out.doc.Entries)}
	} else if out.doc != nil {
		if fresh, err = s.recordEntries(ctx, tx, src, out); err != nil {
			return fmt.Errorf("record entries of source %d: %w", id, err)
		}
	}
	up := s.update(src, out)
	if out.moved {
		merged, err := s.move(ctx, tx, src, out.url)
		if err != nil {
			return fmt.Errorf("move source %d: %w", id, err)
		}
		if merged {
			up.state = stateMerged
		}
	}
	if err := s.write(ctx, tx, src, out, up); err != nil {
		return fmt.Errorf("record poll of source %d: %w", id, err)
	}
	return s.children(ctx, tx, src, out, up, fresh)
}

// children hands on what the poll brought: the next poll, the new items, and
// news about the source's health.
func (s *Service) children(ctx context.Context, tx pgx.Tx, src *row, out *outcome, up update, fresh []int64) error {
	if up.state == stateActive {
		if _, err := s.poll.EnqueueTx(ctx, tx, pollArgs{src.id, out.nextAt.Unix()}, queue.RunAt(out.nextAt)); err != nil {
			return err
		}
	}
	if err := s.hand(ctx, tx, src, out, fresh); err != nil {
		return err
	}
	if out.tally.baseline > 0 && s.cfg.OnBaseline != nil {
		if err := s.cfg.OnBaseline(ctx, tx, src.id); err != nil {
			return err
		}
	}
	return s.trouble(ctx, tx, src, out, up)
}

// update is what a poll changes in its source.
type update struct {
	state         string
	etag, lastMod string
	validatorsAt  *time.Time
	bodyHash      []byte
	interval      time.Duration
	failures      int
	failingSince  *time.Time
	code, text    string
	toldAt        *time.Time
	movedTo       string
	keyVersion    int
	distrustIDs   bool
	distrustLinks bool
	newest        int64
	baselineAt    *time.Time
	oldest        *time.Time
	lastSuccess   *time.Time
	lastNew       bool
	title, lang   string
	siteURL       string
}

// update derives the new state of a source. Every exit path of a poll comes
// through here, so every one saves a next due time.
func (s *Service) update(src *row, out *outcome) update {
	up := update{
		state: src.state, etag: src.etag, lastMod: src.lastMod, validatorsAt: src.validatorsAt, bodyHash: src.bodyHash,
		interval: src.interval, failures: src.failures, failingSince: src.failingSince, toldAt: src.toldAt, movedTo: src.movedTo,
		keyVersion: src.keyVersion, distrustIDs: src.distrustIDs, distrustLinks: src.distrustLinks, newest: src.newestPost,
		baselineAt: src.baselineAt, oldest: src.oldest, lastSuccess: src.lastSuccess, title: src.title, lang: src.lang, siteURL: src.siteURL,
	}
	w := wish{floor: s.cfg.MinInterval, ceiling: s.cfg.MaxInterval}
	if out.problem != nil && !out.outage {
		s.failed(&up, src, out)
		w.failures, w.retryAfter = up.failures, out.problem.RetryAfter
	}
	if out.problem == nil {
		s.succeeded(&up, src, out)
	}
	if out.resp != nil && out.problem == nil {
		w.maxAge = fetch.MaxAge(out.resp.Header)
		if up.etag == "" && up.lastMod == "" && s.cfg.MinInterval >= 5*time.Minute {
			w.floor = max(w.floor, politeFloor)
		}
	}
	if out.doc != nil {
		s.learned(&up, src, out)
		w.ttl = out.doc.TTL
	}
	up.interval = min(max(up.interval, s.cfg.MinInterval), s.cfg.MaxInterval)
	w.interval = level(up.interval)
	out.nextAt = w.next(out.at, src.id)
	if out.outage {
		out.nextAt = ceilSecond(out.at.Add(time.Minute + time.Duration(phase(src.id)*float64(2*time.Minute))))
	}
	if !out.nextAt.After(src.nextPoll) { // due times never repeat: they are keys
		out.nextAt = ceilSecond(src.nextPoll.Add(time.Second))
	}
	return up
}

// failed counts a failure. A 410 ends the polls until somebody looks; nothing
// else does.
func (s *Service) failed(up *update, src *row, out *outcome) {
	up.failures++
	if up.failingSince == nil {
		at := out.at
		up.failingSince = &at
	}
	up.code, up.text = out.problem.Code, clipText(out.problem.Detail, 300)
	if out.problem.Code == CodeGone && src.movedTo == "" {
		up.state = stateGone
	}
	if out.problem.Status == http.StatusNotFound && src.movedTo != "" {
		up.movedTo = "" // its target is no better
	}
}

// succeeded forgets failures and keeps the server's validators, those of a 304
// too.
func (s *Service) succeeded(up *update, src *row, out *outcome) {
	at := out.at
	up.failures, up.failingSince, up.code, up.text, up.lastSuccess = 0, nil, "", "", &at
	up.movedTo = out.hint
	if out.resp == nil {
		return
	}
	h := out.resp.Header
	if out.unchanged {
		up.interval = src.interval * 9 / 8
	}
	if out.resp.Status == http.StatusNotModified {
		up.etag, up.lastMod = firstOf(clipHeader(h.Get("ETag")), src.etag), firstOf(clipHeader(h.Get("Last-Modified")), src.lastMod)
		return
	}
	up.etag, up.lastMod, up.validatorsAt = clipHeader(h.Get("ETag")), clipHeader(h.Get("Last-Modified")), &at
	if out.bodyHash != nil {
		up.bodyHash = out.bodyHash
	}
}

// learned takes over what a document says about its source.
func (s *Service) learned(up *update, src *row, out *outcome) {
	d := out.doc
	if d.Title != "" {
		up.title = d.Title
	}
	up.lang, up.siteURL = firstOf(clipText(d.Language, 35), up.lang), firstOf(d.Home, up.siteURL)
	up.keyVersion = identity.Version
	fresh := out.tally.fresh + out.tally.overCap
	up.lastNew = fresh+out.tally.baseline > 0
	up.interval = rhythm(d.Entries, fresh, src.interval, out.at)
	up.distrustIDs = src.distrustIDs
	up.distrustLinks = src.distrustLinks
	if out.src.baselineAt == nil || out.tally.baseline > 0 {
		at := out.at
		up.baselineAt = &at
		up.oldest = oldestOf(d.Entries)
	}
	if src.kind == address.Telegram {
		for i := range d.Entries {
			up.newest = max(up.newest, postNumber(&d.Entries[i]))
		}
	}
}

// clipHeader keeps a validator only if it can be kept and sent back whole.
func clipHeader(v string) string {
	if len(v) > 1000 || !utf8.ValidString(v) {
		return ""
	}
	return v
}

func clipText(s string, n int) string {
	s = fetchableText(strings.ToValidUTF8(s, "\uFFFD"))
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}
