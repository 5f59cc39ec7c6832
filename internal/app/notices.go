package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/billing"
	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/chat"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/ops/restore"
	"github.com/postonce/postonce/internal/ops/watch"
	"github.com/postonce/postonce/internal/sources"
)

// What features have to tell people, put into the chat's notices. Each is
// enqueued in the transaction that it speaks of, under a key that lets it be
// told once.

// tell sends a notice to everybody who hears of a channel.
func tell(ctx context.Context, tx pgx.Tx, channelID int64, n chat.Notice) error {
	people, err := channels.Listeners(ctx, tx, channelID)
	if err != nil {
		return err
	}
	return chat.NotifyTx(ctx, tx, n, people...)
}

const channelLostAtSQL = `
SELECT (extract(epoch FROM state_at) * 1000)::bigint
  FROM channels
 WHERE id = $1`

// notifyLost tells of each loss: one that comes soon after the right was given back is another one.
func notifyLost(ctx context.Context, tx pgx.Tx, channelID int64, state editorial.ChannelState) error {
	ch, err := channels.Get(ctx, tx, channelID)
	if err != nil {
		return err
	}
	var at int64
	if err := tx.QueryRow(ctx, channelLostAtSQL, channelID).Scan(&at); err != nil {
		return err
	}
	return tell(ctx, tx, channelID, chat.Notice{
		Key:  fmt.Sprintf("channel:%d:%s:%d", channelID, state, at),
		Code: "notice.channel_lost", Args: map[string]any{"Channel": ch.Title},
		Codes:   map[string]string{"Why": "failure." + string(state)},
		Buttons: []chat.NoticeButton{{Code: "button.check_rights", Data: chat.DataCheckRights(ch.ChatID)}},
	})
}

// notifyDoubt edits the cards, which ask then, and says that somebody has to look.
func notifyDoubt(ctx context.Context, tx pgx.Tx, draftID int64) error {
	if err := cardsFollow(ctx, tx, draftID); err != nil {
		return err
	}
	return tellOfDraft(ctx, tx, draftID, "doubt", "notice.doubt", nil)
}

// tellOfDraft names a draft and its channel, with a button to its card; once for
// each topic and transition of the draft.
func tellOfDraft(ctx context.Context, tx pgx.Tx, draftID int64, topic, code string, codes map[string]string) error {
	d, err := drafting.Get(ctx, tx, draftID)
	if err != nil {
		return err
	}
	ch, err := channels.Get(ctx, tx, d.ChannelID)
	if err != nil {
		return err
	}
	return tell(ctx, tx, d.ChannelID, chat.Notice{
		Key:  fmt.Sprintf("%s:%d:%d", topic, draftID, d.Transition),
		Code: code, Args: map[string]any{"Channel": ch.Title, "Draft": draftID},
		Codes:   codes,
		Buttons: []chat.NoticeButton{{Code: "button.draft", Data: chat.DataDraft(draftID)}},
	})
}

const sourceTitleSQL = `
SELECT coalesce(nullif(title, ''), host)
  FROM sources
 WHERE id = $1`

func notifyTrouble(ctx context.Context, tx pgx.Tx, t sources.Trouble) error {
	followers, err := channels.Followers(ctx, tx, t.SourceID)
	if err != nil {
		return err
	}
	var title string
	if err := tx.QueryRow(ctx, sourceTitleSQL, t.SourceID).Scan(&title); err != nil {
		return err
	}
	for _, channelID := range followers {
		n := chat.Notice{
			Key:  fmt.Sprintf("source:%d:%d:failing:%d", channelID, t.SourceID, t.Since.Unix()),
			Code: "notice.source_failing", Args: map[string]any{"Source": title},
			Codes: map[string]string{"Why": "error.source." + t.Code},
			Buttons: []chat.NoticeButton{
				{Code: "button.poll_now", Data: chat.DataSourceRetry(channelID, t.SourceID)},
				{Code: "button.pause", Data: chat.DataSourcePause(channelID, t.SourceID)},
			},
		}
		if t.Recovered {
			n.Key, n.Code, n.Buttons = fmt.Sprintf("source:%d:%d:recovered:%d", channelID, t.SourceID, t.Since.Unix()), "notice.source_recovered", nil
		}
		if err := tell(ctx, tx, channelID, n); err != nil {
			return err
		}
	}
	return nil
}

