package telegram

import (
	"encoding/json"

	"github.com/postonce/postonce/internal/queue"
)

// ToQueue turns what is known of a call into what the effect ledger keeps. id
// names what Confirmed brought about ("-100123:42"), detail may be nil.
func ToQueue(o Outcome, id string, detail json.RawMessage) queue.Outcome {
	switch o := o.(type) {
	case Confirmed:
		return queue.Confirmed{ExternalID: id, Detail: detail}
	case Refused:
		return queue.Refused{Err: o, RetryAfter: o.RetryAfter, Permanent: !o.Temporary()}
	case Unknown:
		return queue.Unknown{Err: o}
	}
	return queue.Unknown{Err: errNoOutcome}
}

// SentToQueue is ToQueue for calls that send one message.
func SentToQueue(m *Message, o Outcome) queue.Outcome {
	id := ""
	if m != nil {
		id = messageRef(m.Chat.ID, m.ID)
	}
	return ToQueue(o, id, nil)
}
