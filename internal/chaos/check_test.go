package chaos_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/sandbox/play"
)

// invariants are questions whose answer must be no row; each says what a row
// would mean.
func invariants() map[string]string {
	return map[string]string{
		"a draft has two publications": `
SELECT draft_id::text FROM publications GROUP BY draft_id HAVING count(*) > 1`,
		"two drafts of one story in one channel": `
SELECT channel_id || ':' || story_id FROM drafts WHERE kind = 'post' GROUP BY channel_id, story_id HAVING count(*) > 1`,
		"two drafts hold one slot": `
SELECT channel_id || ' ' || at FROM slots GROUP BY channel_id, at HAVING count(*) > 1`,
		"one canonical link is two items of a source": `
SELECT source_id || ' ' || canonical FROM items WHERE canonical <> '' GROUP BY source_id, canonical HAVING count(*) > 1`,
		"a job is in no state, or in two": `
SELECT k.kind || ' ' || k.key
  FROM job_keys AS k
  LEFT JOIN (SELECT id, count(*) AS n FROM jobs GROUP BY id) AS live ON live.id = k.job_id
  LEFT JOIN (SELECT id, count(*) AS n FROM job_history GROUP BY id) AS ended ON ended.id = k.job_id
  LEFT JOIN (SELECT job_id AS id, count(*) AS n FROM job_archive GROUP BY job_id) AS kept ON kept.id = k.job_id
 WHERE coalesce(live.n, 0) + coalesce(ended.n, 0) + coalesce(kept.n, 0) <> 1`,
		"a job was completed twice": `
SELECT id::text FROM job_history GROUP BY id HAVING count(*) > 1`,
		"a published draft has no post": `
SELECT d.id::text FROM drafts d LEFT JOIN publications p ON p.draft_id = d.id
 WHERE d.state = 'published' AND (p.id IS NULL OR p.state <> 'published' OR p.message_id IS NULL)`,
		"a publication is in doubt and its draft is not": `
SELECT p.id::text FROM publications p JOIN drafts d ON d.id = p.draft_id
 WHERE p.state = 'unconfirmed' AND d.state <> 'unconfirmed'`,
		"a strict doubt is in no open archive row and in no unconfirmed draft": `
SELECT e.effect_key FROM effects e
  JOIN job_archive a ON a.job_id = e.job_id
 WHERE e.state = 'unknown' AND e.effect_key LIKE 'publish:%' AND a.status <> 'open'
   AND NOT EXISTS (SELECT FROM publications p WHERE p.effect_key = e.effect_key AND (p.state = 'unconfirmed' OR p.settled_how <> ''))`,
		"an update is stored and has no job": `
SELECT update_id::text FROM updates WHERE job_id IS NULL AND kind NOT IN ('pre_checkout_query', '')`,
		"a new item was never matched, and its article is not in the archive": `
SELECT i.id::text FROM items AS i
 WHERE i.result = 'new' AND NOT EXISTS (SELECT FROM job_keys AS k WHERE k.kind = 'match' AND k.key = i.id::text)
   AND NOT EXISTS (SELECT FROM job_archive AS a WHERE a.kind = 'article' AND a.key = i.id::text)`,
		"an item is in two stories": `
SELECT item_id::text FROM story_items GROUP BY item_id HAVING count(*) > 1`,
	}
}

// check asks all invariants and compares the channels with the publications.
func check(ctx context.Context, w *world) (problems []string, err error) {
	for what, query := range invariants() {
		rows, err := w.pool.Query(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		if len(found) > 0 {
			problems = append(problems, fmt.Sprintf("%s: %s", what, strings.Join(found[:min(5, len(found))], ", ")))
		}
	}
	missing, err := w.unread(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range missing {
		problems = append(problems, "an entry was published and never read: "+l)
	}
	for _, a := range w.crew {
		inChannel, err := checkChannel(ctx, w.pool, w.stage, a.channel)
		if err != nil {
			return nil, err
		}
		unheard, err := a.unheard(ctx, w)
		if err != nil {
			return nil, err
		}
		inChat, err := a.repeated(ctx, w)
		if err != nil {
			return nil, err
		}
		problems = slices.Concat(problems, inChannel, unheard, inChat)
	}
	return problems, nil
}

// checkChannel holds what readers of a channel see against what the program
// believes: no text twice; every published draft is there; every post that the
// program does not claim belongs to a doubt that it shows.
func checkChannel(ctx context.Context, pool *pgxpool.Pool, stage *play.Stage, c play.Chat) (problems []string, err error) {
	posts, _, err := stage.Messages(ctx, c.ID, 0)
	if err != nil {
		return nil, err
	}
	shown := map[int]string{}
	seen := map[string]int{}
	for _, m := range posts {
		if m.Says() == "" {
			continue
		}
		shown[m.ID] = m.Says()
		if first, twice := seen[m.Says()]; twice {
			problems = append(problems, fmt.Sprintf("%s: posts %d and %d are the same: %.60q", c.Title, first, m.ID, m.Says()))
		}
		seen[m.Says()] = m.ID
	}
	rows, err := pool.Query(ctx, `
SELECT p.state, coalesce(p.message_id, 0), p.draft_id
  FROM publications p JOIN channels ch ON ch.id = p.channel_id
 WHERE ch.chat_id = $1`, c.ID)
	if err != nil {
		return nil, err
	}
	claimed, doubts := map[int]bool{}, 0
	var state string
	var message, draft int64
	_, err = pgx.ForEachRow(rows, []any{&state, &message, &draft}, func() error {
		switch state {
		case "published":
			claimed[int(message)] = true
			if _, there := shown[int(message)]; !there {
				problems = append(problems, fmt.Sprintf("%s: draft %d is published as %d, which is not there", c.Title, draft, message))
			}
		case "unconfirmed", "sending":
			doubts++
		}
		return nil
	})
	unclaimed := 0
	for id := range shown {
		if !claimed[id] {
			unclaimed++
		}
	}
	if unclaimed > doubts {
		problems = append(problems, fmt.Sprintf("%s: %d posts are claimed by no publication, and only %d are in doubt", c.Title, unclaimed, doubts))
	}
	return problems, err
}

// repeated looks for what the program said twice to this person: a card with
// the same buttons, or more answers to /status than questions.
func (a *actor) repeated(ctx context.Context, w *world) (problems []string, err error) {
	list, _, err := a.stage.Messages(ctx, a.person.ID, 0)
	if err != nil {
		return nil, err
	}
	seen := map[string]int{}
	answers := 0
	for _, m := range list {
		if m.FromBot() && strings.HasPrefix(m.Says(), a.channel.Title+"\nN") { // "Next post: …", "Nothing is planned."
			answers++
		}
		b, ok := m.Button("Approve")
		if !ok {
			continue
		}
		if first, twice := seen[b.Data]; twice {
			problems = append(problems, fmt.Sprintf("%s got one card as messages %d and %d (%s)", a.person.Name, first, m.ID, b.Data))
		}
		seen[b.Data] = m.ID
	}
	var asked int // by update: Telegram may deliver one message under two
	const askedSQL = `SELECT count(*) FROM updates WHERE person_id = $1 AND body->'message'->>'text' = '/status'`
	if err := w.pool.QueryRow(ctx, askedSQL, a.person.ID).Scan(&asked); err != nil {
		return nil, err
	}
	if answers > asked {
		problems = append(problems, fmt.Sprintf("%s asked for the status %d times and was answered %d times", a.person.Name, asked, answers))
	}
	return problems, nil
}
