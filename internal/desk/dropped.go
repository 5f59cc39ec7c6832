package desk

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/planning"
)

const droppedSQL = `
SELECT v.story_id,
       coalesce(i.title, t.title),
       coalesce(i.url, ''),
       coalesce(s.title, ''),
       v.score,
       v.verdict,
       v.reasons,
       v.scored_at,
       coalesce((SELECT d.id FROM drafts d WHERE d.channel_id = v.channel_id AND d.story_id = v.story_id ORDER BY d.id DESC LIMIT 1), 0)
  FROM scores v
  JOIN stories t ON t.id = v.story_id
  LEFT JOIN items i ON i.id = t.lead_item_id
  LEFT JOIN sources s ON s.id = v.source_id
 WHERE v.channel_id = $1
   AND v.verdict IN ('below', 'ruled_out', 'baseline', 'rescued')
   AND v.scored_at >= $2
   AND v.scored_at < $3
 ORDER BY v.score DESC,
       v.story_id DESC
 LIMIT 100`

// Dropped lists what scored too low on a local day of the channel (YYYY-MM-DD;
// empty: today), the nearest misses first, at most 100. For members.
func (d *Desk) Dropped(ctx context.Context, by, channelID int64, day string) ([]DroppedView, error) {
	ch, _, err := d.channel(ctx, d.pool, by, channelID, editorial.Viewer)
	if err != nil {
		return nil, err
	}
	cal, err := planning.CalendarOf(ch)
	if err != nil {
		return nil, err
	}
	at := d.now()
	if day != "" {
		if at, err = time.ParseInLocation(time.DateOnly+" 15", day+" 12", cal.Zone); err != nil {
			return nil, &Error{Code: CodeSetting, Args: map[string]any{"field": "day", "value": day}, Cause: err}
		}
	}
	from := cal.Midnight(at)
	rows, err := d.pool.Query(ctx, droppedSQL, channelID, from, cal.Midnight(from.Add(36*time.Hour)))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(r pgx.CollectableRow) (v DroppedView, err error) {
		err = r.Scan(&v.StoryID, &v.Title, &v.URL, &v.Source, &v.Score, &v.Verdict, &v.Reasons, &v.At, &v.DraftID)
		return v, err
	})
}
