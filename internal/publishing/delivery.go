package publishing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// delivery is all that sending one draft needs, as it stood when it was read.
type delivery struct {
	DraftID      int64
	ChannelID    int64
	State        editorial.DraftState
	Transition   int
	SlotAt       *time.Time
	Approved     bool // the approved hash is that of the current text
	HTML         string
	Hash         []byte
	Link         string
	Image        string
	ChatID       int64
	ChannelState editorial.ChannelState
	Paused       bool
	ImageStyle   string
	LastMessage  int64
	Publication  int64 // 0: none yet
	Attempt      int
	EffectKey    string
	Form         form // of the send under way
}

const deliverySQL = `
SELECT d.id,
       d.channel_id,
       d.state,
       d.transition,
       d.slot_at,
       coalesce(d.approved_hash = r.html_hash, false),
       r.html,
       r.html_hash,
       r.link,
       r.image,
       c.chat_id,
       c.state,
       c.paused_at IS NOT NULL OR c.rests_at IS NOT NULL,
       c.image_style,
       c.last_message_id,
       coalesce(p.id, 0),
       coalesce(p.attempt, 1),
       coalesce(p.effect_key, ''),
       coalesce(p.form, '')
  FROM drafts d
  JOIN draft_revisions r ON r.draft_id = d.id AND r.revision = d.revision
  JOIN channels c ON c.id = d.channel_id
  LEFT JOIN publications p ON p.draft_id = d.id
 WHERE d.id = $1`

func readDelivery(ctx context.Context, q postgres.Querier, draftID int64) (*delivery, error) {
	rows, err := q.Query(ctx, deliverySQL, draftID)
	if err != nil {
		return nil, err
	}
	d, err := pgx.CollectExactlyOneRow(rows, pgx.RowToAddrOfStructByPos[delivery])
	if err != nil {
		return nil, fmt.Errorf("read draft %d: %w", draftID, err)
	}
	return d, nil
}

// effectKey names the send: a draft is published once, for ever; another send
// exists only where a person looked and said that the post is not there.
func (d *delivery) effectKey() string {
	key := fmt.Sprintf("publish:draft:%d", d.DraftID)
	if d.Attempt > 1 {
		key += fmt.Sprintf(":after-review:%d", d.Attempt-1)
	}
	return key
}

// request is what the ledger hashes: the same key never sends another text
// unless the earlier one was certainly refused.
func (d *delivery) request(f form) []byte {
	b, err := json.Marshal(struct {
		Chat  int64  `json:"chat"`
		Form  form   `json:"form"`
		HTML  string `json:"html"`
		Image string `json:"image"`
	}{d.ChatID, f, d.HTML, d.Image})
	if err != nil { // strings and numbers always encode
		panic(err)
	}
	return b
}
