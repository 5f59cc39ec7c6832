package chat

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
)

// linkRequest is the number of the one request that our chat picker makes.
const linkRequest = 1

// start answers /start, alone or with the token of an invitation.
func (c *Chat) start(ctx context.Context, t *turn) error {
	if t.Plain("button.app") != c.texts.For(texts.Default).Plain("button.app") {
		c.ownMenuButton(ctx, t)
	}
	if token := strings.TrimSpace(t.argument); token != "" {
		return c.accept(ctx, t, token)
	}
	return c.welcome(ctx, t)
}

// accept uses the token behind an invitation's or the operator's claim link.
func (c *Chat) accept(ctx context.Context, t *turn, token string) error {
	inv, err := c.desk.AcceptInvitation(ctx, t.by(), token)
	if err != nil {
		return err
	}
	if t.person, err = c.desk.Person(ctx, t.by()); err != nil {
		return err
	}
	switch {
	case inv.Operator:
		err = t.say(ctx, "invited.operator")
	case inv.Channel != nil:
		err = t.say(ctx, "invited.channel", texts.Args{"Channel": inv.Channel.Title, "Role": t.Plain("role." + string(inv.Role))})
	default:
		err = t.say(ctx, "invited.bot")
	}
	if err != nil {
		return err
	}
	return c.welcome(ctx, t)
}

// welcome goes on where the person stands: link a channel, add sources, or
// the day's work. It keeps no state of its own, so it resumes anywhere.
func (c *Chat) welcome(ctx context.Context, t *turn) error {
	if !c.desk.Admitted(t.person) {
		return t.say(ctx, "welcome.invite_only")
	}
	list, err := c.desk.Channels(ctx, t.by())
	if err != nil {
		return err
	}
	ch := chosen(list)
	switch {
	case len(list) == 0:
		return t.send(ctx, linkMessage(t, "welcome.link"))
	case ch == nil:
		return c.channelList(ctx, t)
	case len(ch.Missing) > 0:
		return t.send(ctx, missingMessage(t, ch))
	case ch.Sources == 0:
		return c.packs(ctx, t, "welcome.sources")
	}
	return t.send(ctx, c.home(t, ch))
}

// channelFirst answers what needs a channel while there is none.
func (c *Chat) channelFirst(ctx context.Context, t *turn) error {
	list, err := c.desk.Channels(ctx, t.by())
	if err != nil {
		return err
	}
	if len(list) > 0 {
		return c.channelList(ctx, t)
	}
	links := c.linksSent(t)
	if len(links) == 0 {
		return t.send(ctx, linkMessage(t, "welcome.first"))
	}
	err = c.pastes.put(ctx, paste{person: t.by(), message: t.msg.ID, kind: pasteKept, address: strings.Join(first(links, maxAdds), " ")})
	if err != nil {
		return err
	}
	return t.send(ctx, linkMessage(t, "welcome.kept"))
}

// linksSent are the addresses in a message that means sources: /add with some,
// or links and nothing else.
func (c *Chat) linksSent(t *turn) []string {
	if t.tap != nil || t.msg == nil {
		return nil
	}
	switch name, argument, command := commandOf(t.msg.Text, c.username); {
	case command && name == "add" && argument != "":
		return addressWords(argument)
	case !command && onlyLinks(t.msg.Text):
		return linksOf(t.msg)
	}
	return nil
}

func chosen(list []desk.ChannelView) *desk.ChannelView {
	for i := range list {
		if list[i].Chosen {
			return &list[i]
		}
	}
	return nil
}

// current is the channel that commands speak of; without one the error leads
// to onboarding.
func (c *Chat) current(ctx context.Context, t *turn) (*desk.ChannelView, error) {
	if !c.desk.Admitted(t.person) {
		return nil, &desk.Error{Code: desk.CodeNoAccess}
	}
	list, err := c.desk.Channels(ctx, t.by())
	if err != nil {
		return nil, err
	}
	ch := chosen(list)
	if ch == nil && len(list) == 1 {
		ch = &list[0]
	}
	if ch == nil {
		return nil, errNoChannel
	}
	return ch, nil
}

// errNoChannel means that a command needs a channel and there is none yet.
var errNoChannel = errors.New("chat: no channel is chosen")

// home is the overview of a channel at work.
func (c *Chat) home(t *turn, ch *desk.ChannelView) message {
	m := message{text: t.HTML("welcome.home", texts.Args{
		"Name": t.person.FirstName, "Channel": ch.Title,
		"Sources": t.HTML("count.sources", texts.Args{"Count": ch.Sources}),
		"Waiting": t.HTML("count.waiting", texts.Args{"Count": ch.Waiting}),
	})}
	if ch.Paused {
		m.text = joinHTML("\n\n", m.text, t.HTML("plan.paused"))
		if ch.Role.May(editorial.Editor) {
			m.rows = append(m.rows, row(resumeButton(t, ch.ID)))
		}
	}
	m.rows = append(append(m.rows, homeRows(t, ch)...), row(button{text: t.Plain("button.help"), data: data("hp")}))
	if c.appURL != "" {
		m.rows = append(m.rows, row(button{text: t.Plain("button.app"), app: c.appURL}))
	}
	return m
}

