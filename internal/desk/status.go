package desk

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
)

// channelJobsSQL are the live and the archived jobs of a channel: their keys
// begin with the draft's number or with the channel's, by kind.
const channelJobsSQL = `
SELECT j.id,
       j.kind,
       j.key,
       j.state,
       j.run_at,
       coalesce(j.claimed_at, j.enqueued_at),
       j.failures::int,
       coalesce(j.last_error, '')
  FROM jobs j
 WHERE j.kind = ANY($3) AND split_part(j.key, ':', 1) = $1::bigint::text
    OR j.kind = ANY($4) AND split_part(j.key, ':', 1) IN (SELECT d.id::text FROM drafts d WHERE d.channel_id = $1 AND d.state = ANY($2))
   -- a slot that was left or an undone decision: its job finds that out and does nothing
   AND (j.state = 'leased' OR j.kind NOT IN ('publish', 'autopilot') OR j.key IN (SELECT d.id || ':' || d.transition FROM drafts d WHERE d.channel_id = $1 AND d.state IN ('proposed', 'scheduled')))
 UNION ALL
SELECT a.job_id,
       a.kind,
       a.key,
       a.reason,
       NULL,
       a.archived_at,
       a.failures::int,
       coalesce(a.last_error, '')
  FROM job_archive a
 WHERE a.status = 'open'
   AND (a.kind = ANY($3) AND split_part(a.key, ':', 1) = $1::bigint::text
    OR a.kind = ANY($4) AND split_part(a.key, ':', 1) IN (SELECT d.id::text FROM drafts d WHERE d.channel_id = $1))
 ORDER BY 1 DESC
 LIMIT 100`

// Kinds of jobs by what their key begins with.
func channelKinds() []string { return []string{"score", "draft", "own", "import"} }

func draftKinds() []string {
	return []string{"publish", "post_edit", "post_delete", "compose", "autopilot"}
}

// StatusKinds are the kinds of jobs that Status shows; the chat and the page have a name for each.
func StatusKinds() []string { return slices.Concat(channelKinds(), draftKinds()) }

// jobs are those of a channel that are not done, the newest first.
func (d *Desk) jobs(ctx context.Context, channelID int64) ([]JobView, error) {
	open := []editorial.DraftState{
		editorial.Proposed, editorial.Scheduled, editorial.Publishing, editorial.Published, editorial.Failed, editorial.Unconfirmed,
	}
	rows, err := d.pool.Query(ctx, channelJobsSQL, channelID, open, channelKinds(), draftKinds())
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (JobView, error) {
		var j JobView
		var runAt *time.Time
		err := row.Scan(&j.ID, &j.Kind, &j.Key, &j.State, &runAt, &j.Since, &j.Failures, &j.Error)
		j.RunAt = deref(runAt)
		if slices.Contains(draftKinds(), j.Kind) {
			first, _, _ := strings.Cut(j.Key, ":")
			j.DraftID, _ = strconv.ParseInt(first, 10, 64) // a key of another form is nobody's draft
		}
		return j, err
	})
}

const statusCountsSQL = `
SELECT count(*) FILTER (WHERE state = 'proposed'),
       count(*) FILTER (WHERE state = 'scheduled'),
       min(slot_at) FILTER (WHERE state = 'scheduled'),
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE state = 'unconfirmed'), '{}'),
       coalesce(array_agg(id ORDER BY id DESC) FILTER (WHERE state = 'failed'), '{}')
  FROM drafts
 WHERE channel_id = $1
   AND state IN ('proposed', 'scheduled', 'failed', 'unconfirmed')`

// Status says what is pending, running, failing and in doubt in a channel, with
// job numbers that support can trace. For members.
func (d *Desk) Status(ctx context.Context, by, channelID int64) (StatusView, error) {
	ch, role, err := d.channel(ctx, d.pool, by, channelID, editorial.Viewer)
	if err != nil {
		return StatusView{}, err
	}
	v := StatusView{Channel: brief(ch)}
	var next *time.Time
	var doubts, failed []int64
	if err := d.pool.QueryRow(ctx, statusCountsSQL, channelID).Scan(&v.Proposed, &v.Scheduled, &next, &doubts, &failed); err != nil {
		return v, err
	}
	v.Next = deref(next)
	if v.Unconfirmed, err = d.views(ctx, d.pool, by, ch, role, doubts); err != nil {
		return v, err
	}
	if v.Failed, err = d.views(ctx, d.pool, by, ch, role, failed[:min(len(failed), mostDrafts)]); err != nil {
		return v, err
	}
	jobs, err := d.jobs(ctx, channelID)
	if err != nil {
		return v, err
	}
	for _, j := range jobs {
		switch {
		case j.State == "leased":
			v.Running = append(v.Running, j)
		case j.State == "ready" && j.Failures > 0:
			v.Failing = append(v.Failing, j)
		case j.State == "ready":
			v.Pending = append(v.Pending, j)
		default:
			v.Archived = append(v.Archived, j)
		}
	}
	v.Sick, v.Sources, err = d.sickSources(ctx, channelID)
	return v, err
}
