package channelpage_test

import (
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/postonce/postonce/internal/article/channelpage"
)

func view(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

func message(id int, dataView, inside string) string {
	return fmt.Sprintf(`<div class="tgme_widget_message js-widget_message" data-post="Name/%d" data-view="%s">%s</div>`, id, dataView, inside)
}

func TestRead(t *testing.T) {
	t.Parallel()
	page := `<html><head><meta property="og:title" content="Harbour"></head><body><section class="tgme_channel_history">` +
		message(7, view(`{"c":-1001,"p":7,"t":1,"h":"x"}`), `<a class="tgme_widget_message_reply"><div class="tgme_widget_message_text">what it answers</div></a>
			<div class="tgme_widget_message_text">one<br/>two <a href="https://a.example/">link</a></div>
			<a class="tgme_widget_message_date"><time datetime="2026-01-02T03:04:05+00:00">03:04</time></a>`) +
		message(8, view(`{"c":-1001,"p":"8g"}`), `<a class="tgme_widget_message_photo_wrap" style="width:1px;background-image:url('/file/x.jpg')"></a><a class="tgme_widget_message_forwarded_from_name">Else</a>`) +
		message(9, view(`{"c":-1001,"p":8}`), ``) + // says another post than its number
		message(10, "!", ``) +
		`<div class="tgme_widget_message service_message" data-post="Name/11"></div><div class="tgme_widget_message" data-post="Name/x"></div></section></body></html>`
	p, err := channelpage.Read([]byte(page))
	if err != nil || p.Title != "Harbour" || !p.History {
		t.Fatalf("page %+v, %v", p, err)
	}
	type shown struct {
		ID, Channel                   int64
		Date, Text, HTML, Image, From string
		Links                         []string
		Service                       bool
	}
	var got []shown
	for _, one := range p.Posts {
		got = append(got, shown{one.ID, one.Channel, one.Date, one.Text(), one.HTML(), one.Image, one.From, one.Links(), one.Service})
	}
	want := []shown{
		{
			ID: 7, Channel: 1001, Date: "2026-01-02T03:04:05+00:00", Text: "one\ntwo link",
			HTML: `one<br/>two <a href="https://a.example/">link</a>`, Links: []string{"https://a.example/"},
		},
		{ID: 8, Channel: 1001, Image: "https://t.me/file/x.jpg", From: "Else"},
		{ID: 9},
		{ID: 10},
		{ID: 11, Service: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(message(1, view(`{"c":-1,"p":1}`), "x")))
	f.Add([]byte(message(1, view(`{"c":{},"p":[]}`), "<time>")))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := channelpage.Read(body)
		if err != nil {
			return
		}
		for _, one := range p.Posts {
			if one.ID <= 0 || one.Channel < 0 {
				t.Errorf("post %d of %d", one.ID, one.Channel)
			}
			_, _, _ = one.Text(), one.HTML(), one.Links()
		}
	})
}
