package chat

import (
	"math"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests know every zone wherever they run

	"github.com/go-telegram/bot/models"
	"github.com/google/go-cmp/cmp"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
)

func TestButtonsCarryWhatTheySay(t *testing.T) {
	t.Parallel()
	at := time.Unix(math.MaxInt32, 0)
	s := data("ts", int64(math.MaxInt64), math.MaxInt32, at)
	if len(s) > maxCallback {
		t.Errorf("%q has %d bytes", s, len(s))
	}
	d := parseTap(s)
	if d.verb != "ts" || d.int64(0) != math.MaxInt64 || d.int(1) != math.MaxInt32 || !d.time(2).Equal(at) {
		t.Errorf("read back %+v", d)
	}
	if got := data("lk", int64(-1001234567890)); parseTap(got).int64(0) != -1001234567890 {
		t.Error("a channel's number does not survive a button")
	}
}

func FuzzTap(f *testing.F) {
	f.Add("ap:1:2")
	f.Add("::")
	f.Add("ts:zzzzzzzzzzzzzzzz:-1:\x00")
	f.Fuzz(func(_ *testing.T, s string) {
		d := parseTap(s)
		_, _, _, _ = d.int64(0), d.int(1), d.time(2), d.text(9)
	})
}

func TestTimesAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	berlin := location("Europe/Berlin")
	now := time.Date(2026, 11, 29, 17, 0, 0, 0, berlin)
	tests := []struct{ in, want string }{
		{"18:30", "2026-11-29 18:30"},
		{"9:05", "2026-11-30 09:05"},
		{"tomorrow 9:00", "2026-11-30 09:00"},
		{"Завтра 9.00", "2026-11-30 09:00"},
		{"завтра в 9:00", "2026-11-30 09:00"},
		{"today at 23:59", "2026-11-29 23:59"},
		{"morgen 9:00", "2026-11-30 09:00"}, // of another catalogue
		{"31.12 23:00", "2026-12-31 23:00"},
		{"1.2 08:00", "2027-02-01 08:00"},
		{"2027-03-04 10:00", "2027-03-04 10:00"},
		{"28.3.2027 02:30", "2027-03-28 03:30"}, // skipped by summer time
		{"today 9:00", "2026-11-29 09:00"},      // past: desk says so
	}
	for _, tt := range tests {
		at, err := parseTime(tt.in, now, berlin, "Heute", "Morgen")
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
			continue
		}
		if got := at.In(berlin).Format("2006-01-02 15:04"); got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.in, got, tt.want)
		}
	}
	for _, in := range []string{"", "soon", "25:00", "9", "31.2.2027 9:00x", "10:99"} {
		if at, err := parseTime(in, now, berlin); desk.CodeOf(err) != "error.time" {
			t.Errorf("%q was read as %s, %v", in, at, err)
		}
	}
}

func TestZonesAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"europe/berlin": "Europe/Berlin", "Lisbon": "Europe/Lisbon", "new york": "America/New_York", "Казань": "Europe/Moscow",
		"MSK": "Europe/Moscow", "utc": "UTC", "Buenos Aires": "America/Buenos_Aires", "port moresby": "Pacific/Port_Moresby",
	} {
		if got, _ := findZone(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"", "local", "../etc", "atlantis", "europe/"} {
		if got, ok := findZone(in); ok {
			t.Errorf("%q was read as %q", in, got)
		}
	}
	for city, zone := range cityZones() {
		if _, err := time.LoadLocation(zone); err != nil {
			t.Errorf("%s: %v", city, err)
		}
	}
}

func TestClocksAndQuietHours(t *testing.T) {
	t.Parallel()
	got, err := parseClocks("9:00, 13.30 18")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]editorial.Clock{540, 810, 1080}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := parseClocks("9:00 soon"); err == nil {
		t.Error("soon was read as a time")
	}
	if q, err := parseQuiet("23:00 – 07:00"); err != nil || q != (editorial.Quiet{From: 1380, To: 420}) {
		t.Errorf("got %v, %v", q, err)
	}
}

func TestFormatsSurviveTheWayIntoAPost(t *testing.T) {
	t.Parallel()
	m := &models.Message{
		Text: "Hi 👋 <b> link",
		Entities: []models.MessageEntity{
			{Type: models.MessageEntityTypeBold, Offset: 0, Length: 5},
			{Type: models.MessageEntityTypeTextLink, Offset: 10, Length: 4, URL: "https://example.com/?a=1&b=2"},
			{Type: models.MessageEntityTypeBotCommand, Offset: 0, Length: 2},
		},
	}
	want := `<b>Hi 👋</b> &lt;b&gt; <a href="https://example.com/?a=1&amp;b=2">link</a>`
	if got := messageHTML(m); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAddressesAreFoundInMessages(t *testing.T) {
	t.Parallel()
	plain := func(s string) *models.Message { return &models.Message{Text: s} }
	tests := []struct {
		m    *models.Message
		want []string
	}{
		{plain("https://a.example/feed b.example/news @durov"), []string{"https://a.example/feed", "b.example/news", "@durov"}},
		{plain("no address, e.g. this one."), nil},
		{plain("https://a.example/%22%3E<b>"), []string{"https://a.example/%22%3E<b>"}},
		{&models.Message{Text: "😀 see here", Entities: []models.MessageEntity{{Type: "text_link", Offset: 3, Length: 3, URL: "https://x.example"}}}, []string{"https://x.example"}},
		{&models.Message{Text: "a", Entities: []models.MessageEntity{{Type: "url", Offset: 5, Length: 100}}}, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, linksOf(tt.m)); diff != "" {
			t.Errorf("%q:\n%s", tt.m.Text, diff)
		}
	}
	if onlyLinks("see https://a.example") || !onlyLinks(" https://a.example\n@durov ") {
		t.Error("onlyLinks is wrong")
	}
}

func TestCommandsAreRead(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, name, argument string
		ok                   bool
	}{
		{"/add a.example b.example", "add", "a.example b.example", true},
		{"/ADD@My_Bot x", "add", "x", true},
		{"/add@other x", "", "", false},
		{"add", "", "", false},
		{"/", "", "", false},
		{"/why\nhttps://a.example", "why", "https://a.example", true},
	}
	for _, tt := range tests {
		name, argument, ok := commandOf(tt.text, "my_bot")
		if name != tt.name || ok != tt.ok || ok && argument != tt.argument {
			t.Errorf("%q: got %q %q %t", tt.text, name, argument, ok)
		}
	}
}

func TestPagesHoldEverythingOnce(t *testing.T) {
	t.Parallel()
	list := make([]int, 17)
	for i := range list {
		list[i] = i
	}
	var seen []int
	for n := 0; ; n++ {
		part, at, more := page(list, n, 8)
		if at != n {
			t.Fatalf("page %d came as %d", n, at)
		}
		seen = append(seen, part...)
		if !more {
			break
		}
	}
	if diff := cmp.Diff(list, seen); diff != "" {
		t.Error(diff)
	}
	if part, n, _ := page(list, 99, 8); n != 2 || len(part) != 1 {
		t.Errorf("a page too far: %d %v", n, part)
	}
}

func TestShortenKeepsWholeCharacters(t *testing.T) {
	t.Parallel()
	if got := shorten(strings.Repeat("ё", 10), 5); got != "ёёёё…" {
		t.Errorf("got %q", got)
	}
}
