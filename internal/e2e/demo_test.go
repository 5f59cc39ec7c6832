package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/postgres/dbtest"

	"github.com/postonce/postonce/internal/sandbox/play"
)

// TestConversation plays an owner's first minutes through the demo: link the
// channel, add a source, get scored drafts, approve one, see it once in the
// channel, and again after a kill -9 of everything.
func TestConversation(t *testing.T) {
	t.Parallel()
	dir := dbtest.ServerDir(t)
	d := startDemo(t, dir, "127.0.0.1:0")
	stage := play.New(d.base)
	people, err := stage.People(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ann := people[0]
	chats, err := ann.Chats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var channel play.Chat
	for _, c := range chats {
		if c.Mine && c.Type == "channel" {
			channel = c
		}
	}

	if _, err := ann.Send(t.Context(), "/start"); err != nil {
		t.Fatal(err)
	}
	waitBot(t, stage, ann, 0, func(m play.Message) bool { return m.Says() != "" })
	pickChannel(t, ann, channel.ID)

	said := say(t, ann, d.base+"/samples/gazette/")
	card := waitBot(t, stage, ann, said, func(m play.Message) bool { _, ok := m.Button("Approve"); return ok })
	if !strings.Contains(card.Says(), "Harbour Gazette") {
		t.Errorf("the card does not name its source:\n%s", card.Says())
	}
	tap(t, ann, card, "Post now")
	post := waitIn(t, stage, channel.ID, 0, func(m play.Message) bool { return m.Says() != "" })
	t.Logf("posted:\n%s", post.Says())

	// The card says where the post is, and its buttons are gone.
	waitBot(t, stage, ann, card.ID-1, func(m play.Message) bool {
		_, stillThere := m.Button("Approve")
		return m.ID == card.ID && !stillThere
	})

	// Everything dies; a restart changes nothing. The stand-in dies too: what it
	// showed is in its file (its own kill test says so).
	d.kill()
	again := startDemo(t, dir, "127.0.0.1:0")
	stage = play.New(again.base)
	time.Sleep(3 * time.Second) // what would happen twice has time to
	list, _, err := stage.Messages(t.Context(), channel.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, m := range list {
		if m.Says() == post.Says() {
			seen++
		}
	}
	if seen != 1 {
		t.Errorf("the post is in the channel %d times", seen)
	}
	if code := again.stop(t); code != 0 {
		t.Errorf("an orderly stop ended with %d", code)
	}
}

func waitBot(t *testing.T, stage *play.Stage, p *play.Person, after int, ok func(play.Message) bool) play.Message {
	t.Helper()
	return waitIn(t, stage, p.ID, after, func(m play.Message) bool { return m.FromBot() && ok(m) })
}

func waitIn(t *testing.T, stage *play.Stage, chat int64, after int, ok func(play.Message) bool) play.Message {
	t.Helper()
	m, err := stage.Await(within(t, 40*time.Second), chat, after, ok)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// say writes to the bot and returns the id of the message.
func say(t *testing.T, p *play.Person, text string) int {
	t.Helper()
	m, err := p.Send(t.Context(), text)
	if err != nil {
		t.Fatal(err)
	}
	return m.ID
}

func tap(t *testing.T, p *play.Person, m play.Message, words string) play.Answer {
	t.Helper()
	a, err := p.Tap(t.Context(), m.ID, words, 20*time.Second)
	if err != nil {
		t.Fatalf("tap %q: %v", words, err)
	}
	if !a.Answered {
		t.Errorf("the tap on %q was never answered", words)
	}
	return a
}

// pickChannel uses the picker that the reply keyboard offers.
func pickChannel(t *testing.T, p *play.Person, channel int64) {
	t.Helper()
	if err := p.PickWhenAsked(within(t, 30*time.Second), channel); err != nil {
		t.Fatal(err)
	}
}
