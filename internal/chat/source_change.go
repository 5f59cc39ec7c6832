package chat

import (
	"context"
	"strings"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
)

// sourceChange applies a change and shows the source again.
func (c *Chat) sourceChange(ctx context.Context, t *turn, d tapped, change desk.SourceChange) error {
	s, err := c.desk.SetSource(ctx, t.by(), d.int64(0), d.int64(1), change)
	if err != nil {
		return err
	}
	if err := t.toast(ctx, "setting.saved"); err != nil {
		return err
	}
	return t.show(ctx, sourceMessage(t, d.int64(0), s))
}

// weightSet changes how much a source counts. Tap: sw:<channel>:<source>:<percent>.
func (c *Chat) weightSet(ctx context.Context, t *turn, d tapped) error {
	n := d.int(2)
	return c.sourceChange(ctx, t, d, desk.SourceChange{Weight: &n})
}

// sourcePaused and its twin. Taps: sp:<channel>:<source>, sr:….
func (c *Chat) sourcePausing(stop bool) tapHandler {
	return func(ctx context.Context, t *turn, d tapped) error {
		do := c.desk.ResumeSource
		if stop {
			do = c.desk.PauseSource
		}
		if _, err := do(ctx, t.by(), d.int64(0), d.int64(1)); err != nil {
			return err
		}
		return c.sourceScreen(ctx, t, d)
	}
}

// sourceRetried polls a source soon. Tap: sn:<channel>:<source>.
func (c *Chat) sourceRetried(ctx context.Context, t *turn, d tapped) error {
	if _, err := c.desk.RetrySource(ctx, t.by(), d.int64(0), d.int64(1)); err != nil {
		return err
	}
	return t.toast(ctx, "source.polling")
}

// removeAsked asks once more. Tap: sd:<channel>:<source>.
func (c *Chat) removeAsked(ctx context.Context, t *turn, d tapped) error {
	s, err := c.one(ctx, t, d)
	if err != nil {
		return err
	}
	return t.show(ctx, message{
		text: t.HTML("source.remove", texts.Args{"Title": sourceName(s)}),
		rows: [][]button{row(
			button{text: t.Plain("button.remove_yes"), data: data("sd1", d.int64(0), s.ID)},
			button{text: t.Plain("button.back"), data: data("so", d.int64(0), s.ID)})},
	})
}

// sourceRemoved lets go of a source. Tap: sd1:<channel>:<source>.
func (c *Chat) sourceRemoved(ctx context.Context, t *turn, d tapped) error {
	if _, err := c.desk.RemoveSource(ctx, t.by(), d.int64(0), d.int64(1)); err != nil {
		return err
	}
	if err := t.toast(ctx, "source.removed"); err != nil {
		return err
	}
	return c.sourceList(ctx, t, d.int64(0), 0)
}

// sourceTested says how the last items would score. Tap: st:<channel>:<source>.
func (c *Chat) sourceTested(ctx context.Context, t *turn, d tapped) error {
	v, err := c.desk.TestSource(ctx, t.by(), d.int64(0), d.int64(1))
	if err != nil {
		return err
	}
	var lines []texts.HTML
	for _, i := range v.Items {
		lines = append(lines, t.HTML("source.test_line", texts.Args{"Score": i.Score, "Title": texts.Link(shorten(i.Title, 100), i.URL), "Why": reasonsText(t.Locale, i.Reasons)}))
	}
	if len(lines) == 0 {
		lines = append(lines, t.HTML("source.test_none"))
	}
	return t.show(ctx, message{
		text: t.HTML("source.test", texts.Args{"Title": sourceName(v.Source), "List": joinHTML("\n\n", lines...)}),
		rows: [][]button{row(button{text: t.Plain("button.back"), data: data("so", d.int64(0), d.int64(1))})},
	})
}

// filterAsked waits for a filter. Tap: sf:<channel>:<source>:<must|never|pattern>.
func (c *Chat) filterAsked(ctx context.Context, t *turn, d tapped) error {
	s, err := c.one(ctx, t, d)
	if err != nil {
		return err
	}
	code := "filter.ask." + d.text(2)
	if !t.Has(code) {
		return t.toast(ctx, "tap.unknown")
	}
	choices := row(t.cancel(stepFilter))
	if map[string]bool{"must": len(s.MustWords) > 0, "never": len(s.NeverWords) > 0, "pattern": s.Pattern != ""}[d.text(2)] {
		choices = append(row(button{text: t.Plain("button.clear"), data: data("sc", d.int64(0), s.ID, d.text(2))}), choices...)
	}
	return t.ask(ctx, stepFilter, dialogData{Channel: d.int64(0), Source: s.ID, Field: d.text(2)}, message{
		text: t.HTML(code, texts.Args{"Title": sourceName(s)}),
		rows: [][]button{choices},
	})
}

// filterCleared empties one. Tap: sc:<channel>:<source>:<filter>.
func (c *Chat) filterCleared(ctx context.Context, t *turn, d tapped) error {
	if err := c.dialogs.close(ctx, t.by()); err != nil {
		return err
	}
	return c.sourceChange(ctx, t, d, filterChange(d.text(2), ""))
}

// filterWritten takes the message for it.
func (c *Chat) filterWritten(ctx context.Context, t *turn) error {
	w := t.dialog.data
	s, err := c.desk.SetSource(ctx, t.by(), w.Channel, w.Source, filterChange(w.Field, t.msg.Text))
	if err != nil {
		return err
	}
	if err := c.dialogs.close(ctx, t.by()); err != nil {
		return err
	}
	return t.send(ctx, sourceMessage(t, w.Channel, s))
}

func filterChange(field, text string) desk.SourceChange {
	words := []string{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == ';' }) {
		if w = strings.TrimSpace(w); w != "" {
			words = append(words, w)
		}
	}
	switch field {
	case "must":
		return desk.SourceChange{MustWords: &words}
	case "never":
		return desk.SourceChange{NeverWords: &words}
	}
	text = strings.TrimSpace(text)
	return desk.SourceChange{Pattern: &text}
}