func notifyUnreadable(ctx context.Context, tx pgx.Tx, channelID, personID int64, url, code string) error {
	return chat.NotifyTx(ctx, tx, chat.Notice{
		Key:  fmt.Sprintf("own:%d:%s:%d", channelID, url, time.Now().Unix()/60),
		Code: "notice.own_failed", Codes: map[string]string{"Why": "error.source." + code},
	}, personID)
}

// notifyRewriteFailed tells who asked for another text that there is none.
func notifyRewriteFailed(ctx context.Context, tx pgx.Tx, draftID, personID int64, revision int, why string) error {
	return chat.NotifyTx(ctx, tx, chat.Notice{
		Key:  fmt.Sprintf("rewrite:%d:%d", draftID, revision),
		Code: "notice.rewrite_failed", Args: map[string]any{"Draft": draftID},
		Codes:   map[string]string{"Why": "rewrite_failed." + why},
		Buttons: []chat.NoticeButton{{Code: "button.draft", Data: chat.DataDraft(draftID)}},
	}, personID)
}

// notifyFailed edits the cards, and says that a post did not go out, unless
// people hear of the cause by itself or said so themselves.
func notifyFailed(ctx context.Context, tx pgx.Tx, draftID int64, why string) error {
	if err := cardsFollow(ctx, tx, draftID); err != nil {
		return err
	}
	switch why {
	case "no_rights", "kicked", "chat_not_found", "not_there", "settled_not_there":
		return nil
	}
	return tellOfDraft(ctx, tx, draftID, "failed", "notice.failed", map[string]string{"Why": "failure." + why})
}

func notifyBudget(ctx context.Context, tx pgx.Tx, channelID int64) error {
	return tell(ctx, tx, channelID, chat.Notice{
		Key: fmt.Sprintf("budget:%d:%s", channelID, time.Now().UTC().Format(time.DateOnly)), Code: "notice.budget",
	})
}

func notifyMissed(ctx context.Context, tx pgx.Tx, m desk.Missed) error {
	if err := cardsFollow(ctx, tx, m.DraftID); err != nil {
		return err
	}
	ch, err := channels.Get(ctx, tx, m.ChannelID)
	if err != nil {
		return err
	}
	n := chat.Notice{
		Key:  fmt.Sprintf("missed:%d:%d", m.DraftID, m.Was.Unix()),
		Code: "notice.missed_skipped", Args: map[string]any{"Draft": m.DraftID},
		Times: map[string]int64{"Was": m.Was.Unix()}, Zone: ch.TimeZone,
		Buttons: []chat.NoticeButton{{Code: "button.draft", Data: chat.DataDraft(m.DraftID)}},
	}
	if !m.Now.IsZero() {
		n.Code, n.Times["When"] = "notice.missed_moved", m.Now.Unix()
	}
	return tell(ctx, tx, m.ChannelID, n)
}

// notifyPilot says what the autopilot planned, with a button to take it back.
func notifyPilot(ctx context.Context, tx pgx.Tx, p desk.Pilot) error {
	ch, err := channels.Get(ctx, tx, p.ChannelID)
	if err != nil {
		return err
	}
	return tell(ctx, tx, p.ChannelID, chat.Notice{
		Key:  fmt.Sprintf("autopilot:%d:%d", p.DraftID, p.Transition),
		Code: "notice.autopilot", Args: map[string]any{"Draft": p.DraftID, "Channel": ch.Title},
		Times: map[string]int64{"When": p.At.Unix()}, Zone: ch.TimeZone,
		Buttons: []chat.NoticeButton{
			{Code: "card.undo", Data: chat.DataUndo(p.DraftID, p.Transition)},
			{Code: "button.draft", Data: chat.DataDraft(p.DraftID)},
		},
	})
}

