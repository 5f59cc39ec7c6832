package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/go-telegram/bot/models"

	"github.com/postonce/postonce/internal/queue"
)

// received is one update on its way into the table.
type received struct {
	id     int64
	kind   string
	chat   int64
	person int64
	body   json.RawMessage
	update *models.Update // nil if it does not decode
	err    error
}

const updateInsertSQL = `
INSERT INTO updates (bot_id, update_id, kind, chat_id, person_id, body, via)
SELECT $1,
       u.update_id,
       u.kind,
       u.chat_id,
       u.person_id,
       u.body,
       $2
  FROM unnest($3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::json[])
       WITH ORDINALITY AS u (update_id, kind, chat_id, person_id, body, place)
 ORDER BY u.place
    ON CONFLICT (bot_id, update_id) DO NOTHING
RETURNING update_id`

const updateSetJobsSQL = `
UPDATE updates
   SET job_id = j.job_id
  FROM unnest($2::bigint[], $3::bigint[]) AS j (update_id, job_id)
 WHERE updates.bot_id = $1
   AND updates.update_id = j.update_id`

const deadLetterInsertSQL = `
INSERT INTO update_dead_letters (bot_id, update_id, body, error)
VALUES ($1, $2, $3, $4)
    ON CONFLICT (bot_id, update_id) WHERE update_id <> 0 DO NOTHING`

// decode reads one update by itself, so that one which nobody understands never
// stops the others. It always gives the id, the chat and the person that can be
// made out.
func decode(raw json.RawMessage) received {
	// Postgres takes neither broken UTF-8 nor NUL; a whole batch must not fail for one.
	r := received{body: bytes.ReplaceAll(bytes.ToValidUTF8(raw, []byte("\uFFFD")), []byte{0}, nil)}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(r.body, &fields); err != nil {
		r.err = fmt.Errorf("not an object: %w", err)
		return r
	}
	if err := json.Unmarshal(fields["update_id"], &r.id); err != nil || r.id == 0 {
		r.err = errors.New("no update_id")
		return r
	}
	for name, body := range fields {
		if name != "update_id" {
			r.kind = name
			r.chat, r.person = whereAndWho(body)
		}
	}
	u := new(models.Update)
	if err := json.Unmarshal(r.body, u); err != nil {
		r.err = err
		return r
	}
	r.update = u
	return r
}

// whereAndWho finds the chat and the person of an update of any kind. What has
// no chat is ordered by its person.
func whereAndWho(body json.RawMessage) (chat, person int64) {
	type ref struct {
		ID int64 `json:"id"`
	}
	var v struct {
		Chat    ref `json:"chat"`
		From    ref `json:"from"`
		User    ref `json:"user"`
		Message struct {
			Chat ref `json:"chat"`
		} `json:"message"`
	}
	_ = json.Unmarshal(body, &v) // a field of another shape leaves its zero
	person = first(v.From.ID, v.User.ID)
	return first(v.Chat.ID, v.Message.Chat.ID, person), person
}

func first(ids ...int64) int64 {
	for _, id := range ids {
		if id != 0 {
			return id
		}
	}
	return 0
}

// keepTx stores updates that are not known yet and hands each to the queue, in
// order. It returns which were new, by their ids. The commit of tx is the moment from
// which an update may be acknowledged.
func (in *Intake) keepTx(ctx context.Context, tx pgx.Tx, via string, list []received) (fresh map[int64]bool, err error) {
	fresh, err = in.insertTx(ctx, tx, via, list)
	if err != nil {
		return nil, err
	}
	var args []UpdateArgs
	for _, r := range list {
		switch {
		case r.id == 0 || r.update == nil && fresh[r.id]:
			if _, err := tx.Exec(ctx, deadLetterInsertSQL, in.bot, r.id, string(r.body), r.err.Error()); err != nil {
				return nil, fmt.Errorf("keep a dead letter: %w", err)
			}
		case fresh[r.id] && r.update != nil && r.update.PreCheckoutQuery == nil:
			args = append(args, UpdateArgs{
				BotID: in.bot, UpdateID: r.id, ChatID: r.chat, PersonID: r.person,
				Payment: r.update.Message != nil && r.update.Message.SuccessfulPayment != nil,
			})
		}
	}
	return fresh, in.enqueueTx(ctx, tx, args)
}

func (in *Intake) insertTx(ctx context.Context, tx pgx.Tx, via string, list []received) (map[int64]bool, error) {
	fresh := map[int64]bool{}
	var ids, chats, people []int64
	var kinds, bodies []string
	for _, r := range list {
		if r.id == 0 {
			continue
		}
		ids, kinds, chats = append(ids, r.id), append(kinds, r.kind), append(chats, r.chat)
		people, bodies = append(people, r.person), append(bodies, string(r.body))
	}
	rows, err := tx.Query(ctx, updateInsertSQL, in.bot, via, ids, kinds, chats, people, bodies)
	if err != nil {
		return nil, fmt.Errorf("keep updates: %w", err)
	}
	news, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("keep updates: %w", err)
	}
	for _, id := range news {
		fresh[id] = true
	}
	return fresh, nil
}

// enqueueTx makes one job per update; each carries where it came from.
func (in *Intake) enqueueTx(ctx context.Context, tx pgx.Tx, args []UpdateArgs) error {
	var ids, jobs []int64
	for _, a := range args {
		sub, err := in.kind.EnqueueTx(ctx, tx, a, queue.CausedBy(queue.Origin{UpdateID: a.UpdateID, PersonID: a.PersonID}))
		if err != nil {
			return fmt.Errorf("hand over update %d: %w", a.UpdateID, err)
		}
		ids, jobs = append(ids, a.UpdateID), append(jobs, sub.JobID)
	}
	if len(ids) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, updateSetJobsSQL, in.bot, ids, jobs); err != nil {
		return fmt.Errorf("note the jobs of updates: %w", err)
	}
	return nil
}

func key(bot, update int64) string {
	return strconv.FormatInt(bot, 10) + ":" + strconv.FormatInt(update, 10)
}
