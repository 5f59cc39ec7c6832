package chat_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestFirstMinutes(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	ann := b.person("Ann", "en")
	ch, err := ann.NewChannel(t.Context(), "Space Daily", "space_daily")
	if err != nil {
		t.Fatal(err)
	}
	ann.says("/plan") // any command leads to the first step
	// Taps are counted from an empty chat: START, the picker's button, the channel in it.
	ann.says("/start")
	ann.picks(ch)
	b.golden("first_minutes")
	// Taken up again at the second step, wherever the person was meanwhile.
	ann.quiet = true
	ann.says("/help")
	ann.says("/start")
	if _, ok := ann.last().Button("Sample newsroom"); !ok {
		t.Errorf("/start does not go on at the second step: %s", ann.last().Says())
	}
	// The fourth tap of five at most: a pack. Then the first real drafts arrive.
	if _, err := ann.Tap(t.Context(), ann.last().ID, "Sample newsroom", 10*time.Second); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(60 * time.Second)
	for time.Now().Before(deadline) {
		cards := 0
		for _, m := range ann.messages() {
			if _, ok := m.Button("Approve"); ok {
				cards++
				if !strings.Contains(m.Says(), "Harbour Gazette") || !strings.Contains(m.Says(), "Score ") {
					t.Fatalf("the card does not name its source and score:\n%s", m.Says())
				}
			}
		}
		if cards >= 2 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("no drafts arrived; %d drafts, %d jobs in the archive", b.count(`SELECT count(*) FROM drafts`), b.count(`SELECT count(*) FROM job_archive`))
}

// Links that come before the channel are followed when it is there.
func TestLinksBeforeTheChannelAreKept(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann := b.person("Ann", "en")
	ch, err := ann.NewChannel(t.Context(), "Space Daily", "space_daily")
	if err != nil {
		t.Fatal(err)
	}
	ann.says(b.stage.Base + "/samples/orbit/atom.xml")
	ann.says("/add http://10.0.0.1/feed")
	if got := ann.last().Says(); !strings.HasPrefix(got, "Noted:") {
		t.Errorf("told: %s", got)
	}
	ann.quiet = true // the drafts that arrive are other ones each time
	ann.picks(ch)
	var said strings.Builder
	for _, m := range ann.messages() {
		said.WriteString(m.Says() + "\n")
	}
	for _, want := range []string{"Open Orbit — feed", "http://10.0.0.1/feed — it is an address of a private network", "by the clock of UTC"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q was not said:\n%s", want, said.String())
		}
	}
	if strings.Contains(said.String(), "Step 2") {
		t.Error("asked for sources all the same")
	}
	if n := b.count(`SELECT count(*) FROM pastes WHERE kind = 'kept'`); n != 0 {
		t.Errorf("%d links are still kept", n)
	}
}

// Cancel takes back the question that it stands under, and no later one.
func TestCancelTakesBackItsOwnQuestion(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	ann.quiet = true
	ann.says("The ferry sails again from Monday on, twice a day.")
	question := ann.last()
	ann.says("/add")
	if _, err := ann.Tap(t.Context(), question.ID, "Cancel", 10*time.Second); err != nil {
		t.Fatal(err)
	}
	ann.says("no address at all")
	if got := ann.last().Says(); !strings.Contains(got, "no address at all") || strings.Contains(got, "from this text") {
		t.Errorf("the answer to /add was not taken for one: %s", got)
	}
}

func TestAMissingRightIsNamed(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	boris := b.person("Борис", "ru")
	ch, err := boris.NewChannel(t.Context(), "Северный край", "sever")
	if err != nil {
		t.Fatal(err)
	}
	boris.says("/start")
	post, err := boris.Post(t.Context(), ch.ID, "Привет")
	if err != nil {
		t.Fatal(err)
	}
	forward := func() {
		t.Helper()
		if err := boris.Forward(t.Context(), ch.ID, post.ID); err != nil {
			t.Fatal(err)
		}
		boris.note("%s forwards a post of %s", boris.Name, ch.Title)
		boris.hears()
	}
	standing := func(rights map[string]any) {
		t.Helper()
		if err := b.stage.Do(t.Context(), http.MethodPost, fmt.Sprintf("/sandbox/api/channels/%d", ch.ID), rights, nil); err != nil {
			t.Fatal(err)
		}
	}
	forward()
	standing(map[string]any{"bot_status": "administrator", "bot_rights": map[string]bool{"can_manage_chat": true}})
	boris.settled()
	forward()
	boris.taps("Проверить снова")
	standing(map[string]any{"bot_status": "administrator"})
	boris.note("%s gives the right", boris.Name)
	boris.hears()
	b.golden("rights")
}

func TestSourcesAreAddedAndTuned(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	if _, err := b.pool.Exec(t.Context(), `DELETE FROM subscriptions`); err != nil {
		t.Fatal(err)
	}
	ann.says("/add http://10.0.0.1/feed " + b.stage.Base + "/samples/nothing not-an-address")
	ann.says("/sources")
	ann.taps("Add a source")
	ann.quiet = true // the drafts that arrive are other ones each time
	ann.says(b.stage.Base + "/samples/orbit/atom.xml")
	ann.quiet = false
	ann.says("/sources")
	ann.taps("1")
	ann.taps("150 %")
	ann.taps("Must have")
	ann.says("rocket, orbit")
	ann.taps("Pattern")
	ann.says("(unclosed")
	ann.says("(?i)moon|orbit")
	ann.taps("Pause")
	ann.taps("Resume")
	ann.taps("Remove")
	ann.taps("Yes, remove")
	b.golden("sources")
}
