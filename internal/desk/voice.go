package desk

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/drafting/voice"
	"github.com/postonce/postonce/internal/editorial"
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
