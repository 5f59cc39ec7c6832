package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/sandbox/play"
)

// Real public feeds, saved as files, are played when these say where they are
// and how many of them to take (spread over the folder; 0 = 25).
const (
	realFeedsEnv = "POSTONCE_FEEDS"
	realMostEnv  = "POSTONCE_FEEDS_MOST"
)

// TestRealFeeds plays the main job on real feeds: each is served from a host
// of its own and sent to the bot, which answers each in one message; the cards
// that come are counted, and one is posted, once.
func TestRealFeeds(t *testing.T) {
	folder := os.Getenv(realFeedsEnv)
	if folder == "" {
		t.Skip("set " + realFeedsEnv + " to a folder of feeds saved as .xml, .rss, .atom or .json files")
	}
	files := feedFiles(t, folder)
	port := serveFolder(t, folder)
	d := startDemo(t, dbtest.ServerDir(t), "127.0.0.1:0", "FETCH_ALLOW_NETS=127.0.0.0/8", "POLL_INTERVAL_MIN=5m")
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
	channel := chats[slices.IndexFunc(chats, func(c play.Chat) bool { return c.Mine && c.Type == "channel" })]
	last := say(t, ann, "/start")
	waitBot(t, stage, ann, last, func(m play.Message) bool { return m.Says() != "" })
	pickChannel(t, ann, channel.ID)
	waitBot(t, stage, ann, last, func(m play.Message) bool { return strings.Contains(m.Says(), "✅") }) // it is linked

	var taken, refused []string
	for i, name := range files {
		said := say(t, ann, fmt.Sprintf("/add http://127.0.%d.%d:%d/%s", 1+i/250, 1+i%250, port, name))
		answer := waitBot(t, stage, ann, said, func(m play.Message) bool { return strings.ContainsAny(m.Says(), "✅☑✖") })
		line := strings.Join(strings.Fields(answer.Says()), " ")
		t.Logf("%s: %s", name, line[:min(len(line), 160)])
		if strings.Contains(line, "✖") {
			refused = append(refused, name)
		} else {
			taken = append(taken, name)
		}
		if strings.Contains(d.log.String(), "handler panicked") {
			t.Fatal("a handler panicked")
		}
	}
	card := waitBot(t, stage, ann, 0, func(m play.Message) bool { _, ok := m.Button("Post now"); return ok })
	tap(t, ann, card, "Post now")
	post := waitIn(t, stage, channel.ID, 0, func(m play.Message) bool { return m.Says() != "" })
	time.Sleep(3 * time.Second) // what would come twice has time to
	list, _, err := stage.Messages(t.Context(), channel.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, m := range list {
		t.Logf("in the channel: %d: %s", m.ID, m.Says())
		if m.Says() == post.Says() {
			seen++
		}
	}
	if seen != 1 {
		t.Errorf("the post is in the channel %d times", seen)
	}
	mine, _, err := stage.Messages(t.Context(), ann.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	cards := 0
	for _, m := range mine {
		if _, ok := m.Button("Approve"); ok {
			cards++
		}
	}
	t.Logf("%d feeds sent: %d followed, %d refused in one sentence %v; %d cards waiting; posted:\n%s", len(files), len(taken), len(refused), refused, cards, post.Says())
	if len(taken) == 0 {
		t.Error("none of them was followed")
	}
}

// feedFiles picks files from all over the folder.
func feedFiles(t *testing.T, folder string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && slices.Contains([]string{".xml", ".rss", ".atom", ".json"}, filepath.Ext(path)) {
			rel, err := filepath.Rel(folder, path)
			all = append(all, filepath.ToSlash(rel))
			return err
		}
		return err
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("no feeds in %s: %v", folder, err)
	}
	most, _ := strconv.Atoi(os.Getenv(realMostEnv))
	if most <= 0 {
		most = 25
	}
	var picked []string
	for i := range min(most, len(all)) {
		picked = append(picked, all[i*len(all)/min(most, len(all))])
	}
	return picked
}

// serveFolder serves a folder on every loopback address.
func serveFolder(t *testing.T, folder string) int {
	t.Helper()
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.FileServer(http.Dir(folder)))
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return l.Addr().(*net.TCPAddr).Port
}
