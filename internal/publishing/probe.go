package publishing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/telegram"
)

// probeTimeout bounds one forward.
const probeTimeout = 30 * time.Second

// probe forwards what comes after the last known post into the log chat, and
// reads it there. A positive control comes first: a post that certainly exists
// has to come through, as lost access also reads "message to forward not
// found". ok: the control came through.
func (s *Service) probe(ctx context.Context, job *queue.Job[LookArgs], d *doubt) (posts []sighting, ok bool, err error) {
	if s.cfg.LogChatID == 0 || d.AfterMessage == 0 {
		return nil, false, nil // without a known id there is nowhere to start
	}
	if d.KnownMessage != 0 {
		control, err := s.forward(ctx, job, d, d.KnownMessage, "control")
		if err != nil || control == nil {
			return nil, false, err
		}
		ok = true
	}
	// Ids are never used again: the newest one known before the send is a right start even if that post was deleted.
	for id := d.AfterMessage + 1; id <= d.AfterMessage+s.cfg.ProbeIDs; id++ {
		p, err := s.forward(ctx, job, d, id, "look")
		if err != nil {
			return posts, false, err
		}
		if p == nil {
			continue
		}
		posts = append(posts, *p)
		if d.is(*p) {
			break
		}
	}
	return posts, ok, nil
}

// forward shows one post in the log chat; nil: Telegram shows none with this
// id. Each forward is recorded like any other outside effect; one whose answer
// is lost ends this look, and the next one asks anew.
func (s *Service) forward(ctx context.Context, job *queue.Job[LookArgs], d *doubt, id int64, why string) (*sighting, error) {
	var seen *sighting
	var refused *telegram.Refused
	done, err := job.Perform(ctx, queue.Effect{
		Key:     fmt.Sprintf("probe:%d:%d:%d:%s:%d", d.ID, d.Attempt, job.Args.Look, why, id),
		Request: []byte(strconv.FormatInt(id, 10)),
		Timeout: probeTimeout,
		Call: func(ctx context.Context) queue.Outcome {
			m, out := s.cfg.Telegram.ForwardMessage(ctx, &telegram.ForwardMessageParams{
				ChatID: s.cfg.LogChatID, FromChatID: d.ChatID, MessageID: int(id), DisableNotification: true,
			}, telegram.Timeout(probeTimeout))
			if m != nil {
				seen = sightingOf(m, d.ChatID, id)
			}
			if r, is := out.(telegram.Refused); is {
				refused = &r
			}
			return telegram.ToQueue(out, "", d.seenAs(seen))
		},
	})
	switch {
	case err == nil && seen == nil:
		return seenBefore(done, id), nil
	case err == nil:
		return seen, nil
	case refused == nil:
		return nil, err
	case refused.Temporary():
		return nil, err
	case refused.Kind == telegram.MessageNotFound:
		return nil, nil
	}
	if errors.Is(err, queue.ErrLeaseLost) {
		return nil, err
	}
	s.cfg.Logger.Warn().Int64("channel_id", d.ChannelID).Str("kind", string(refused.Kind)).
		Msg("a doubt cannot be probed: look at LOG_CHAT_ID and the bot's rights there")
	return nil, nil
}

// seenAs is what the ledger keeps of a forward, so that a look that was cut
// short goes on with what it saw; it holds no words of the post.
func (d *doubt) seenAs(p *sighting) json.RawMessage {
	if p == nil {
		return nil
	}
	b, _ := json.Marshal(seenMark{There: true, Same: d.is(*p)}) // booleans always encode
	return b
}

type seenMark struct {
	There bool `json:"there"`
	Same  bool `json:"same"`
}

// seenBefore is what an earlier run of this look saw under the id; nil: nothing.
func seenBefore(o queue.Outcome, id int64) *sighting {
	var mark seenMark
	c, is := o.(queue.Confirmed)
	if !is || !c.Prior || json.Unmarshal(c.Detail, &mark) != nil || !mark.There {
		return nil
	}
	return &sighting{MessageID: id, Same: mark.Same, How: "probe"}
}

// sightingOf reads a forwarded post: its date is that of the original. A
// forward that does not come from this channel and id proves nothing.
func sightingOf(m *telegram.Message, chatID, id int64) *sighting {
	if m.ForwardOrigin == nil || m.ForwardOrigin.MessageOriginChannel == nil {
		return nil
	}
	origin := m.ForwardOrigin.MessageOriginChannel
	if origin.Chat.ID != chatID || int64(origin.MessageID) != id {
		return nil
	}
	text := m.Text
	if text == "" {
		text = m.Caption
	}
	return &sighting{MessageID: id, Text: text, At: time.Unix(int64(origin.Date), 0), How: "probe"}
}
