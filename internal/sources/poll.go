package sources

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/fetch"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/sources/address"
	"github.com/postonce/postonce/internal/sources/decode"
	"github.com/postonce/postonce/internal/sources/identity"
)

// pollArgs is one due poll of a source. Due is in unix seconds and equals the
// source's next_poll_at; a job whose source was rescheduled meanwhile does
// nothing, so that a source never has two chains of polls.
type pollArgs struct {
	SourceID int64 `json:"source_id"`
	Due      int64 `json:"due"`
}

// workPoll polls one source: the request without a transaction, then
// everything that follows from it in the one that completes the job.
func (s *Service) workPoll(ctx context.Context, job *queue.Job[pollArgs]) error {
	got := s.load(job.Args)
	if errors.Is(got.err, ErrUnknown) {
		return nil
	}
	if got.err != nil {
		return got.err
	}
	src := got.src
	if src.state != stateActive || src.nextPoll.Unix() > job.Args.Due {
		return nil
	}
	if !src.followed && !s.cfg.PollUnfollowed {
		return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.setState(ctx, tx, src.id, statePaused) })
	}
	if !got.claimed {
		return queue.Later(got.wait, "one request a host at a time")
	}
	out := s.ask(ctx, src)
	if err := s.finish(ctx, job, out); err != nil {
		s.releaseHost(ctx, src.host, src.id, 0)
		return err
	}
	s.tell(out)
	return nil
}

// finish records a poll and completes its job: together with others when it
// changed nothing, else by itself.
func (s *Service) finish(ctx context.Context, job *queue.Job[pollArgs], out *outcome) error {
	if out.same {
		out.tally = tally{entries: len(out.doc.Entries), known: len(out.doc.Entries)}
	}
	if up := s.update(out.src, out); isQuiet(out, up) {
		err := s.recordQuietly(job, out, up)
		if settled(err) {
			return err
		}
		s.log.Warn().Err(err).Int64("source_id", out.src.id).Msg("poll not recorded with others; recording it alone")
	}
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.record(ctx, tx, out.src.id, out) })
}

// outcome is what one poll brought, before it is recorded.
type outcome struct {
	src       *row // as it was when it was asked
	at        time.Time
	resp      *fetch.Response // nil: no answer
	doc       *decode.Document
	unchanged bool
	problem   *Problem // the poll failed, or its document is incomplete
	bodyHash  []byte   // 16 bytes of the body's digest, and 16 of its entries'
	same      bool     // the entries are those of the last document, word for word
	url       string   // the address that answered
	moved     bool     // a permanent redirect is confirmed: url is the new address
	hint      string   // a permanent redirect was seen for the first time
	ids       []identity.Entry
	outage    bool

	tally  tally
	millis int
	rest   time.Duration // how long the host rests
	nextAt time.Time
}

// tally counts the entries of a poll, for the ledger.
type tally struct {
	entries, known, fresh, baseline, old, overCap, edited, twins, nameless int
}

// ask makes the request and reads the answer. It never fails: a failure is an
// outcome.
func (s *Service) ask(ctx context.Context, src *row) *outcome {
	out := &outcome{src: src, at: s.now(), url: src.url}
	v, hash := src.conditional(out.at, identity.Version)
	start := time.Now()
	rd, err := s.reader.readUnlessSame(ctx, src.kind, src.url, v, int(src.newestPost), hash)
	if err != nil && src.movedTo != "" && movable(problemOf(err)) {
		// The old address died after it had shown where it moved to.
		if again, err2 := s.reader.readUnlessSame(ctx, src.kind, src.movedTo, validators{}, int(src.newestPost), nil); err2 == nil && again.doc != nil {
			rd, err = again, nil
			out.moved, out.url = true, src.movedTo
		}
	}
	out.millis = int(time.Since(start).Milliseconds())
	if rd != nil {
		out.resp, out.doc, out.unchanged, out.problem = rd.resp, rd.doc, rd.unchanged, rd.partial
	}
	if err != nil {
		out.problem, out.doc = problemOf(err), nil
	}
	s.settle(out)
	return out
}

// movable reports whether a failure may mean that the old address is gone.
func movable(p *Problem) bool {
	return p.Code == CodeNotFound || p.Code == CodeGone || p.Status == 0
}

