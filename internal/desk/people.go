package desk

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/editorial"
)

// Profile is what an update tells about its sender.
type Profile = channels.Profile

// Member is a person with a role in a channel.
type Member = channels.Member

// invitationLasts is how long a link to an invitation works.
const invitationLasts = 7 * 24 * time.Hour

// Seen records that somebody talked to the bot. Who is named in OPERATOR_IDS is an operator from then on.
func (d *Desk) Seen(ctx context.Context, p Profile) (editorial.Person, error) {
	return d.channels.Seen(ctx, d.pool, p, d.operators[p.ID])
}

// Person returns a person; error.not_yours for one who never talked to the bot.
func (d *Desk) Person(ctx context.Context, id int64) (editorial.Person, error) {
	p, err := channels.Person(ctx, d.pool, id)
	return p, explain(err)
}

// SetLanguage chooses the language of the interface, en or ru.
func (d *Desk) SetLanguage(ctx context.Context, by int64, language string) error {
	return explain(d.channels.SetLanguage(ctx, d.pool, by, language))
}

// Blocked records that a person blocked the bot (what sending to him showed).
func (d *Desk) Blocked(ctx context.Context, person int64) error {
	return d.channels.Blocked(ctx, d.pool, person)
}

// Members lists who works on a channel; for every member.
func (d *Desk) Members(ctx context.Context, by, channelID int64) ([]Member, error) {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Viewer); err != nil {
		return nil, err
	}
	return channels.Members(ctx, d.pool, channelID)
}

// Invite makes the token of a link that works once and lasts a week; for owners.
// Asked for with the same secret token again, it is the same one; empty: one is drawn.
func (d *Desk) Invite(ctx context.Context, by, channelID int64, role editorial.Role, token string) (string, error) {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Owner); err != nil {
		return "", err
	}
	token, err := d.channels.Invite(ctx, d.pool, channelID, role, by, token, invitationLasts)
	return token, explain(err)
}

// InvitePerson makes a token that admits somebody to the bot; for operators.
func (d *Desk) InvitePerson(ctx context.Context, by int64) (string, error) {
	if err := d.operator(ctx, d.pool, by); err != nil {
		return "", err
	}
	return d.channels.InviteIntoBot(ctx, d.pool, editorial.AccessInvited, by, invitationLasts)
}

// AcceptInvitation uses a token of Invite, InvitePerson or the operator's claim
// link. Pressed again by the same person it says Already.
func (d *Desk) AcceptInvitation(ctx context.Context, by int64, token string) (InvitationView, error) {
	var view InvitationView
	err := d.tx(ctx, func(tx pgx.Tx) error {
		inv, err := d.channels.Accept(ctx, tx, token, by)
		if err != nil {
			return err
		}
		view = InvitationView{Role: inv.Role, Operator: inv.Operator, Already: inv.Already}
		if inv.ChannelID == 0 {
			return nil
		}
		// He may have been taken out of the channel since.
		ch, err := d.channelView(ctx, tx, by, inv.ChannelID)
		if err != nil {
			return fail(CodeInvitation, err)
		}
		view.Channel, view.Role = &ch, ch.Role
		return nil
	})
	return view, err
}

// RemoveMember takes a person out of a channel: owners anybody, everybody himself. False when he was not in it.
func (d *Desk) RemoveMember(ctx context.Context, by, channelID, person int64) (bool, error) {
	need := editorial.Owner
	if by == person {
		need = editorial.Viewer
	}
	if _, err := d.may(ctx, d.pool, by, channelID, need); err != nil {
		return false, err
	}
	var gone bool
	err := d.tx(ctx, func(tx pgx.Tx) (err error) {
		gone, err = d.channels.RemoveMember(ctx, tx, channelID, person)
		return err
	})
	return gone, err
}

// SetRole changes a member's role; for owners.
func (d *Desk) SetRole(ctx context.Context, by, channelID, person int64, role editorial.Role) error {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Owner); err != nil {
		return err
	}
	return d.tx(ctx, func(tx pgx.Tx) error { return d.channels.SetRole(ctx, tx, channelID, person, role) })
}

// SetNotify says whether the person himself gets the cards of a channel.
func (d *Desk) SetNotify(ctx context.Context, by, channelID int64, notify bool) error {
	if _, err := d.may(ctx, d.pool, by, channelID, editorial.Viewer); err != nil {
		return err
	}
	return explain(d.channels.SetNotify(ctx, d.pool, channelID, by, notify))
}
