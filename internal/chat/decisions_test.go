package chat_test

import (
	"strings"
	"testing"
)

// drafts gives the person a card of a draft made of what they sent.
func (a *actor) drafts(text string) {
	a.b.t.Helper()
	a.says(text)
	a.taps("Draft a post")
}

func TestDraftsAreDecidedOnTheirCards(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	ann.drafts("The probe reached orbit on Tuesday and sent its first pictures home.")
	ann.taps("Time")
	ann.taps("Back")
	ann.taps("Approve")
	ann.taps("Undo")
	ann.taps("Skip")
	ann.taps("off topic")
	ann.taps("Undo")
	ann.taps("Edit")
	ann.says("The probe reached orbit. First pictures are here & they are <great>.")
	ann.taps("Post now")
	ann.says("/drafts")
	b.golden("decisions")
	if n := strings.Count(b.script.String(), "✅ Published"); n == 0 {
		t.Error("nothing was published")
	}
}
