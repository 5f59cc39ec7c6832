package chat_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/postonce/postonce/internal/sandbox/play"
)

// works gives a person a linked channel that follows one source, so that
// onboarding is behind them.
func (a *actor) works(title, username string) (play.Chat, int64) {
	a.b.t.Helper()
	ctx := a.b.t.Context()
	ch, err := a.NewChannel(ctx, title, username)
	if err != nil {
		a.b.t.Fatal(err)
	}
	if err := a.b.stage.Do(ctx, http.MethodPost, fmt.Sprintf("/sandbox/api/channels/%d", ch.ID), map[string]any{"bot_status": "administrator"}, nil); err != nil {
		a.b.t.Fatal(err)
	}
	if _, err := a.Send(ctx, "/language"); err != nil {
		a.b.t.Fatal(err)
	}
	a.settled()
	res, err := a.b.desk.Link(ctx, a.ID, ch.ID)
	if err != nil {
		a.b.t.Fatal(err)
	}
	if _, err := a.b.pool.Exec(ctx, `INSERT INTO subscriptions (channel_id, source_id, created_by) VALUES ($1, 999, $2)`, res.Channel.ID, a.ID); err != nil {
		a.b.t.Fatal(err)
	}
	for _, m := range a.messages() {
		a.seen[m.ID] = m
	}
	return ch, res.Channel.ID
}

func TestSettingsByButtonsAndWords(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	ann.says("/start")
	ann.says("/channels")
	ann.taps("✓ Space Daily")
	ann.taps("Language")
	ann.taps("Deutsch")
	ann.taps("‹ Back")
	ann.taps("Look for")
	ann.taps("✏️ Write it")
	ann.says("rockets, <moon> & stars")
	ann.taps("Clear")
	ann.taps("‹ Back")
	ann.taps("Time zone")
	ann.taps("✏️ Write it")
	ann.says("Atlantis")
	ann.says("lisbon")
	ann.taps("‹ Back")
	ann.taps("🗓 Slots")
	ann.taps("2 posts a day")
	ann.taps("Sat")
	ann.taps("+ 09:00")
	ann.taps("✏️ Write it")
	ann.says("7:15 22")
	ann.taps("‹ Back")
	ann.taps("‹ Back")
	ann.taps("Autopilot")
	ann.taps("After some minutes unless I object")
	ann.taps("Time to object")
	ann.taps("30 min")
	ann.taps("‹ Back")
	ann.taps("‹ Back")
	ann.taps("Quiet hours")
	ann.taps("23:00–07:00")
	ann.taps("‹ Back")
	ann.taps("Tone")
	ann.taps("No emoji")
	ann.taps("‹ Back")
	ann.taps("⏸ Pause")
	ann.says("/resume")
	b.golden("settings")
}

// TestEverySettingIsReached goes through all that TestSettingsByButtonsAndWords leaves out.
func TestEverySettingIsReached(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	ann.quiet = true
	ann.says("/channels")
	ann.taps("✓ Space Daily")
	ann.quiet = false
	write := func(words ...string) {
		t.Helper()
		for _, w := range words {
			ann.taps("✏️ Write it")
			ann.says(w)
			ann.says("/cancel")
		}
	}
	for _, s := range []struct {
		title string
		taps  []string
		write []string
	}{
		{"Avoid", nil, []string{"politics, <sport>"}},
		{"Threshold", []string{"60"}, []string{"high", "45"}},
		{"Footer", nil, []string{"Read more at @space_daily"}},
		{"Links", []string{"A line at the end"}, nil},
		{"Pictures", []string{"No pictures"}, nil},
		{"Hashtags", nil, []string{"not a tag!", "#space #moon"}},
		{"Daily cap", []string{"3"}, nil},
		{"Missed slots", []string{"Skip the post"}, nil},
		{"Tone", nil, []string{"Begin with the number"}},
		{"Autopilot", []string{"At once above a score", "Score", "90", "‹ Back"}, nil},
		{"Digest", []string{"Every day", "Digest time", "21:00", "‹ Back"}, nil},
	} {
		ann.quiet = true
		ann.says("/channels")
		ann.taps("✓ Space Daily")
		ann.quiet = false
		ann.taps(s.title)
		for _, words := range s.taps {
			ann.taps(words)
		}
		write(s.write...)
	}
	ann.says("/channels")
	ann.taps("✓ Space Daily")
	b.golden("every_setting")
}

func TestPeopleWorkTogether(t *testing.T) {
	t.Parallel()
	b := newBundle(t, invited)
	ann := b.person("Ann", "en")
	boris := b.person("Борис", "ru")
	boris.says("/start")
	if _, err := b.pool.Exec(t.Context(), `INSERT INTO people (id, first_name, access) VALUES ($1, 'Ann', 'operator')`, ann.ID); err != nil {
		t.Fatal(err)
	}
	ann.works("Space Daily", "space_daily")
	ann.says("/channels")
	ann.taps("✓ Space Daily")
	ann.taps("👥 People")
	ann.taps("➕ Editor")
	token := tokenIn(ann.last().Says())
	boris.says("/start " + token)
	boris.says("/channels")
	boris.taps("✓ Space Daily")
	boris.taps("👥 Люди")
	carl := b.person("Carl", "de")
	carl.says("/start " + token)
	ann.says("/channels")
	ann.taps("✓ Space Daily")
	ann.taps("👥 People")
	ann.taps("✕ Борис")
	boris.says("/plan")
	b.golden("people")
}

func TestLanguageIsChosen(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "")
	ann.says("/language")
	ann.taps("Русский")
	ann.says("/help")
	ann.says("/nonsense")
	b.golden("language")
}
