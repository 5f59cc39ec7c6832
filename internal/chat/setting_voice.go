package chat

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/chat/texts"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

// voiceScreen lists what was learned from the channel's posts and from edits, each
// line with a button that takes it out.
func (c *Chat) voiceScreen(ctx context.Context, t *turn, ch editorial.Channel) error {
	list, err := c.desk.Voice(ctx, t.by(), ch.ID)
	if err != nil {
		return err
	}
	return t.show(ctx, voiceMessage(t, ch, list))
}

func voiceMessage(t *turn, ch editorial.Channel, list []desk.VoiceLine) message {
	said := make([]string, len(list))
	out := make([]button, len(list))
	for i, l := range list {
		n := strconv.Itoa(i + 1)
		said[i] = n + ". " + voiceWords(t, l)
		out[i] = button{text: "✕ " + n, data: data("vf", ch.ID, l.Key)}
	}
	m := message{text: t.HTML("setting.screen", texts.Args{
		"Channel": ch.Title, "Title": t.HTML("setting.voice"), "Help": t.HTML("setting.voice.help"), "Value": orEmpty(t, joinLines(said)),
	})}
	m.rows = columns(5, out)
	more := row(button{text: t.Plain("voice.anew"), data: data("vl", ch.ID)})
	if len(list) > 0 {
		more = append(more, button{text: t.Plain("voice.forget_all"), data: data("vf", ch.ID, desk.VoiceAll)})
	}
	m.rows = append(m.rows, more, row(button{text: t.Plain("button.back"), data: data("cs", ch.ID, "tone")}))
	return m
}

// joinLines puts a list below the word before it.
func joinLines(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "\n" + strings.Join(list, "\n")
}

// voiceWords is one line in words; what the channel itself writes is quoted.
func voiceWords(t *turn, l desk.VoiceLine) string {
	code := "voice." + l.Key
	switch l.Value {
	case "none", "some", "often":
		code += "." + l.Value
	}
	if l.Key == "opens" && l.Value == "" {
		code = "voice.opens_any"
	}
	return t.Plain(code, texts.Args{"N": l.N, "Value": shorten(l.Value, 80)})
}

// voiceForgotten takes a line out. Tap: vf:<channel>:<key>.
func (c *Chat) voiceForgotten(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	if _, err := c.desk.ForgetVoice(ctx, t.by(), ch.ID, d.text(1)); err != nil {
		return err
	}
	if err := t.toast(ctx, "setting.saved"); err != nil {
		return err
	}
	return c.voiceScreen(ctx, t, ch.Channel)
}

// voiceAnew asks to learn anew. Tap: vl:<channel>.
func (c *Chat) voiceAnew(ctx context.Context, t *turn, d tapped) error {
	ch, err := c.desk.Channel(ctx, t.by(), d.int64(0))
	if err != nil {
		return err
	}
	job, err := c.desk.RelearnVoice(ctx, t.by(), ch.ID)
	if err != nil {
		return err
	}
	if err := t.toast(ctx, "voice.learning"); err != nil {
		return err
	}
	if job.Fresh {
		return t.show(ctx, voiceMessage(t, ch.Channel, nil))
	}
	return c.voiceScreen(ctx, t, ch.Channel)
}

// keepOwnPost lets a forwarded post of the person's own channel teach its voice.
func (c *Chat) keepOwnPost(ctx context.Context, t *turn, ch *desk.ChannelView) error {
	text := messageHTML(t.msg)
	if text == "" || !ch.Role.May(editorial.Editor) {
		return nil
	}
	origin := t.msg.ForwardOrigin.MessageOriginChannel
	return c.desk.LearnFromPost(ctx, t.by(), ch.ID, desk.Forwarded{
		ChatID: origin.Chat.ID, MessageID: int64(origin.MessageID), ChatTitle: origin.Chat.Title, Username: origin.Chat.Username,
		HTML: text, At: time.Unix(int64(origin.Date), 0),
	})
}
