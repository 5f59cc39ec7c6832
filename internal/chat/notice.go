package chat

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/queue"
)

// Notice is something that the bot says by itself. Code is a text of the
// catalogues below "notice.", Args fill it; a time.Time is shown in Zone.
type Notice struct {
	// Key names the occasion for ever, such as "source:12:failing:3".
	Key      string            `json:"key"`
	PersonID int64             `json:"person_id"`
	Code     string            `json:"code"`
	Args     map[string]any    `json:"args,omitempty"`
	Times    map[string]int64  `json:"times,omitempty"` // Unix seconds
	Codes    map[string]string `json:"codes,omitempty"` // arguments that are codes themselves
	Zone     string            `json:"zone,omitempty"`
	Lines    []NoticeLine      `json:"lines,omitempty"`
	Buttons  []NoticeButton    `json:"buttons,omitempty"`
	// Urgent goes by the critical tier, past what waits in the others: the news
	// that a tier is stuck must not wait in it.
	Urgent bool `json:"urgent,omitempty"`
}

// NoticeLine is a post below a notice; URL may be empty.
type NoticeLine struct {
	Mark  string `json:"mark"`
	At    int64  `json:"at"` // Unix seconds
	Title string `json:"title"`
	URL   string `json:"url,omitempty"`
}

// NoticeButton is a button below a notice: a code of the catalogues and one of
// the Data… functions.
type NoticeButton struct {
	Code string `json:"code"`
	Data string `json:"data"`
}

// Data of the buttons that notices need.

// DataDraft opens a draft's card.
func DataDraft(draft int64) string { return data("dr", draft) }

// DataUndo takes a draft back out of the plan.
func DataUndo(draft int64, transition int) string { return data("un", draft, transition) }

// DataSource opens a source of a channel.
func DataSource(channel, source int64) string { return data("so", channel, source) }

// DataSourceRetry polls a source soon.
func DataSourceRetry(channel, source int64) string { return data("sn", channel, source) }

// DataSourcePause pauses a source in a channel.
func DataSourcePause(channel, source int64) string { return data("sp", channel, source) }

// DataSources lists the sources of a channel.
func DataSources(channel int64) string { return data("sl", channel, 0) }

// DataCheckRights looks again at what the bot may do in a channel.
func DataCheckRights(chatID int64) string { return data("lk", chatID) }

// DataRelease asks whether a channel that is held after a restore may go on.
func DataRelease(channel int64) string { return data("rl", channel) }

// DataPlan opens a channel's plan.
func DataPlan(channel int64) string { return data("pl", channel, 0) }

// DataStatus opens a channel's status.
func DataStatus(channel int64) string { return data("ss", channel) }

// DataFindings opens the payments that do not match.
func DataFindings() string { return data("of") }

// DataOps opens the operator's page.
func DataOps() string { return data("op") }

// NoticeKind sends notices, each once.
func (c *Chat) NoticeKind() queue.Kind[Notice] {
	k := noticeKind()
	k.Work = c.workNotice
	return k
}

// AlarmKind sends urgent notices.
func (c *Chat) AlarmKind() queue.Kind[Notice] {
	k := alarmKind()
	k.Work = c.workNotice
	return k
}

func alarmKind() queue.Kind[Notice] {
	k := noticeKind()
	k.Name, k.Tier = "alarm", queue.Critical
	return k
}

func noticeKind() queue.Kind[Notice] {
	return queue.Kind[Notice]{
		Name: "notice", Tier: queue.Default, Policy: queue.Ledger, Class: queue.Courtesy,
		Key: func(n Notice) string { return fmt.Sprintf("%s:%d", n.Key, n.PersonID) },
	}
}

// NotifyTx enqueues notices in the caller's transaction, one per person.
func NotifyTx(ctx context.Context, tx pgx.Tx, n Notice, people ...int64) error {
	list := make([]Notice, len(people))
	for i, p := range people {
		list[i] = n
		list[i].PersonID = p
	}
	kind := noticeKind()
	if n.Urgent {
		kind = alarmKind()
	}
	_, err := kind.EnqueueManyTx(ctx, tx, list)
	return err
}

func (c *Chat) workNotice(ctx context.Context, job *queue.Job[Notice]) error {
	n := job.Args
	t, err := c.speakTo(ctx, job, n.PersonID)
	if err != nil {
		return err
	}
	args := texts.Args{}
	for k, v := range n.Args {
		args[k] = v
		if f, ok := v.(float64); ok && f == float64(int(f)) {
			args[k] = int(f) // JSON knows no integers, plurals do
		}
	}
	for k, v := range n.Times {
		args[k] = t.when(time.Unix(v, 0), n.Zone)
	}
	for k, v := range n.Codes {
		if t.Has(v) {
			args[k] = t.Plain(v, args)
		} else {
			args[k] = v
		}
	}
	m := message{text: t.HTML(n.Code, args)}
	for _, l := range n.Lines {
		m.text = joinHTML("\n", m.text, t.HTML("notice.line", texts.Args{
			"Mark": l.Mark, "When": t.when(time.Unix(l.At, 0), n.Zone), "Title": texts.Link(shorten(l.Title, 100), l.URL),
		}))
	}
	for _, b := range n.Buttons {
		m.rows = append(m.rows, row(button{text: t.Plain(b.Code, args), data: b.Data}))
	}
	return c.courtesy(ctx, n.PersonID, c.deliver(ctx, job, delivery{key: "notice:" + job.Key, person: n.PersonID, msg: m}))
}