// homeRows lead to the day's work.
func homeRows(t *turn, ch *desk.ChannelView) [][]button {
	return [][]button{
		row(button{text: t.Plain("button.drafts"), data: data("dl", 0)}, button{text: t.Plain("button.plan"), data: data("pl", ch.ID, 0)}),
		row(button{text: t.Plain("button.sources"), data: data("sl", ch.ID, 0)}, button{text: t.Plain("button.channel"), data: data("ch", ch.ID)}),
	}
}

// help answers /help. Tap: hp.
func (c *Chat) help(ctx context.Context, t *turn) error {
	m := message{text: t.HTML("help")}
	if ch, err := c.current(ctx, t); err == nil {
		m.rows = homeRows(t, ch)
	}
	return t.show(ctx, m)
}

// linkMessage asks for a channel with Telegram's own picker, which offers to
// make the bot an administrator with the one right that it needs. The rights
// asked of the bot must be a subset of those asked of the person
// (core.telegram.org/bots/api#keyboardbuttonrequestchat).
func linkMessage(t *turn, code string) message {
	return message{
		text: t.HTML(code, texts.Args{"Name": t.person.FirstName}),
		keys: models.ReplyKeyboardMarkup{
			ResizeKeyboard: true, OneTimeKeyboard: true,
			Keyboard: [][]models.KeyboardButton{{{
				Text: t.Plain("button.pick_channel"),
				RequestChat: &models.KeyboardButtonRequestChat{
					RequestID: linkRequest, ChatIsChannel: true, RequestTitle: true, RequestUsername: true,
					UserAdministratorRights: &models.ChatAdministratorRights{CanPostMessages: true, CanPromoteMembers: true},
					BotAdministratorRights:  &models.ChatAdministratorRights{CanPostMessages: true},
				},
			}}},
		},
	}
}

// linkChannel links a chat and says at once what is missing.
func (c *Chat) linkChannel(ctx context.Context, t *turn, chatID int64) error {
	res, err := c.desk.Link(ctx, t.by(), chatID)
	if err != nil {
		return err
	}
	ch := &res.Channel
	if len(res.Missing) > 0 {
		ch.Missing = res.Missing
		return t.show(ctx, missingMessage(t, ch))
	}
	if t.tap != nil {
		err = t.show(ctx, message{text: t.HTML("link.done", texts.Args{"Channel": ch.Title})})
	} else {
		err = t.send(ctx, message{text: t.HTML("link.done", texts.Args{"Channel": ch.Title}), keys: models.ReplyKeyboardRemove{RemoveKeyboard: true}})
	}
	if err != nil {
		return err
	}
	if ch.Sources == 0 {
		return c.firstSources(ctx, t, ch)
	}
	return t.send(ctx, c.home(t, ch))
}

// firstSources follows the links that the person sent before there was a
// channel; without any it asks for sources.
func (c *Chat) firstSources(ctx context.Context, t *turn, ch *desk.ChannelView) error {
	kept, err := c.pastes.kept(ctx, t.by())
	if err != nil {
		return err
	}
	if len(kept) == 0 {
		return c.packs(ctx, t, "link.sources")
	}
	if err := c.addAll(ctx, t, ch.ID, kept); err != nil {
		return err
	}
	if err := c.pastes.used(ctx, t.by()); err != nil {
		return err
	}
	if ch.Role != editorial.Owner {
		return nil
	}
	return t.send(ctx, message{text: t.HTML("link.zone", texts.Args{"Zone": ch.TimeZone}), rows: [][]button{row(zoneButton(t, ch))}})
}

// missingMessage names the right that the bot lacks, how to give it, and a
// button that looks again.
func missingMessage(t *turn, ch *desk.ChannelView) message {
	rights := make([]string, len(ch.Missing))
	for i, r := range ch.Missing {
		rights[i] = t.Plain("right." + r)
	}
	return message{
		text: t.HTML("link.missing", texts.Args{"Channel": ch.Title, "Rights": strings.Join(rights, ", ")}),
		rows: [][]button{row(button{text: t.Plain("button.check_again"), data: data("lk", ch.ChatID)})},
	}
}

