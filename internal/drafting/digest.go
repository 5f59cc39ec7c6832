package drafting

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting/render"
	"github.com/postonce/postonce/internal/editorial"
)

const digestStoriesSQL = `
SELECT st.title,
       i.url
  FROM scores sc
  JOIN stories st ON st.id = sc.story_id
  JOIN items i ON i.id = st.lead_item_id
 WHERE sc.channel_id = $1
   AND sc.scored_at >= $2
   AND sc.verdict IN ('proposed', 'rescued')
   -- what went out, has a slot, or was refused is no news any more
   AND NOT EXISTS (
         SELECT
           FROM drafts d
          WHERE d.channel_id = $1
            AND d.story_id = st.id
            AND d.state <> 'proposed'
            AND NOT (d.state = 'skipped' AND d.skip_reason = 'missed')
       )
 ORDER BY sc.score DESC,
          st.items DESC,
          st.id
 LIMIT $3`

// digestLength is how many stories a digest lists, digestLeast how few are not worth one.
const (
	digestLength = 8
	digestLeast  = 3
)

// DigestTx writes the digest of what was proposed to a channel since a time, under
// its date. False: it exists, or there is too little to tell.
func (s *Service) DigestTx(ctx context.Context, tx pgx.Tx, channelID int64, date, since time.Time) (bool, error) {
	m, err := readChannel(ctx, tx, channelID)
	if err != nil {
		return false, ignoreGone(err)
	}
	rows, err := tx.Query(ctx, digestStoriesSQL, channelID, since, digestLength)
	if err != nil {
		return false, fmt.Errorf("digest of channel %d: %w", channelID, err)
	}
	stories, err := pgx.CollectRows(rows, pgx.RowToStructByPos[render.Also])
	if err != nil || len(stories) < digestLeast {
		return false, err
	}
	id, err := s.create(ctx, tx, newDraft{
		channelID: channelID, kind: editorial.KindDigest, subject: "digest:" + date.Format(time.DateOnly),
	}, written{html: render.HTML(m.digest(stories)), composer: "digest"})
	return id != 0, ignorePlan(err)
}

func (m material) digest(stories []render.Also) []render.Node {
	nodes := []render.Node{render.Wrap(render.Bold, render.T(phrase(m.language, "digest"))), render.T("\n")}
	for _, s := range stories {
		name := render.Defuse(render.Line(s.Name))
		if r := []rune(name); len(r) > 160 {
			name = string(r[:159]) + "…"
		}
		nodes = append(nodes, render.T("\n• "), render.A(s.Link, render.T(name)))
	}
	if m.footer != "" {
		nodes = append(nodes, render.T("\n\n"))
		nodes = append(nodes, render.Footer(m.footer)...)
	}
	return nodes
}
