package chat

import (
	"context"
	"strings"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
)

const sourcesPerPage = 8

// maxAdds bounds how many addresses one message may add: more is what OPML is for.
const maxAdds = 10

// add answers /add <address…>; without one it asks.
func (c *Chat) add(ctx context.Context, t *turn) error {
	ch, err := c.current(ctx, t)
	if err != nil {
		return err
	}
	if t.argument == "" {
		return c.askSource(ctx, t, ch.ID)
	}
	return c.addAll(ctx, t, ch.ID, addressWords(t.argument))
}

func (c *Chat) askSource(ctx context.Context, t *turn, channel int64) error {
	return t.ask(ctx, stepAdd, dialogData{Channel: channel}, message{text: t.HTML("add.ask"), rows: [][]button{row(t.cancel(stepAdd))}})
}

// sourceAsked is the button for it. Tap: sa:<channel>.
func (c *Chat) sourceAsked(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	return c.askSource(ctx, t, ch.ID)
}

// sourceWritten takes the next message for addresses.
func (c *Chat) sourceWritten(ctx context.Context, t *turn) error {
	addresses := linksOf(t.msg)
	if len(addresses) == 0 {
		addresses = addressWords(t.msg.Text)
	}
	channel := t.dialog.data.Channel
	if err := c.dialogs.close(ctx, t.by()); err != nil {
		return err
	}
	return c.addAll(ctx, t, channel, addresses)
}

// addressWords are the words of a text, each to be judged as an address; a text
// without anything like one is one wrong address, not as many as it has words.
func addressWords(text string) []string {
	if !strings.ContainsAny(text, "./@:") {
		return []string{text}
	}
	return strings.Fields(text)
}

// addAll follows each address and says in one message what became of each. A
// wrong one costs the others nothing.
func (c *Chat) addAll(ctx context.Context, t *turn, channel int64, addresses []string) error {
	t.typing(ctx)
	var lines []texts.HTML
	added := 0
	for _, a := range first(addresses, maxAdds) {
		s, err := c.desk.AddOneOf(ctx, t.by(), channel, a, len(addresses), added)
		line, fatal := addLine(t, a, s, err)
		if fatal != nil {
			return fatal
		}
		if err == nil && !s.Already {
			added++
		}
		lines = append(lines, line)
	}
	if len(addresses) > maxAdds {
		lines = append(lines, t.HTML("add.too_many", texts.Args{"Count": len(addresses) - maxAdds}))
	}
	if added > 0 {
		lines = append(lines, t.HTML("add.next"))
	}
	return t.show(ctx, message{
		text: joinHTML("\n\n", lines...),
		rows: [][]button{row(button{text: t.Plain("button.sources"), data: data("sl", channel, 0)}, button{text: t.Plain("button.add_source"), data: data("sa", channel)})},
	})
}

// addLine says what became of one address; an error that is not the address's is fatal.
func addLine(t *turn, address string, s desk.SourceView, err error) (texts.HTML, error) {
	if err == nil {
		code := "add.done"
		if s.Already {
			code = "add.already"
		}
		return t.HTML(code, texts.Args{"Source": sourceName(s), "Kind": kindWord(t, s.Kind)}), nil
	}
	code := desk.CodeOf(err)
	if !strings.HasPrefix(code, desk.CodeSource) && code != desk.CodeLimit {
		return "", err
	}
	return t.HTML("add.failed", texts.Args{"Address": shorten(address, 80), "Why": t.why(err)}), nil
}

// why is the text of a desk error.
func (t *turn) why(err error) texts.HTML {
	code, args := errorText(t, err)
	return t.HTML(code, args)
}

func kindWord(t *turn, kind string) string {
	if code := "kind." + kind; t.Has(code) {
		return t.Plain(code)
	}
	return kind
}

func sourceName(s desk.SourceView) string {
	if s.Title != "" {
		return shorten(s.Title, 60)
	}
	return shorten(s.Address, 60)
}

// sources answers /sources.
func (c *Chat) sources(ctx context.Context, t *turn) error {
	ch, err := c.current(ctx, t)
	if err != nil {
		return err
	}
	return c.sourceList(ctx, t, ch.ID, 0)
}

// sourceList shows a page of sources with their health. Tap: sl:<channel>:<page>.
func (c *Chat) sourceList(ctx context.Context, t *turn, channel int64, n int) error {
	ch, err := c.desk.Channel(ctx, t.by(), channel)
	if err != nil {
		return err
	}
	list, err := c.desk.Sources(ctx, t.by(), channel)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return c.packs(ctx, t, "sources.none")
	}
	part, n, more := page(list, n, sourcesPerPage)
	var lines []texts.HTML
	var numbers []button
	for i, s := range part {
		at := n*sourcesPerPage + i + 1
		lines = append(lines, t.HTML("sources.line", texts.Args{"N": at, "Mark": mark(s), "Title": sourceName(s), "Health": health(t, s)}))
		numbers = append(numbers, button{text: fmtInt(at), data: data("so", channel, s.ID)})
	}
	m := message{text: t.HTML("sources.list", texts.Args{"Channel": ch.Title, "Count": len(list), "List": joinHTML("\n", lines...)})}
	m.rows = append(columns(4, numbers), pager(n, more, func(p int) string { return data("sl", channel, p) }),
		row(button{text: t.Plain("button.add_source"), data: data("sa", channel)}, button{text: t.Plain("button.packs"), data: data("pk")}),
		row(button{text: t.Plain("button.channel"), data: data("ch", channel)}))
	return t.show(ctx, m)
}

