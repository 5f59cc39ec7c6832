package desk

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// ChannelChange is a change of a channel's settings: what is nil stays.
type ChannelChange = channels.Change

const channelExtrasSQL = `
SELECT m.channel_id,
       m.notify,
       c.state_why,
       coalesce(p.channel_id = m.channel_id, false),
       (SELECT count(*) FROM subscriptions s WHERE s.channel_id = m.channel_id),
       (SELECT count(*) FROM drafts d WHERE d.channel_id = m.channel_id AND d.state = 'proposed')
  FROM memberships m
  JOIN channels c ON c.id = m.channel_id
  JOIN people p ON p.id = m.person_id
 WHERE m.person_id = $1
   AND m.channel_id = ANY($2)`

// Channels lists the channels in which a person has a role.
func (d *Desk) Channels(ctx context.Context, by int64) ([]ChannelView, error) {
	return channelsOf(ctx, d.pool, by)
}

// Channel returns one, for its members.
func (d *Desk) Channel(ctx context.Context, by, id int64) (ChannelView, error) {
	return d.channelView(ctx, d.pool, by, id)
}

func (d *Desk) channelView(ctx context.Context, q postgres.Querier, by, id int64) (ChannelView, error) {
	list, err := channelsOf(ctx, q, by)
	if err != nil {
		return ChannelView{}, err
	}
	for _, ch := range list {
		if ch.ID == id {
			return ch, nil
		}
	}
	return ChannelView{}, notYours()
}

func channelsOf(ctx context.Context, q postgres.Querier, by int64) ([]ChannelView, error) {
	list, roles, err := channels.Of(ctx, q, by)
	if err != nil {
		return nil, err
	}
	views := make([]ChannelView, len(list))
	at := map[int64]*ChannelView{}
	ids := make([]int64, len(list))
	for i, ch := range list {
		views[i] = ChannelView{Channel: ch, Role: roles[ch.ID]}
		at[ch.ID], ids[i] = &views[i], ch.ID
	}
	rows, err := q.Query(ctx, channelExtrasSQL, by, ids)
	if err != nil {
		return nil, err
	}
	var id int64
	var why string
	var extra ChannelView
	_, err = pgx.ForEachRow(rows, []any{&id, &extra.Notify, &why, &extra.Chosen, &extra.Sources, &extra.Waiting}, func() error {
		v := at[id]
		v.Notify, v.Chosen, v.Sources, v.Waiting = extra.Notify, extra.Chosen, extra.Sources, extra.Waiting
		if v.State == editorial.ChannelNoRights {
			v.Missing = []string{why}
		}
		return nil
	})
	return views, err
}

// Link links a channel by its chat id, or checks its rights again. Missing
// names a right that the bot lacks; the channel is linked all the same.
func (d *Desk) Link(ctx context.Context, by, chatID int64) (LinkResult, error) {
	if err := d.admitted(ctx, d.pool, by); err != nil {
		return LinkResult{}, err
	}
	ch, missing, err := d.channels.Link(ctx, by, chatID)
	if err != nil {
		return LinkResult{}, explain(limitError(err))
	}
	err = d.tx(ctx, func(tx pgx.Tx) error {
		_, err := d.drafting.LearnVoiceTx(ctx, tx, ch.ID, "day:"+d.now().UTC().Format(time.DateOnly))
		return err
	})
	if err != nil {
		return LinkResult{}, err
	}
	view, err := d.channelView(ctx, d.pool, by, ch.ID)
	return LinkResult{Channel: view, Missing: missing}, err
}

// Choose sets the channel that the person's commands speak of.
func (d *Desk) Choose(ctx context.Context, by, id int64) error {
	if _, err := d.channelView(ctx, d.pool, by, id); err != nil {
		return err
	}
	return explain(d.channels.Choose(ctx, d.pool, by, id))
}

// Unlink lets go of a channel; its settings stay. False when it was unlinked already. For owners.
func (d *Desk) Unlink(ctx context.Context, by, id int64) (bool, error) {
	if _, err := d.may(ctx, d.pool, by, id, editorial.Owner); err != nil {
		return false, err
	}
	var changed bool
	err := d.tx(ctx, func(tx pgx.Tx) (err error) {
		changed, err = d.channels.Unlink(ctx, tx, id)
		return err
	})
	return changed, err
}

// Update changes settings; error.setting names what cannot be, and error.changed
// says that IfVersion is not theirs any more. For owners. Slots
// that drafts hold already stay where they are, also when the week or the zone changes.
func (d *Desk) Update(ctx context.Context, by, id int64, change ChannelChange) (ChannelView, error) {
	if _, err := d.may(ctx, d.pool, by, id, editorial.Owner); err != nil {
		return ChannelView{}, err
	}
	if err := d.tx(ctx, func(tx pgx.Tx) error { return d.channels.Update(ctx, tx, id, change) }); err != nil {
		return ChannelView{}, err
	}
	return d.channelView(ctx, d.pool, by, id)
}

// Pause stops publishing for the channel; false when it was stopped already.
func (d *Desk) Pause(ctx context.Context, by, id int64) (bool, error) {
	return d.pause(ctx, by, id, d.channels.Pause)
}

// Resume starts publishing again; slots that passed meanwhile are moved or skipped as set.
func (d *Desk) Resume(ctx context.Context, by, id int64) (bool, error) {
	return d.pause(ctx, by, id, func(ctx context.Context, tx pgx.Tx, id int64) (bool, error) {
		changed, err := d.channels.Resume(ctx, tx, id)
		if err != nil || !changed {
			return changed, err
		}
		return true, d.publishing.ResumeTx(ctx, tx, id)
	})
}

func (d *Desk) pause(ctx context.Context, by, id int64, do func(context.Context, pgx.Tx, int64) (bool, error)) (bool, error) {
	if _, err := d.may(ctx, d.pool, by, id, editorial.Editor); err != nil {
		return false, err
	}
	var changed bool
	err := d.tx(ctx, func(tx pgx.Tx) (err error) {
		changed, err = do(ctx, tx, id)
		return err
	})
	return changed, err
}

func brief(ch editorial.Channel) ChannelBrief {
	return ChannelBrief{ID: ch.ID, Title: ch.Title, Username: ch.Username, TimeZone: ch.TimeZone, State: ch.State, Paused: ch.Paused, Rests: ch.Rests, ImageStyle: ch.ImageStyle}
}
