package drafting

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting/check"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// pastKept is how many of a channel's last posts a new one is held against, of ours and of
// those that people wrote there.
const pastKept = 50

const pastPostsSQL = `
SELECT r.html
  FROM drafts d
  JOIN draft_revisions r ON r.draft_id = d.id AND r.revision = d.revision
 WHERE d.channel_id = $1
   AND d.id <> $2
   AND d.state IN ('published', 'scheduled', 'publishing', 'unconfirmed')
 ORDER BY d.id DESC
 LIMIT $3`

const channelPostsSQL = `
SELECT text
  FROM channel_posts
 WHERE channel_id = $1
 ORDER BY id DESC
 LIMIT $2`

// past returns the plain text of the channel's last posts: ours, sent or about to be, and what
// stood in the channel besides.
func past(ctx context.Context, q postgres.Querier, channelID, except int64) ([]string, error) {
	ours, err := texts(ctx, q, pastPostsSQL, channelID, except, pastKept)
	if err != nil {
		return nil, fmt.Errorf("read posts of channel %d: %w", channelID, err)
	}
	shown, err := texts(ctx, q, channelPostsSQL, channelID, pastKept)
	if err != nil {
		return nil, fmt.Errorf("read posts of channel %d: %w", channelID, err)
	}
	forwarded, err := texts(ctx, q, voiceForwardedSQL, channelID)
	if err != nil {
		return nil, fmt.Errorf("read posts of channel %d: %w", channelID, err)
	}
	return slices.Concat(plainOfAll(ours), shown, forwarded), nil
}

// texts reads rows of one text each.
func texts(ctx context.Context, q postgres.Querier, query string, args ...any) ([]string, error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// channelPostsKeepSQL keeps a post of a channel once; they come newest first.
const channelPostsKeepSQL = `
INSERT INTO channel_posts (channel_id, digest, text)
SELECT $1,
       sha256(convert_to(p.text, 'UTF8')),
       p.text
  FROM unnest($2::text[]) WITH ORDINALITY AS p (text, at)
 ORDER BY p.at DESC
    ON CONFLICT (channel_id, digest) DO NOTHING`

const channelPostsForgetSQL = `
DELETE FROM channel_posts
 WHERE channel_id = $1
   AND id NOT IN (
         SELECT id
           FROM channel_posts
          WHERE channel_id = $1
          ORDER BY id DESC
          LIMIT $2
       )`

// keepPosts remembers what stands on a channel's public page, so that a story which was told
// there is not proposed; the newest pastKept of them.
func keepPosts(ctx context.Context, tx pgx.Tx, channelID int64, shown []string) error {
	if len(shown) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, channelPostsKeepSQL, channelID, distinct(shown[:min(len(shown), pastKept)])); err != nil {
		return fmt.Errorf("keep posts of channel %d: %w", channelID, err)
	}
	if _, err := tx.Exec(ctx, channelPostsForgetSQL, channelID, pastKept); err != nil {
		return fmt.Errorf("forget posts of channel %d: %w", channelID, err)
	}
	return nil
}

// toldBefore reports whether the channel already has nearly this text, the draft's or the item's own, with the
// numbers of its title: "version 3.1" does not tell "version 3.2".
func toldBefore(ctx context.Context, tx pgx.Tx, m material, w written) (bool, error) {
	posts, err := past(ctx, tx, m.channelID, 0)
	if err != nil {
		return false, err
	}
	numbers := figures(m.item.Title)
	draft, item := plainOf(w.html), m.item.Title+"\n"+m.item.Text
	for _, p := range posts {
		if holds(p, numbers) && (check.Repeats(draft, p) || check.Repeats(item, p)) {
			return true, nil
		}
	}
	return false, nil
}

func figures(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsDigit(r) })
}

func holds(post string, numbers []string) bool {
	has := figures(post)
	for _, n := range numbers {
		if !slices.Contains(has, n) {
			return false
		}
	}
	return true
}

// createTold keeps the draft of a story that the channel already has as skipped, with the reason: nobody is
// told and no model is asked, but it can be seen, and taken back.
func (s *Service) createTold(ctx context.Context, tx pgx.Tx, n newDraft, w written) error {
	n.model, n.silent = false, true
	id, err := s.create(ctx, tx, n, w)
	if err != nil || id == 0 {
		return ignorePlan(err)
	}
	_, err = Transition(ctx, tx, Change{DraftID: id, To: editorial.Skipped, Skip: editorial.SkipDuplicate})
	return err
}