// mark is a source's health in one sign.
func mark(s desk.SourceView) string {
	switch {
	case s.Paused || s.State == "paused":
		return "⏸"
	case s.Rests:
		return "💤"
	case s.Error != "" || s.State == "gone":
		return "⚠️"
	}
	return "✅"
}

// health is the same in words.
func health(t *turn, s desk.SourceView) string {
	switch {
	case s.Paused || s.State == "paused":
		return t.Plain("health.paused")
	case s.Rests:
		return t.Plain("health.rests")
	case s.Error != "":
		return t.Plain("health.error", texts.Args{"Why": sourceError(t, s)})
	case s.LastNewAt.IsZero():
		return t.Plain("health.waiting", texts.Args{"Next": t.In(s.NextPollAt, t.now)})
	}
	return t.Plain("health.ok", texts.Args{"Ago": t.Ago(s.LastNewAt, t.now), "Next": t.In(s.NextPollAt, t.now)})
}

func sourceError(t *turn, s desk.SourceView) string {
	if code := desk.CodeSource + s.Error; t.Has(code) {
		return t.Plain(code, texts.Args{"Address": s.Address, "address": s.Address})
	}
	return s.ErrorText
}

// one finds a source among those that the channel follows.
func (c *Chat) one(ctx context.Context, t *turn, d tapped) (desk.SourceView, error) {
	list, err := c.desk.Sources(ctx, t.by(), d.int64(0))
	if err != nil {
		return desk.SourceView{}, err
	}
	for _, s := range list {
		if s.ID == d.int64(1) {
			return s, nil
		}
	}
	return desk.SourceView{}, &desk.Error{Code: desk.CodeNotYours}
}

// sourceScreen shows one source. Tap: so:<channel>:<source>.
func (c *Chat) sourceScreen(ctx context.Context, t *turn, d tapped) error {
	s, err := c.one(ctx, t, d)
	if err != nil {
		return err
	}
	return t.show(ctx, sourceMessage(t, d.int64(0), s))
}

func sourceMessage(t *turn, channel int64, s desk.SourceView) message {
	m := message{text: t.HTML("source.screen", texts.Args{
		"Mark": mark(s), "Title": texts.Link(sourceName(s), s.SiteURL), "Kind": kindWord(t, s.Kind), "Address": shorten(s.Address, 120),
		"Health": health(t, s), "Weight": s.Weight,
		"Items": t.HTML("count.items", texts.Args{"Count": s.Items}), "Drafts": t.HTML("count.drafts", texts.Args{"Count": s.Drafts}),
		"Filters": filters(t, s),
	})}
	weight := func(n int) button {
		text := fmtInt(n) + " %"
		if n == s.Weight {
			text = "✓ " + text
		}
		return button{text: text, data: data("sw", channel, s.ID, n)}
	}
	pause := button{text: t.Plain("button.pause"), data: data("sp", channel, s.ID)}
	if s.Paused {
		pause = button{text: t.Plain("button.resume"), data: data("sr", channel, s.ID)}
	}
	m.rows = [][]button{
		row(weight(50), weight(100), weight(150), weight(200)),
		row(button{text: t.Plain("button.must"), data: data("sf", channel, s.ID, "must")},
			button{text: t.Plain("button.never"), data: data("sf", channel, s.ID, "never")},
			button{text: t.Plain("button.pattern"), data: data("sf", channel, s.ID, "pattern")}),
		row(button{text: t.Plain("button.test"), data: data("st", channel, s.ID)}, button{text: t.Plain("button.poll_now"), data: data("sn", channel, s.ID)}),
		row(pause, button{text: t.Plain("button.remove"), data: data("sd", channel, s.ID)}),
		row(button{text: t.Plain("button.back"), data: data("sl", channel, 0)}),
	}
	return m
}

func filters(t *turn, s desk.SourceView) texts.HTML {
	var out []texts.HTML
	if len(s.MustWords) > 0 {
		out = append(out, t.HTML("filter.must", texts.Args{"Words": strings.Join(s.MustWords, ", ")}))
	}
	if len(s.NeverWords) > 0 {
		out = append(out, t.HTML("filter.never", texts.Args{"Words": strings.Join(s.NeverWords, ", ")}))
	}
	if s.Pattern != "" {
		out = append(out, t.HTML("filter.pattern", texts.Args{"Pattern": s.Pattern}))
	}
	if len(out) == 0 {
		return t.HTML("filter.none")
	}
	return joinHTML("\n", out...)
}