// settle derives what recording needs, outside of any transaction.
func (s *Service) settle(out *outcome) {
	if out.resp != nil && len(out.resp.Body) > 0 && out.doc != nil && !out.resp.Cut {
		body, entries := sha256.Sum256(out.resp.Body), entriesHash(out.doc)
		out.bodyHash = append(body[:16:16], entries...)
		out.same = out.src.baselineAt != nil && out.src.keyVersion == identity.Version && len(out.src.bodyHash) == 32 &&
			bytes.Equal(entries, out.src.bodyHash[16:]) && !s.longSilent(out)
	}
	if out.doc != nil && !out.same {
		out.ids = identity.Of(out.doc, identityOptions(out, out.src.distrustIDs))
	}
	s.noticeMove(out)
	local := out.problem != nil && out.problem.Local
	out.outage = s.outage.saw(out.src.host, local, out.at)
	if out.problem != nil && out.problem.Code == CodeRateLimited {
		out.rest = min(max(out.problem.RetryAfter, time.Minute), time.Hour)
	}
}

// longSilent reports whether the source was not read for so long that its
// next document is a start.
func (s *Service) longSilent(out *outcome) bool {
	return out.src.lastSuccess == nil || out.at.Sub(*out.src.lastSuccess) > longOutage
}

// entriesHash tells whether anything about the entries of a document changed:
// most feeds change their build date at every request and nothing else, and some
// the order of their entries.
func entriesHash(d *decode.Document) []byte {
	h := sha256.New()
	var size [4]byte
	each := make([][sha256.Size]byte, len(d.Entries))
	for i := range d.Entries {
		e := &d.Entries[i]
		h.Reset()
		for _, part := range [...]string{e.ID, e.Link, e.Origin, e.Title, e.Body, e.RawDate, e.Image, e.Platform} {
			binary.LittleEndian.PutUint32(size[:], uint32(len(part)))
			_, _ = h.Write(size[:])
			_, _ = io.WriteString(h, part)
		}
		h.Sum(each[i][:0])
	}
	slices.SortFunc(each, func(a, b [sha256.Size]byte) int { return bytes.Compare(a[:], b[:]) })
	h.Reset()
	for i := range each {
		_, _ = h.Write(each[i][:])
	}
	return h.Sum(nil)[:16]
}

// noticeMove follows permanent redirects: the address changes when a chain of
// 301 and 308 ended in a readable document twice, with the same target.
func (s *Service) noticeMove(out *outcome) {
	if out.moved || out.resp == nil || out.src.kind == address.Telegram || out.problem != nil {
		return
	}
	if !out.resp.Permanent || out.resp.FinalURL == out.src.url { // to itself: with a cookie
		return
	}
	if out.resp.FinalURL == out.src.movedTo {
		out.moved, out.url = true, out.resp.FinalURL
		return
	}
	out.hint = out.resp.FinalURL
}

// readUnlessSame is read that leaves a body alone whose digest is known.
func (r *Reader) readUnlessSame(ctx context.Context, kind address.Kind, url string, v validators, newest int, hash []byte) (*reading, error) {
	if hash == nil || kind == address.Telegram || kind == address.Site {
		return r.read(ctx, kind, url, v, newest)
	}
	return r.readHashed(ctx, kind, url, v, hash)
}

// sameBody reports whether an answer is byte for byte the last one.
func sameBody(resp *fetch.Response, hash []byte) bool {
	if resp.Cut || len(hash) == 0 {
		return false
	}
	sum := sha256.Sum256(resp.Body)
	return bytes.Equal(sum[:16], hash[:min(len(hash), 16)])
}

// tell counts a recorded poll.
func (s *Service) tell(out *outcome) {
	if s.cfg.OnPoll == nil {
		return
	}
	s.cfg.OnPoll(out.result(), map[string]int{"known": out.tally.known, "new": out.tally.fresh + out.tally.baseline + out.tally.old + out.tally.overCap})
}

// result is the word for the poll in the ledger and in metrics.
func (o *outcome) result() string {
	switch {
	case o.problem != nil:
		return o.problem.Code
	case o.unchanged:
		return "unchanged"
	}
	return "ok"
}

// note is the poll's line for people.
func (o *outcome) note() string {
	t := o.tally
	switch {
	case o.outage:
		return "our own network seems to be down: not counted"
	case o.problem != nil && o.doc == nil:
		return o.problem.Sentence()
	case o.unchanged:
		return "nothing changed"
	}
	n := fmt.Sprintf("%d entries: %d known, %d new", t.entries, t.known, t.fresh)
	for _, part := range []struct {
		n    int
		what string
	}{
		{t.baseline, "recorded as the start"},
		{t.old, "older than the start"},
		{t.overCap, "over the cap"},
		{t.edited, "edited"},
		{t.twins, "twice in the document"},
		{t.nameless, "without any identity"},
	} {
		if part.n > 0 {
			n += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	if o.problem != nil {
		n += "; the end of the document is missing"
	}
	return n
}

// identityOptions are what is known about the source whose entries are named.
func identityOptions(out *outcome, distrustIDs bool) identity.Options {
	return identity.Options{Home: firstOf(out.doc.Home, out.src.siteURL), Address: out.url, DistrustIDs: distrustIDs}
}
