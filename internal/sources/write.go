package sources

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/article"
	"github.com/postonce/postonce/internal/sources/decode"
	"github.com/postonce/postonce/internal/sources/preview"
)

// pollWriteSQL saves the source, the ledger's line and the host's rest in one
// statement: a poll of an unchanged source costs one write.
const pollWriteSQL = `
WITH line AS (
  INSERT INTO polls (source_id, at, result, status, entries, known, new, baseline, edited, old, over_cap, bytes, millis, note)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
), host AS (
  UPDATE hosts
     SET busy_until = '-infinity',
         rests_until = clock_timestamp() + $15::interval
   WHERE host = $16
     AND holder = $17
)
UPDATE sources
   SET state = $18,
       etag = $19,
       last_modified = $20,
       validators_at = $21,
       body_hash = $22,
       interval_s = $23,
       next_poll_at = $24,
       failures = $25,
       failing_since = $26,
       error_code = $27,
       error_text = $28,
       moved_to = $29,
       key_version = $30,
       distrust_ids = $31,
       distrust_links = $32,
       newest_post = $33,
       baseline_at = $34,
       baseline_oldest = $35,
       last_poll_at = $2,
       last_success_at = $36,
       last_new_at = CASE WHEN $37::boolean THEN $2 ELSE last_new_at END,
       title = CASE WHEN $38 = '' THEN title ELSE $38 END,
       language = $39,
       site_url = $40,
       told_at = $41
 WHERE id = $1`

func (s *Service) write(ctx context.Context, tx pgx.Tx, src *row, out *outcome, up update) error {
	status, size := out.answered()
	if up.state == stateMerged {
		return s.mergedLine(ctx, tx, src, out) // move set the state, with the target
	}
	up.toldAt = s.told(src, out, up)
	t := out.tally
	_, err := tx.Exec(ctx, pollWriteSQL,
		src.id, out.at, out.result(), status, t.entries, t.known, t.fresh, t.baseline, t.edited, t.old, t.overCap, size, out.millis, out.note(),
		max(out.rest, s.gap(src.host)), src.host, s.holderOf(src.id),
		up.state, up.etag, up.lastMod, up.validatorsAt, up.bodyHash, int(up.interval/time.Second), out.nextAt,
		up.failures, up.failingSince, up.code, up.text, up.movedTo, up.keyVersion, up.distrustIDs, up.distrustLinks, up.newest,
		up.baselineAt, up.oldest, up.lastSuccess, up.lastNew, up.title, up.lang, up.siteURL, up.toldAt)
	return err
}

// answered is the answer's status and size, as far as there was one.
func (o *outcome) answered() (status, size int) {
	switch {
	case o.resp != nil:
		return o.resp.Status, len(o.resp.Body)
	case o.problem != nil:
		return o.problem.Status, 0
	}
	return 0, 0
}

const mergedLineSQL = `
WITH host AS (
  UPDATE hosts
     SET busy_until = '-infinity',
         rests_until = clock_timestamp() + $4::interval
   WHERE host = $5
     AND holder = $6
)
INSERT INTO polls (source_id, at, result, note)
VALUES ($1, $2, 'merged', $3)`

func (s *Service) mergedLine(ctx context.Context, tx pgx.Tx, src *row, out *outcome) error {
	_, err := tx.Exec(ctx, mergedLineSQL, src.id, out.at, "moved to an address that is followed already", s.gap(src.host), src.host, s.holderOf(src.id))
	return err
}

// Trouble is told once, after a day and five failures, and once when it is over.
const (
	troubleAfter    = 24 * time.Hour
	troubleFailures = 5
)

// told is when the followers heard of the present trouble, as it will stand.
func (s *Service) told(src *row, out *outcome, up update) *time.Time {
	switch {
	case out.outage || out.unchanged && up.failures == 0 && src.toldAt == nil:
		return src.toldAt
	case up.failures == 0:
		return nil
	case src.toldAt != nil:
		return src.toldAt
	case s.troubled(out, up):
		at := out.at
		return &at
	}
	return nil
}

func (s *Service) troubled(out *outcome, up update) bool {
	return up.state == stateGone || up.failures >= troubleFailures && up.failingSince != nil && out.at.Sub(*up.failingSince) >= troubleAfter
}

func (s *Service) trouble(ctx context.Context, tx pgx.Tx, src *row, out *outcome, up update) error {
	if s.cfg.OnTrouble == nil || out.outage {
		return nil
	}
	switch {
	case src.toldAt == nil && up.failures > 0 && s.troubled(out, up):
		return s.cfg.OnTrouble(ctx, tx, Trouble{SourceID: src.id, Code: up.code, Detail: up.text, Since: *up.failingSince})
	case src.toldAt != nil && up.failures == 0:
		return s.cfg.OnTrouble(ctx, tx, Trouble{SourceID: src.id, Recovered: true, Since: out.at})
	}
	return nil
}

func oldestOf(entries []decode.Entry) *time.Time {
	var oldest *time.Time
	for i := range entries {
		if p := entries[i].Published; !p.IsZero() && (oldest == nil || p.Before(*oldest)) {
			oldest = &p
		}
	}
	return oldest
}

func postNumber(e *decode.Entry) int64 { return int64(preview.Number(e)) }

// fetchableText takes what a database column takes.
func fetchableText(s string) string { return strings.TrimSpace(article.Visible(s)) }
