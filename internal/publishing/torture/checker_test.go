package torture_test

import (
	"fmt"
	"strings"

	"github.com/postonce/postonce/internal/editorial"
)

// invariants are queries that must return no row, each with what a row means.
func invariants() map[string]string {
	return map[string]string{
		"a send, edit, deletion or card that the ledger takes for under way although nothing runs": `
SELECT effect_key FROM effects e WHERE state = 'intent' AND NOT EXISTS (SELECT FROM jobs j WHERE j.id = e.job_id)`,
		"a publication that nobody works on and nobody is told of": `
SELECT draft_id::text FROM publications WHERE state = 'sending'`,
		"a draft and its publication that disagree": `
SELECT d.id || ' ' || d.state || ' ' || p.state FROM drafts d JOIN publications p ON p.draft_id = d.id
 WHERE p.state <> d.state AND NOT (p.state = 'failed' AND d.state = 'scheduled')`,
		"a draft that is lost: no job, no word": draftsLostSQL,
		"a publication in doubt without its open row in the archive": `
SELECT p.draft_id::text FROM publications p WHERE p.state = 'unconfirmed' AND NOT EXISTS (
  SELECT FROM effects e JOIN job_archive a ON a.job_id = e.job_id
   WHERE e.effect_key = p.effect_key AND e.state = 'unknown' AND a.status = 'open' AND a.needs_reconcile)`,
		"a publication that the ledger knows otherwise": `
SELECT p.draft_id || ' ' || p.state || ' ' || e.state FROM publications p JOIN effects e ON e.effect_key = p.effect_key
 WHERE (p.state = 'published') <> (e.state = 'done')`,
		"an archived courtesy that waits for somebody": `
SELECT key FROM job_archive WHERE kind = 'card' AND reason = 'unconfirmed' AND (status = 'open' OR needs_reconcile)`,
		"a job in no place, or in two": `
SELECT k.kind || ' ' || k.key FROM job_keys k
 WHERE (SELECT count(*) FROM jobs WHERE id = k.job_id) + (SELECT count(*) FROM job_history WHERE id = k.job_id)
     + (SELECT count(*) FROM job_archive WHERE job_id = k.job_id) <> 1`,
	}
}

// draftsLostSQL finds drafts whose time no job waits for. The sweep brings them back: a publication whose worker
// was lost twice before it began leaves its draft like that for a moment.
const draftsLostSQL = `
SELECT d.id || ' ' || d.state FROM drafts d WHERE d.state IN ('scheduled', 'publishing')
   AND NOT EXISTS (SELECT FROM jobs WHERE kind = 'publish' AND key = d.id || ':' || d.transition)`

// check compares what the database says with what Telegram did.
func (r *rig) check() {
	r.t.Helper()
	for what, sql := range invariants() {
		if rows := r.lines(sql); len(rows) > 0 {
			r.t.Errorf("seed %d: %s: %d, e.g. %s", r.seed, what, len(rows), rows[0])
		}
	}
	did := r.world.applied()
	for text, n := range did.sends {
		if n > 1 {
			r.t.Errorf("seed %d: %q was sent %d times", r.seed, text, n)
		}
	}
	for text, n := range did.edits {
		if n > 1 {
			r.t.Errorf("seed %d: the edit %q was made %d times", r.seed, text, n)
		}
	}
	for post, n := range did.deletes {
		if n > 1 {
			r.t.Errorf("seed %d: %s was deleted %d times", r.seed, post, n)
		}
	}
	for _, d := range r.drafts {
		r.checkDraft(d, did)
	}
}

// checkDraft: what is published is there, under the id that is recorded, and
// what failed is not.
func (r *rig) checkDraft(d draft, did applied) {
	r.t.Helper()
	switch r.state(d) {
	case editorial.Published:
		if did.sends[d.text] != 1 {
			r.t.Errorf("seed %d: %q is published, and was sent %d times", r.seed, d.text, did.sends[d.text])
		}
		r.checkPost(d, did)
	case editorial.Failed:
		if did.sends[d.text] != 0 {
			r.t.Errorf("seed %d: %q failed, and is in the channel", r.seed, d.text)
		}
	}
}

func (r *rig) checkPost(d draft, did applied) {
	r.t.Helper()
	var id int64
	var edited, deleted bool
	row := r.stage.pool.QueryRow(r.t.Context(), `SELECT coalesce(message_id, 0), edited_at IS NOT NULL, deleted_at IS NOT NULL FROM publications WHERE draft_id = $1`, d.id)
	if err := row.Scan(&id, &edited, &deleted); err != nil {
		r.t.Error(err)
		return
	}
	if id == 0 {
		return // Telegram did not say, or a person did not
	}
	text, there := r.world.shown(d.chat)[id]
	touched := did.deletes[fmt.Sprintf("%d/%d", d.chat, id)] > 0
	switch {
	case deleted && there:
		r.t.Errorf("seed %d: %q is deleted, and is there", r.seed, d.text)
	case !there && !touched:
		r.t.Errorf("seed %d: %q is published as %d, which is not there", r.seed, d.text, id)
	case there && !strings.HasSuffix(text, d.text):
		r.t.Errorf("seed %d: %q is published as %d, which says %q", r.seed, d.text, id, text)
	case there && edited && text != "Edited "+d.text:
		r.t.Errorf("seed %d: %q is edited, and says %q", r.seed, d.text, text)
	}
}

// checkDecided: after a person's word each post is in its channel once, or
// failed with a reason, or waits for a person once more.
func (r *rig) checkDecided() {
	r.t.Helper()
	counts := map[editorial.DraftState]int{}
	for _, d := range r.drafts {
		counts[r.state(d)]++
	}
	if n := len(r.drafts); counts[editorial.Published]+counts[editorial.Failed]+counts[editorial.Unconfirmed] != n {
		r.t.Errorf("seed %d: of %d drafts %v", r.seed, n, counts)
	}
	if 2*counts[editorial.Published] < len(r.drafts) {
		r.t.Errorf("seed %d: only %d of %d came out: %v", r.seed, counts[editorial.Published], len(r.drafts), counts)
	}
}