// notifyRecap tells once a day what the autopilot did.
func notifyRecap(ctx context.Context, tx pgx.Tx, r desk.Recap) error {
	ch, err := channels.Get(ctx, tx, r.ChannelID)
	if err != nil {
		return err
	}
	n := chat.Notice{
		Key:  fmt.Sprintf("recap:%d:%s", r.ChannelID, r.Date),
		Code: "notice.recap", Args: map[string]any{"Channel": ch.Title, "Published": r.Published, "Scheduled": r.Planned},
		Zone:    ch.TimeZone,
		Buttons: []chat.NoticeButton{{Code: "button.plan", Data: chat.DataPlan(r.ChannelID)}},
	}
	for _, l := range r.Lines {
		mark := "✅"
		if l.Post.MessageID == 0 {
			mark = "🗓"
		}
		n.Lines = append(n.Lines, chat.NoticeLine{Mark: mark, At: l.At.Unix(), Title: l.Title, URL: l.Post.URL})
	}
	return tell(ctx, tx, r.ChannelID, n)
}

func notifyImported(ctx context.Context, tx pgx.Tx, jobID int64, r desk.ImportResult) error {
	return chat.NotifyTx(ctx, tx, chat.Notice{
		Key:  fmt.Sprintf("import:%d", jobID),
		Code: "notice.imported", Args: map[string]any{"Count": r.Added, "Known": r.Known, "Failed": r.Refused},
		Buttons: []chat.NoticeButton{{Code: "button.sources", Data: chat.DataSources(r.ChannelID)}},
	}, r.By)
}

func (p *parts) notifyPlan(ctx context.Context, tx pgx.Tx, e billing.Event) error {
	person, err := channels.Person(ctx, tx, e.PersonID)
	if err != nil && !errors.Is(err, channels.ErrNotFound) {
		return err
	}
	return chat.NotifyTx(ctx, tx, chat.Notice{
		Key:  "plan:" + e.Key,
		Code: "notice." + e.Code, Args: map[string]any{"Plan": e.Plan.Name(person.Language)}, Times: map[string]int64{"Until": e.Until.Unix()},
	}, e.PersonID)
}

// notifyFinding tells the operators of a payment that does not match.
func notifyFinding(ctx context.Context, tx pgx.Tx, f billing.Finding) error {
	return tellOperators(ctx, tx, chat.Notice{
		Key:  fmt.Sprintf("finding:%d", f.ID),
		Code: "notice.finding", Args: map[string]any{"Number": f.ID, "Detail": f.Detail, "Charge": f.ChargeID},
		Codes:   map[string]string{"What": "finding." + f.Finding},
		Buttons: []chat.NoticeButton{{Code: "button.findings", Data: chat.DataFindings()}},
	})
}

// notifyFit says what rests from now on, and what works again.
func notifyFit(ctx context.Context, tx pgx.Tx, personID int64, fit channels.Fit) error {
	at := time.Now().UnixNano() // this transaction alone changed those rows
	for _, n := range []struct {
		code              string
		channels, sources int
	}{
		{"notice.rests", len(fit.Resting), fit.SourcesResting},
		{"notice.wakes", len(fit.Woken), fit.SourcesWoken},
	} {
		if n.channels+n.sources == 0 {
			continue
		}
		err := chat.NotifyTx(ctx, tx, chat.Notice{
			Key: fmt.Sprintf("%s:%d", n.code, at), Code: n.code, Args: map[string]any{"Channels": n.channels, "Sources": n.sources},
		}, personID)
		if err != nil {
			return err
		}
	}
	return nil
}