// membershipChanged hears of rights given and taken. A linked channel whose
// rights come back is told at once; for another one the bot offers to link it,
// a few seconds later, as Telegram's picker says the same in a message of its own.
func (c *Chat) membershipChanged(ctx context.Context, t *turn, m *models.ChatMemberUpdated) error {
	switch {
	case m.Chat.Type == models.ChatTypePrivate:
		if m.NewChatMember.Type == models.ChatMemberTypeBanned {
			return c.desk.Blocked(ctx, t.by())
		}
		return nil
	case m.Chat.Type != models.ChatTypeChannel || m.NewChatMember.Type != models.ChatMemberTypeAdministrator:
		return nil // what was taken away shows at the next post or check of rights
	}
	list, err := c.desk.Channels(ctx, t.by())
	if err != nil {
		return err
	}
	for _, ch := range list {
		if ch.ChatID != m.Chat.ID {
			continue
		}
		if ch.State == editorial.ChannelActive {
			return nil
		}
		return c.linkChannel(ctx, t, m.Chat.ID)
	}
	return postgres.InTx(ctx, c.pool, func(tx pgx.Tx) error {
		_, err := offerKind().EnqueueTx(ctx, tx, OfferArgs{PersonID: t.by(), ChatID: m.Chat.ID, Title: m.Chat.Title, Update: t.update}, queue.After(offerAfter))
		return err
	})
}

// offerAfter is how long the bot waits for the picker's own message.
const offerAfter = 5 * time.Second

// OfferArgs is the payload of job kind offer: a channel that a person made the
// bot an administrator of.
type OfferArgs struct {
	PersonID int64  `json:"person_id"`
	ChatID   int64  `json:"chat_id"`
	Title    string `json:"title"`
	Update   int64  `json:"update"`
}

func offerKind() queue.Kind[OfferArgs] {
	return queue.Kind[OfferArgs]{
		Name: "offer", Tier: queue.Default, Policy: queue.Ledger, Class: queue.Courtesy,
		Key: func(a OfferArgs) string { return strconv.FormatInt(a.Update, 10) },
	}
}

// OfferKind offers to link a channel, unless it was linked meanwhile.
func (c *Chat) OfferKind() queue.Kind[OfferArgs] {
	k := offerKind()
	k.Work = func(ctx context.Context, job *queue.Job[OfferArgs]) error {
		a := job.Args
		t, err := c.speakTo(ctx, job, a.PersonID)
		if err != nil || !c.desk.Admitted(t.person) {
			return err
		}
		list, err := c.desk.Channels(ctx, a.PersonID)
		if err != nil {
			return err
		}
		for _, ch := range list {
			if ch.ChatID == a.ChatID {
				return nil
			}
		}
		return c.courtesy(ctx, a.PersonID, c.deliver(ctx, job, delivery{key: "offer:" + job.Key, person: a.PersonID, msg: message{
			text: t.HTML("link.offer", texts.Args{"Channel": a.Title}),
			rows: [][]button{row(button{text: t.Plain("button.link"), data: data("lk", a.ChatID)})},
		}}))
	}
	return k
}

// packs suggests sets of sources, below the text of code.
func (c *Chat) packs(ctx context.Context, t *turn, code string) error {
	ch, err := c.current(ctx, t)
	if err != nil {
		return err
	}
	language := ch.Language
	list, err := c.desk.Packs(ctx, t.by(), language)
	if err != nil {
		return err
	}
	m := message{text: t.HTML(code, texts.Args{"Channel": ch.Title, "Zone": ch.TimeZone})}
	var buttons []button
	for _, p := range list {
		buttons = append(buttons, button{text: p.Title, data: data("pa", ch.ID, p.ID)})
	}
	m.rows = append(columns(2, buttons), row(button{text: t.Plain("button.add_source"), data: data("sa", ch.ID)}))
	switch {
	case code == "link.sources" && ch.Role == editorial.Owner: // in the first minutes, before a post goes out at an odd hour
		m.rows = append(m.rows, row(zoneButton(t, ch)))
	case code != "link.sources" && code != "welcome.sources":
		m.rows = append(m.rows, row(button{text: t.Plain("button.channel"), data: data("ch", ch.ID)}))
	}
	return t.show(ctx, m)
}

func zoneButton(t *turn, ch *desk.ChannelView) button {
	return button{text: t.Plain("button.zone", texts.Args{"Zone": ch.TimeZone}), data: data("cz", ch.ID)}
}

// packChosen follows a whole pack. Tap: pa:<channel>:<pack>.
func (c *Chat) packChosen(ctx context.Context, t *turn, d tapped) error {
	job, err := c.desk.AddPack(ctx, t.by(), d.int64(0), d.text(1))
	if err != nil {
		return err
	}
	if err := t.toast(ctx, "pack.toast"); err != nil {
		return err
	}
	return t.show(ctx, message{
		text: t.HTML("pack.added", texts.Args{"Job": job.JobID}),
		rows: [][]button{row(button{text: t.Plain("button.sources"), data: data("sl", d.int64(0), 0)}, button{text: t.Plain("button.drafts"), data: data("dl", 0)})},
	})
}

// operator reports whether the person runs this bot.
func (t *turn) operator() bool { return t.person.Access == editorial.AccessOperator }
