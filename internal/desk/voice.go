package desk

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/drafting/voice"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/sources"
)

// VoiceLine is one thing that was learned about how a channel writes.
type VoiceLine = voice.Line

// VoiceAll is the key that stands for every line.
const VoiceAll = voice.All

// Voice lists what was learned about how a channel writes. For owners.
func (d *Desk) Voice(ctx context.Context, by, id int64) ([]VoiceLine, error) {
	if _, err := d.may(ctx, d.pool, by, id, editorial.Owner); err != nil {
		return nil, err
	}
	v, err := drafting.Voice(ctx, d.pool, id)
	return v.Lines(), err
}

// ForgetVoice takes one line out, or with VoiceAll each of them, until people ask
// to learn anew. False: it was out already. For owners.
func (d *Desk) ForgetVoice(ctx context.Context, by, id int64, key string) (bool, error) {
	if _, err := d.may(ctx, d.pool, by, id, editorial.Owner); err != nil {
		return false, err
	}
	if !voice.Known(key) {
		return false, nil
	}
	var changed bool
	err := d.tx(ctx, func(tx pgx.Tx) (err error) {
		changed, err = d.channels.ForgetVoice(ctx, tx, id, key)
		return err
	})
	return changed, err
}

// RelearnVoice throws away what was learned and what was taken out, and asks to
// learn anew, once a minute at most. For owners.
func (d *Desk) RelearnVoice(ctx context.Context, by, id int64) (Submission, error) {
	if _, err := d.may(ctx, d.pool, by, id, editorial.Owner); err != nil {
		return Submission{}, err
	}
	var out Submission
	err := d.tx(ctx, func(tx pgx.Tx) error {
		sub, err := d.drafting.LearnVoiceTx(ctx, tx, id, fmt.Sprintf("anew:%d", d.now().Truncate(time.Minute).Unix()))
		out = Submission{JobID: sub.JobID, Fresh: sub.Fresh}
		if err != nil || !sub.Fresh {
			return err
		}
		return d.channels.RestartVoice(ctx, tx, id)
	})
	return out, err
}

// LearnFromPost keeps a post of the channel itself that somebody forwarded, and
// lets it teach the channel's voice, once a post. For editors.
func (d *Desk) LearnFromPost(ctx context.Context, by, id int64, post Forwarded) error {
	if _, err := d.may(ctx, d.pool, by, id, editorial.Editor); err != nil {
		return err
	}
	return d.tx(ctx, func(tx pgx.Tx) error {
		_, _, err := d.sources.AddForwarded(ctx, tx, sources.Forward{
			ChatID: post.ChatID, Username: post.Username, Title: post.ChatTitle, MessageID: int(post.MessageID),
			Text: strings.ReplaceAll(post.HTML, "\n", "<br>"), Date: post.At,
		})
		if _, odd := errors.AsType[*sources.Problem](err); odd {
			return nil // a post without words teaches nothing
		}
		if err != nil || post.Username != "" {
			return err // a public channel's page is read once a day, not for each forward
		}
		_, err = d.drafting.LearnVoiceTx(ctx, tx, id, fmt.Sprintf("forward:%d", post.MessageID))
		return err
	})
}