// notifySpent says once a month that a meter is used up.
func (p *parts) notifySpent(ctx context.Context, tx pgx.Tx, channelID int64, meter string) error {
	payer, err := channels.Payer(ctx, tx, channelID)
	if err != nil {
		return err
	}
	st, err := p.billing.StandingOf(ctx, tx, payer)
	if err != nil {
		return err
	}
	limit := st.Plan.Limit(meter)
	return chat.NotifyTx(ctx, tx, chat.Notice{
		Key:  fmt.Sprintf("spent:%s:%s:%d", meter, time.Now().UTC().Format("2006-01"), limit),
		Code: "notice.spent_" + meter, Args: map[string]any{"Limit": limit},
	}, payer)
}

// notifyRestored says what a look after a restored backup changed in a channel,
// and that it publishes nothing where not all of it could be read. Where all was
// read and nothing had to be changed there is nothing to say.
func notifyRestored(ctx context.Context, tx pgx.Tx, r restore.Report) error {
	changed := len(r.Found) + len(r.Alike) + len(r.Returned)
	if r.Released && changed == 0 {
		return nil
	}
	n := chat.Notice{
		Key: fmt.Sprintf("restore:%d:%d", r.RestoreID, r.ChannelID), Code: "notice.restored",
		Args:    map[string]any{"Found": len(r.Found), "Alike": len(r.Alike), "Returned": len(r.Returned)},
		Buttons: []chat.NoticeButton{{Code: "button.plan", Data: chat.DataPlan(r.ChannelID)}},
	}
	if !r.Released {
		n.Code = "notice.restored_held"
		n.Buttons = append(n.Buttons, chat.NoticeButton{Code: "button.release_channel", Data: chat.DataRelease(r.ChannelID)})
	}
	return tellOf(ctx, tx, r.ChannelID, n)
}

// notifyReleased says that a channel which was held after a restore publishes again.
func notifyReleased(ctx context.Context, tx pgx.Tx, restoreID, channelID int64) error {
	return tellOf(ctx, tx, channelID, chat.Notice{
		Key: fmt.Sprintf("restore:%d:%d:released", restoreID, channelID), Code: "notice.restored_released",
		Buttons: []chat.NoticeButton{{Code: "button.plan", Data: chat.DataPlan(channelID)}},
	})
}

// tellOf is tell with the channel's title as an argument.
func tellOf(ctx context.Context, tx pgx.Tx, channelID int64, n chat.Notice) error {
	ch, err := channels.Get(ctx, tx, channelID)
	if err != nil {
		return err
	}
	if n.Args == nil {
		n.Args = map[string]any{}
	}
	n.Args["Channel"] = ch.Title
	return tell(ctx, tx, channelID, n)
}

const operatorsSQL = `
SELECT id
  FROM people
 WHERE access = 'operator'
   AND blocked_at IS NULL`

// tellOperators says the same to each of them.
func tellOperators(ctx context.Context, tx pgx.Tx, n chat.Notice) error {
	rows, err := tx.Query(ctx, operatorsSQL)
	if err != nil {
		return err
	}
	operators, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	return chat.NotifyTx(ctx, tx, n, operators...)
}

func notifyIncident(ctx context.Context, tx pgx.Tx, i watch.Incident) error {
	code := incidentCode(i.Name)
	n := chat.Notice{
		Key:  fmt.Sprintf("incident:%d:open", i.ID),
		Code: "notice.incident", Args: i.Args, Codes: map[string]string{"What": code, "Mend": code + ".mend"}, Urgent: true,
		Buttons: []chat.NoticeButton{{Code: "button.ops", Data: chat.DataOps()}},
	}
	if n.Args == nil {
		n.Args = map[string]any{}
	}
	n.Args["Section"] = i.Name
	if !i.ClosedAt.IsZero() {
		n.Key, n.Code, n.Buttons = fmt.Sprintf("incident:%d:closed", i.ID), "notice.incident_over", nil
		n.Codes = map[string]string{"What": code + ".over"}
	}
	return tellOperators(ctx, tx, n)
}

// incidentCode is where the texts of an alert stand: PostonceQueueStuck is
// incident.queue_stuck, with .mend and .over below it.
func incidentCode(name string) string {
	var b strings.Builder
	b.WriteString("incident.")
	for i, r := range strings.TrimPrefix(name, "Postonce") {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
