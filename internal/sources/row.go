package sources

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/sources/address"
)

// row is a source as a poll needs it.
type row struct {
	id            int64
	address, url  string
	siteURL, host string
	kind          address.Kind
	title, lang   string
	state         string
	etag, lastMod string
	validatorsAt  *time.Time
	bodyHash      []byte
	interval      time.Duration
	nextPoll      time.Time
	failures      int
	failingSince  *time.Time
	toldAt        *time.Time
	movedTo       string
	keyVersion    int
	distrustIDs   bool
	distrustLinks bool
	newestPost    int64
	baselineAt    *time.Time
	oldest        *time.Time
	lastSuccess   *time.Time
	followed      bool
}

// sourceColumns are what scanRow scans.
const sourceColumns = `
       s.id,
       s.address,
       s.url,
       s.site_url,
       s.host,
       s.kind,
       s.title,
       s.language,
       s.state,
       s.etag,
       s.last_modified,
       s.validators_at,
       s.body_hash,
       s.interval_s,
       s.next_poll_at,
       s.failures,
       s.failing_since,
       s.told_at,
       s.moved_to,
       s.key_version,
       s.distrust_ids,
       s.distrust_links,
       s.newest_post,
       s.baseline_at,
       s.baseline_oldest,
       s.last_success_at,
       EXISTS (SELECT FROM subscriptions f WHERE f.source_id = s.id) AS followed`

const sourceColumnsSQL = `
SELECT` + sourceColumns + `
  FROM sources s`

const sourceFindSQL = sourceColumnsSQL + `
 WHERE s.id = $1`

// sourceLockSQL holds the row: whatever is recorded of a source is recorded
// one poll after another.
const sourceLockSQL = sourceColumnsSQL + `
 WHERE s.id = $1
   FOR NO KEY UPDATE OF s`

// sourceByAddressSQL finds a source by its address or an earlier one, and
// follows a merge.
const sourceByAddressSQL = sourceColumnsSQL + `
 WHERE s.id = (SELECT coalesce(o.merged_into, o.id)
                 FROM sources o
                WHERE o.address = $1
                   OR o.id = (SELECT a.source_id FROM source_aliases a WHERE a.address = $1)
                ORDER BY (o.address = $1) DESC
                LIMIT 1)`

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// ErrUnknown means that no such source is kept.
var ErrUnknown = errors.New("no such source")

func scanRow(r pgx.Row, more ...any) (*row, error) {
	var s row
	var seconds int
	err := r.Scan(append([]any{
		&s.id, &s.address, &s.url, &s.siteURL, &s.host, &s.kind, &s.title, &s.lang, &s.state, &s.etag, &s.lastMod,
		&s.validatorsAt, &s.bodyHash, &seconds, &s.nextPoll, &s.failures, &s.failingSince, &s.toldAt, &s.movedTo, &s.keyVersion,
		&s.distrustIDs, &s.distrustLinks, &s.newestPost, &s.baselineAt, &s.oldest, &s.lastSuccess, &s.followed,
	}, more...)...)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrUnknown
	}
	if err != nil {
		return nil, fmt.Errorf("read source: %w", err)
	}
	s.interval = time.Duration(seconds) * time.Second
	return &s, nil
}

// conditional are the validators to send: none when they are old, when the
// next document is a baseline, or when the rule that makes keys changed.
func (r *row) conditional(now time.Time, version int) (validators, []byte) {
	if r.baselineAt == nil || r.keyVersion != version || r.validatorsAt == nil || now.Sub(*r.validatorsAt) > validatorsLast {
		return validators{}, nil
	}
	return validators{r.etag, r.lastMod}, r.bodyHash
}
