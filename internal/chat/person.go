package chat

import (
	"context"
	"strings"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/editorial"
)

// language answers /language.
func (c *Chat) language(ctx context.Context, t *turn) error {
	var list []button
	for _, l := range editorial.InterfaceLanguages() {
		text := l.Name
		if l.Tag == t.Language {
			text = "✓ " + text
		}
		list = append(list, button{text: text, data: data("la", l.Tag)})
	}
	return t.show(ctx, message{text: t.HTML("language.ask"), rows: [][]button{list}})
}

// languageChosen sets it. Tap: la:<language>.
func (c *Chat) languageChosen(ctx context.Context, t *turn, d tapped) error {
	tag := d.text(0)
	if err := c.desk.SetLanguage(ctx, t.by(), tag); err != nil {
		return err
	}
	t.Locale = c.texts.For(tag)
	c.ownMenuButton(ctx, t)
	return t.show(ctx, message{text: t.HTML("language.done")})
}

// deleteAsked answers /delete_me: what would go and what would stay.
func (c *Chat) deleteAsked(ctx context.Context, t *turn) error {
	return t.show(ctx, message{
		text: t.HTML("delete_me.ask"),
		rows: [][]button{row(button{text: t.Plain("delete_me.yes"), data: data("dm")}, t.cancel(noStep))},
	})
}

// deleted erases the person's data and says what stays and why. Tap: dm.
func (c *Chat) deleted(ctx context.Context, t *turn, _ tapped) error {
	res, err := c.desk.DeleteMe(ctx, t.by())
	if err != nil {
		return err
	}
	if err := c.forget(ctx, t.by()); err != nil {
		return err
	}
	words := func(prefix string, codes []string) texts.HTML {
		var out []string
		for _, code := range codes {
			s := prefix + code
			if t.Has(s) {
				out = append(out, "• "+t.Plain(s))
			} else {
				out = append(out, "• "+code)
			}
		}
		if len(out) == 0 {
			out = []string{"• " + t.Plain("delete_me.nothing")}
		}
		return texts.Escape(strings.Join(out, "\n"))
	}
	return t.show(ctx, message{text: t.HTML("delete_me.done", texts.Args{
		"Channels": t.HTML("count.channels", texts.Args{"Count": res.Channels}),
		"Erased":   words("erased.", res.Erased), "Stays": words("stays.", res.Stays),
	})})
}

// forget removes what the chat itself keeps of a person.
func (c *Chat) forget(ctx context.Context, person int64) error {
	for _, query := range []string{dialogCloseSQL, pastesForgetSQL, cardsForgetSQL} {
		if _, err := c.pool.Exec(ctx, query, person); err != nil {
			return err
		}
	}
	return nil
}
