package preview

import (
	"errors"
	"strings"
	"testing"
	"time"
)

const page = `<html><head><meta property="og:title" content="Wire"></head><body><section class="tgme_channel_history js-message_history">
<div class="tgme_widget_message text_not_supported_wrap" data-post="Wire/11"><div class="tgme_widget_message_forwarded_from">Forwarded from <a class="tgme_widget_message_forwarded_from_name">Other</a></div><div class="tgme_widget_message_text js-message_text">Line <b>one</b><br/><br/>two <a href="https://e.org/">link</a></div><a class="tgme_widget_message_date" href="https://t.me/Wire/11"><time datetime="2026-05-03T10:00:00+03:00">10:00</time></a></div>
<div class="tgme_widget_message service_message" data-post="Wire/12"><div class="tgme_widget_message_text">pinned</div></div>
<div class="tgme_widget_message" data-post="Wire/10"><a class="tgme_widget_message_video_player"><i class="tgme_widget_message_video_thumb" style="background-image:url('https://cdn/t.jpg')"></i></a></div>
</section></body></html>`

func TestParseReadsPostsNewestFirst(t *testing.T) {
	t.Parallel()
	p, err := Parse([]byte(page), "Wire", time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Doc.Entries) != 2 || p.Newest != 11 || p.Oldest != 10 || p.Doc.Title != "Wire" {
		t.Fatalf("%+v", p)
	}
	e := p.Doc.Entries[0]
	if e.Text() != "Line one\n\ntwo link" || e.Title != "Line one" || e.Author != "Other" || e.Published.Hour() != 7 || e.Platform != "telegram:wire/11" || Number(&e) != 11 {
		t.Errorf("%+v %q", e, e.Text())
	}
	if v := p.Doc.Entries[1]; v.Image != "https://cdn/t.jpg" {
		t.Errorf("%+v", v)
	}
}

func TestPagesWithoutHistoryAreOff(t *testing.T) {
	t.Parallel()
	if _, err := Parse([]byte(`<html><body><div class="tgme_page">Join</div></body></html>`), "wire", time.Now()); !errors.Is(err, ErrOff) {
		t.Errorf("%v", err)
	}
	if got := Before("https://t.me/s/wire", 10); got != "https://t.me/s/wire?before=10" {
		t.Errorf("Before = %q", got)
	}
	if got := Headline(strings.Repeat("слово ", 60)); len([]rune(got)) > 140 || !strings.HasSuffix(got, "…") {
		t.Errorf("Headline = %q", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(page))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Parse(b, "wire", time.Now())
		if err == nil {
			for i := range p.Doc.Entries {
				if Number(&p.Doc.Entries[i]) <= 0 {
					t.Errorf("entry without a number: %+v", p.Doc.Entries[i])
				}
			}
		}
	})
}
