package drafting_test

import (
	"strings"
	"testing"

	"github.com/postonce/postonce/internal/drafting"
)

const learnedVoice = `{"posts": 9, "units": 200, "sentences": 3, "emoji": "some", "opens": "emoji", "lead": "⚡", "closes": "question",
	"hashtags": ["orbit"], "always_tags": true, "footer": "Read us <daily>", "edits": {"sober": true}}`

// The composer without a model follows what was learned, until the owner says otherwise.
func TestADraftFollowsTheVoiceAndTheOwnerWins(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	write := func(set string) string {
		t.Helper()
		ch := b.channel("en")
		b.exec(`UPDATE channels SET hashtags = '{}', voice = $2::jsonb WHERE id = $1`, ch, learnedVoice)
		if set != "" {
			b.exec(`UPDATE channels SET `+set+` WHERE id = $1`, ch)
		}
		n := int(b.id(`SELECT count(*) FROM drafts`))
		b.ask(drafting.DraftArgs{ChannelID: ch, StoryID: b.story(ch, rocketTitle, rocketText), Score: 77})
		b.toldOf(n + 1)
		b.quiet()
		return b.text(`SELECT html FROM draft_revisions ORDER BY draft_id DESC LIMIT 1`)
	}
	has := func(html, what string, want bool) {
		t.Helper()
		if strings.Contains(html, what) != want {
			t.Errorf("%q in the draft: %t, want %t:\n%s", what, !want, want, html)
		}
	}
	html := write("")
	has(html, "⚡ Rocket Lab", true)
	has(html, "#orbit", true)
	has(html, "Read us &lt;daily&gt;", true)
	has(html, "flawless flight", false) // about 200 characters
	html = write(`tone = '{No emoji,Длина не важна}', hashtags = '{space}', footer = 'Mine'`)
	has(html, "⚡", false)
	has(html, "#space", true)
	has(html, "#orbit", false)
	has(html, "Mine", true)
	has(html, "Read us", false)
	has(html, "flawless flight", true)
	html = write(`voice = voice || '{"forgotten": ["opens", "hashtags", "footer"]}'`)
	has(html, "⚡", false)
	has(html, "#orbit", false)
	has(html, "Read us", false)
}

// The model hears the habits, and that the owner's rules come before them.
func TestTheModelHearsTheVoice(t *testing.T) {
	t.Parallel()
	m := newModel(t, func(int, string) (int, string) { return 200, says(`{"skip":true,"reason":"x"}`) })
	b := newBundle(t, withModel(m.srv.URL))
	ch := b.channel("en")
	b.exec(`UPDATE channels SET tone = '{No emoji}', voice = $2::jsonb WHERE id = $1`, ch, learnedVoice)
	b.ask(drafting.DraftArgs{ChannelID: ch, StoryID: b.story(ch, rocketTitle, rocketText), Score: 77})
	b.toldOf(1)
	for what, want := range map[string]bool{
		"Habit of the channel: About 200 characters in 3 sentences.": true,
		"Habit of the channel: Close with a question":                true,
		"Habit of the channel: Sober":                                true,
		"open with an emoji":                                         false,
		"Style: No emoji":                                            true,
		"the Style line holds":                                       true,
	} {
		if strings.Contains(m.bodies[0], what) != want {
			t.Errorf("%q: %t, want %t", what, !want, want)
		}
	}
}
