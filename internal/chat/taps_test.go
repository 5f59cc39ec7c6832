package chat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/postonce/postonce/internal/chat"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/sandbox/play"
)

// joins makes somebody an editor of a channel.
func (a *actor) joins(by *actor, channel int64) {
	a.b.t.Helper()
	token, err := a.b.desk.Invite(a.b.t.Context(), by.ID, channel, editorial.Editor, "")
	if err != nil {
		a.b.t.Fatal(err)
	}
	if _, err := a.Send(a.b.t.Context(), "/start "+token); err != nil {
		a.b.t.Fatal(err)
	}
	a.settled()
	for _, m := range a.messages() {
		a.seen[m.ID] = m
	}
}

// card is the newest message with an Approve button.
func (a *actor) card() play.Message {
	a.b.t.Helper()
	list := a.messages()
	for i := len(list) - 1; i >= 0; i-- {
		for _, words := range []string{"Approve", "Одобрить"} {
			if _, ok := list[i].Button(words); ok {
				return list[i]
			}
		}
	}
	a.b.t.Fatalf("%s has no card:%s", a.Name, play.Transcript(list))
	return play.Message{}
}

func TestALateTapIsToldWhatHappened(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann, boris := b.person("Ann", "en"), b.person("Борис", "ru")
	_, channel := ann.works("Space Daily", "space_daily")
	boris.joins(ann, channel)
	ann.drafts("The probe reached orbit.")
	boris.hears()
	late := boris.card()
	approve, _ := late.Button("Одобрить")
	skip, _ := late.Button("Пропустить")
	ann.taps("Approve")
	boris.hears()
	for _, told := range boris.inject(late.ID, approve.Data, skip.Data) {
		boris.note("%s taps late\n   (%s)", boris.Name, told)
	}
	boris.hears()
	ann.taps("Undo")
	boris.hears()
	// The transition of the button has passed, although the state is the same again.
	for _, told := range boris.inject(late.ID, approve.Data) {
		boris.note("%s taps later still\n   (%s)", boris.Name, told)
	}
	boris.hears()
	b.golden("late")
	if n := b.count(`SELECT count(*) FROM slots`); n != 0 {
		t.Errorf("a late tap took %d slots", n)
	}
}

func TestConcurrentTapsDecideOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann, boris := b.person("Ann", "en"), b.person("Борис", "ru")
	_, channel := ann.works("Space Daily", "space_daily")
	boris.joins(ann, channel)
	ann.drafts("The probe reached orbit.")
	mine, theirs := ann.card(), boris.card()
	approve, _ := mine.Button("Approve")
	skip, _ := mine.Button("Skip")
	done := make(chan struct{})
	go func() {
		defer close(done)
		boris.inject(theirs.ID, approve.Data, skip.Data, approve.Data, skip.Data)
	}()
	ann.inject(mine.ID, skip.Data, approve.Data, skip.Data, approve.Data)
	<-done
	ann.settled()
	if n := b.count(`SELECT transition FROM drafts`); n != 2 {
		t.Errorf("eight taps moved the draft %d times", n-1)
	}
	slots, scheduled := b.count(`SELECT count(*) FROM slots`), b.count(`SELECT count(*) FROM drafts WHERE state = 'scheduled'`)
	if slots != scheduled {
		t.Errorf("%d slots for %d scheduled drafts", slots, scheduled)
	}
	for _, a := range []*actor{ann, boris} {
		for _, m := range a.messages() {
			if _, ok := m.Button("Approve"); ok {
				t.Errorf("%s still sees Approve:%s", a.Name, m.Says())
			}
		}
	}
	if n := b.count(`SELECT count(*) FROM job_archive`); n != 0 {
		t.Errorf("%d jobs went to the archive", n)
	}
}

// TestAStrangerSeesAndChangesNothing tries every command and every button, with
// the numbers of somebody else's channel, draft and source.
func TestAStrangerSeesAndChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann, eve := b.person("Ann", "en"), b.person("Eve", "en")
	secret := "Zanzibar"
	_, channel := ann.works(secret+" Daily", "zanzibar_daily")
	ann.drafts("The " + secret + " probe reached orbit.")
	if _, err := b.desk.AddSource(t.Context(), ann.ID, channel, b.stage.Base+"/samples/gazette/feed.xml"); err != nil {
		t.Fatal(err)
	}
	ann.settled()
	before := b.fingerprint()
	eve.says("/start")
	for _, name := range b.chat.Commands() {
		if name == "delete_me" || name == "start" {
			continue // asks, and changes nobody but Eve
		}
		for _, argument := range []string{"", " 1", fmt.Sprint(" ", channel), " " + b.stage.Base + "/samples/orbit/atom.xml"} {
			if argument != "" && !slices.Contains([]string{"why", "add"}, name) {
				continue
			}
			eve.says("/" + name + argument)
		}
	}
	at := eve.last().ID
	for _, verb := range b.chat.Verbs() {
		if verb == "dm" || verb == "la" {
			continue // Eve's own person
		}
		tails := [][]any{{channel, 1, 2}, {channel, 1, "approve"}, {channel, "lang", "de"}, {channel, ann.ID}, {channel, "owner"}, {1, "c"}, {0, "publish"}, {1, 1, "t"}, {1, 1, "off_topic"}, {1, 1, "shorter"}, {}}
		var taps []string
		for _, tail := range tails {
			taps = append(taps, chat.Data(verb, tail...))
		}
		for _, told := range eve.inject(at, taps...) {
			if strings.Contains(told, secret) {
				t.Errorf("%s told Eve: %s", verb, told)
			}
		}
	}
	for _, m := range eve.messages() {
		if m.FromBot() && strings.Contains(m.Says()+buttons(m), secret) {
			t.Errorf("Eve read: %s%s", m.Says(), buttons(m))
		}
	}
	if after := b.fingerprint(); after != before {
		t.Errorf("Eve changed something:\nbefore %s\nafter  %s", before, after)
	}
}

// fingerprint digests what belongs to Ann.
func (b *bundle) fingerprint() string {
	b.t.Helper()
	var s string
	err := b.pool.QueryRow(b.t.Context(), `
SELECT concat_ws(' ',
    (SELECT md5(string_agg(c::text, '|' ORDER BY id)) FROM channels c),
    (SELECT md5(string_agg(concat_ws(',', d.id, state, transition, revision, slot_at), '|' ORDER BY id)) FROM drafts d WHERE kind = 'own'),
    (SELECT md5(string_agg(concat_ws(',', channel_id, source_id, weight, paused_at, must_words, never_words, pattern), '|' ORDER BY source_id)) FROM subscriptions),
    (SELECT md5(string_agg(m::text, '|' ORDER BY person_id)) FROM memberships m),
    (SELECT count(*) FROM invitations), (SELECT count(*) FROM slots WHERE true), (SELECT count(*) FROM publications),
    (SELECT count(*) FROM job_kinds WHERE paused_at IS NOT NULL))`).Scan(&s)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}
