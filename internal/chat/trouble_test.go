package chat_test

import (
	"strings"
	"testing"
)

func TestADoubtAsksItsOwner(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	ann := b.person("Ann", "en")
	ch, _ := ann.works("Space Daily", "space_daily")
	ann.drafts("The probe reached orbit.")
	b.fault(map[string]any{"kind": "lost", "method": "sendmessage", "chat_id": ch.ID, "apply": true})
	ann.taps("Post now")
	ann.taps("It's there")
	b.golden("doubt")
	if n := b.count(`SELECT count(*) FROM publications WHERE state = 'published'`); n != 1 {
		t.Errorf("%d publications", n)
	}
}

func TestAReplyIsSentOnceWhateverHappens(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	// Accepted, and the answer is lost: it must not be said twice.
	b.fault(map[string]any{"kind": "lost", "method": "sendmessage", "chat_id": ann.ID, "apply": true})
	ann.says("/language")
	// Refused for now: it must be said after all.
	b.fault(map[string]any{"kind": "too_many", "method": "sendmessage", "chat_id": ann.ID, "retry_after": 1})
	ann.says("/help")
	said := map[string]int{}
	for _, m := range ann.messages() {
		if m.FromBot() {
			said[strings.SplitN(m.Says(), "\n", 2)[0]]++
		}
	}
	want := map[string]int{
		"Which language do you want me to speak? The language of the posts is a setting of the channel.": 2, // one of them opened the test
		"What I do": 1,
	}
	for text, n := range want {
		if said[text] != n {
			t.Errorf("said %d times, want %d: %s", said[text], n, text)
		}
	}
	if n := b.count(`SELECT count(*) FROM job_archive WHERE needs_reconcile`); n != 0 {
		t.Errorf("%d lost replies wake an operator", n)
	}
}

func TestABlockedBotStaysQuiet(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	b.fault(map[string]any{"kind": "status", "status": 403, "description": "Forbidden: bot was blocked by the user", "chat_id": ann.ID, "times": -1})
	if _, err := ann.Send(t.Context(), "/help"); err != nil {
		t.Fatal(err)
	}
	ann.settled()
	if n := b.count(`SELECT count(*) FROM people WHERE blocked_at IS NOT NULL`); n != 1 {
		t.Error("nobody noted that the bot is blocked")
	}
	if n := b.count(`SELECT count(*) FROM job_archive`); n != 0 {
		t.Errorf("%d jobs went to the archive", n)
	}
}
