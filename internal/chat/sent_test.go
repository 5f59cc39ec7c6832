package chat_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// sends a file to the bot.
func (a *actor) sends(name, body string) {
	a.b.t.Helper()
	if err := a.SendFile(a.b.t.Context(), name, []byte(body)); err != nil {
		a.b.t.Fatal(err)
	}
	a.note("%s sends %s", a.Name, name)
	a.hears()
}

// awaits waits for something that the bot says by itself.
func (a *actor) awaits(words string) {
	a.b.t.Helper()
	for deadline := time.Now().Add(patience); !strings.Contains(a.last().Says(), words); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			a.b.t.Fatalf("the bot never said %q", words)
		}
	}
	a.hears()
}

func TestListsComeAndGo(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	b.exec(`DELETE FROM subscriptions`)
	ann.says("/import")
	ann.sends("notes.txt", "hello")
	ann.sends("empty.opml", "<opml version='2.0'><body></body></opml>")
	ann.sends("feeds.opml", fmt.Sprintf(`<?xml version="1.0"?><opml version="2.0"><body>
		<outline text="The Paper" type="rss" xmlUrl="%s/feed.xml"/><outline text="Gazette" xmlUrl="%s/second/feed.xml"/>
		<outline text="Broken" xmlUrl="not an address"/></body></opml>`, b.paper.base, b.paper.base))
	ann.sends("again.opml", fmt.Sprintf(`<opml version="2.0"><body><outline text="The Paper" xmlUrl="%s/feed.xml"/></body></opml>`, b.paper.base))
	ann.says("/export")
	b.golden("lists")
}

func TestWhatIsPastedIsUnderstood(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	b.paper.prints("Rocket reaches orbit", rocketText, "")
	ann, boris := b.person("Ann", "en"), b.person("Boris", "en")
	ann.works("Space Daily", "space_daily")
	ann.says(b.paper.base + "/feed.xml")
	ann.taps("Follow it")
	ann.says("@no_such_channel")
	ann.taps("Follow it")
	ann.says(b.stage.Base + "/nothing-here")
	ann.taps("Draft a post")
	ann.awaits("No post could be made")
	ch, err := boris.NewChannel(t.Context(), "Harbour News", "harbour_news")
	if err != nil {
		t.Fatal(err)
	}
	post, err := boris.Post(t.Context(), ch.ID, "The ferry sails again from Monday on, twice a day, and takes bicycles for free.")
	if err != nil {
		t.Fatal(err)
	}
	if err := ann.Forward(t.Context(), ch.ID, post.ID); err != nil {
		t.Fatal(err)
	}
	ann.note("%s forwards a post of %s", ann.Name, ch.Title)
	ann.hears()
	ann.taps("Draft a post")
	ann.says("@harbour_news")
	ann.taps("Follow it")
	ann.sends("photo.png", "not a list")
	b.golden("pasted")
}

func TestSeveralChannels(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	second, err := ann.NewChannel(t.Context(), "Harbour News", "harbour_news")
	if err != nil {
		t.Fatal(err)
	}
	ann.says("/channels")
	ann.taps("Link another channel")
	ann.picks(second)
	ann.says("/channels")
	ann.says("/plan")
	ann.taps("Space Daily")
	ann.says("/drafts")
	b.golden("channels")
}

func TestAViewerLooksAndDecidesNothing(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann, vera := b.person("Ann", "en"), b.person("Vera", "en")
	_, channel := ann.works("Space Daily", "space_daily")
	ann.quiet = true
	ann.drafts("The probe reached orbit.")
	ann.quiet = false
	token, err := b.desk.Invite(t.Context(), ann.ID, channel, editorial.Viewer, "")
	if err != nil {
		t.Fatal(err)
	}
	vera.says("/start " + token)
	vera.says("/drafts")
	vera.taps("1")
	vera.says("/plan")
	vera.says("/pause")
	vera.says("/add " + b.paper.base + "/feed.xml")
	vera.says("/channels")
	vera.taps("✓ Space Daily")
	approve, _ := ann.card().Button("Approve")
	for _, told := range vera.inject(vera.last().ID, approve.Data) {
		vera.note("Vera presses Approve all the same\n   (%s)", told)
	}
	b.golden("viewer")
}

func TestAPersonIsErased(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	ann.quiet = true
	ann.drafts("The probe reached orbit.")
	ann.taps("Approve")
	ann.quiet = false
	ann.says("/delete_me")
	ann.taps("Cancel")
	ann.says("/delete_me")
	ann.taps("Yes, erase it all")
	ann.says("/drafts")
	b.golden("delete_me")
	if n := b.count(`SELECT count(*) FROM cards`) + b.count(`SELECT count(*) FROM dialogs`) + b.count(`SELECT count(*) FROM pastes`); n != 0 {
		t.Errorf("%d rows of the chat remain", n)
	}
}

func TestAnOperatorLooksAfterTheBot(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	ann, eve := b.person("Ann", "en"), b.person("Eve", "en")
	ch, _ := ann.works("Space Daily", "space_daily")
	eve.says("/ops")
	b.exec(`UPDATE people SET access = 'operator' WHERE id = $1`, ann.ID)
	ann.says("/ops")
	ann.quiet = true
	ann.drafts("The probe reached orbit.")
	b.fault(map[string]any{"kind": "lost", "method": "sendmessage", "chat_id": ch.ID, "apply": true})
	ann.taps("Post now")
	ann.quiet = false
	ann.says("/ops")
	ann.taps("Archive")
	number := fmt.Sprint(b.count(`SELECT job_id FROM job_archive`))
	ann.taps(number)
	ann.taps("It is done")
	ann.taps("Back")
	ann.taps("Back")
	ann.taps("Job kinds")
	ann.taps("card")
	ann.taps("card")
	ann.taps("Back")
	ann.taps("Invite a person")
	// The page changes with each new kind; what matters stands in the transcript all the same.
	text := strings.ReplaceAll(b.script.String(), number, "N")
	b.script.Reset()
	b.script.WriteString(text)
	b.golden("ops")
}

func TestADigestIsDecidedLikeAPost(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	for _, e := range [][2]string{{"Rocket reaches orbit", rocketText}, {"Bridge opens again", bridgeText}, {"Fish market moves", fishText}} {
		b.paper.prints(e[0], e[1], "")
	}
	ann := b.person("Ann", "en")
	ann.reads("Space Daily", "space_daily")
	ann.forgets()
	b.digest()
	ann.hears()
	ann.taps("Post now")
	b.golden("digest")
}

// digest writes the digest of the day, as its job does.
func (b *bundle) digest() {
	b.t.Helper()
	now := b.now()
	err := postgres.InTx(b.t.Context(), b.pool, func(tx pgx.Tx) error {
		done, err := b.drafts.DigestTx(b.t.Context(), tx, 1, now, now.Add(-time.Hour))
		if err == nil && !done {
			b.t.Error("no digest was written")
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func TestWhereNothingIsSold(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	boris := b.person("Борис", "ru")
	boris.works("Северный день", "severny")
	for _, command := range []string{"/subscribe", "/paysupport", "/terms"} {
		boris.says(command)
	}
	b.golden("free")
}
