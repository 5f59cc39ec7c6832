package chat_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/postonce/postonce/internal/sandbox/play"
)

// post is a message as it stands in a chat, with what a person sees of it.
type post struct {
	play.Message
	Photo   []any `json:"photo"`
	Preview struct {
		URL   string `json:"url"`
		Above bool   `json:"show_above_text"`
	} `json:"link_preview_options"`
	Entities        []map[string]any `json:"entities"`
	CaptionEntities []map[string]any `json:"caption_entities"`
}

func (b *bundle) posts(ctx context.Context, chat int64) []post {
	b.t.Helper()
	var out struct{ Messages []post }
	if err := b.stage.Do(ctx, http.MethodGet, fmt.Sprintf("/sandbox/api/chats/%d/messages", chat), nil, &out); err != nil {
		b.t.Fatal(err)
	}
	return out.Messages
}

// TestACardShowsThePostAsItWillLook compares, form by form, what the person
// decides about with what stands in the channel afterwards.
func TestACardShowsThePostAsItWillLook(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, style, image string
		text               string
		alone              bool // the post comes by itself, what is known of it below
		photo              bool
	}{
		{name: "a short text", style: "preview", text: "<b>Probe</b>\n\nIt reached <i>orbit</i> &amp; sent &lt;pictures&gt;."},
		{name: "a text at Telegram's limit", style: "preview", text: strings.Repeat("я", 4096), alone: true},
		{name: "a text with surrogate pairs at the limit", style: "preview", text: strings.Repeat("😀", 2048), alone: true},
		{name: "a text that fits with its lines", style: "preview", text: strings.Repeat("a", 3800)},
		{name: "a photo with a caption", style: "photo", image: "png", text: "<b>Probe</b>\n\nIt reached orbit.", photo: true},
		{name: "a photo with a caption at the limit", style: "photo", image: "png", text: strings.Repeat("я", 1024), alone: true, photo: true},
		{name: "a photo whose text is too long for a caption", style: "photo", image: "png", text: strings.Repeat("a", 1025)},
		{name: "a picture as a preview", style: "preview", image: "png", text: "Probe."},
		{name: "no pictures wanted", style: "none", image: "png", text: "Probe."},
	}
	b := newBundle(t, live)
	ann := b.person("Ann", "en")
	ch, channel := ann.works("Space Daily", "space_daily")
	for i, tt := range tests {
		image := ""
		if tt.image != "" {
			image = b.paper.base + "/picture.png"
		}
		b.exec(`UPDATE channels SET image_style = $2 WHERE id = $1`, channel, tt.style)
		ann.quiet = true
		ann.drafts(fmt.Sprintf("Placeholder number %d.", i))
		var id int64
		if err := b.pool.QueryRow(t.Context(), `SELECT max(id) FROM drafts`).Scan(&id); err != nil {
			t.Fatal(err)
		}
		b.exec(`UPDATE draft_revisions SET html = $2, image = $3 WHERE draft_id = $1`, id, tt.text, image)
		before, inChannel := len(b.posts(t.Context(), ann.ID)), len(b.posts(t.Context(), ch.ID))
		ann.says("/drafts")
		ann.taps(fmt.Sprint(id))
		shown := b.posts(t.Context(), ann.ID)[before:]
		card := shown[len(shown)-1]
		seen := card
		if tt.alone {
			seen = shown[len(shown)-2]
		}
		if !strings.Contains(card.Says(), fmt.Sprintf("Draft %d", id)) || len(card.Markup.Rows) == 0 {
			t.Errorf("%s: no card:%s", tt.name, play.Transcript([]play.Message{card.Message}))
		}
		if tt.alone && strings.Contains(seen.Says(), "Next free slot") {
			t.Errorf("%s: the post does not stand alone", tt.name)
		}
		if got := len(seen.Photo) > 0; got != tt.photo {
			t.Errorf("%s: the card shows a photo: %t", tt.name, got)
		}
		if _, err := ann.tapAt(card.ID, "Post now"); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		after := b.posts(t.Context(), ch.ID)
		if len(after) != inChannel+1 {
			t.Fatalf("%s: %d posts in the channel instead of one more than %d", tt.name, len(after), inChannel)
		}
		sameLook(t, tt.name, seen, after[len(after)-1])
	}
}

// TestACardShowsWhatItsClaimsRestOn opens a draft whose text came with the words
// of its source: they stand folded below it, and not where there is no room.
func TestACardShowsWhatItsClaimsRestOn(t *testing.T) {
	t.Parallel()
	b := newBundle(t, live)
	ann := b.person("Ann", "en")
	ann.works("Space Daily", "space_daily")
	ann.quiet = true
	ann.drafts("The probe reached orbit.")
	open := func(html string) post {
		b.exec(`UPDATE draft_revisions SET html = $1, evidence = '[{"claim":"the probe arrived","quote":"reached orbit on <Tuesday>"}]'`, html)
		ann.says("/drafts")
		ann.taps("1")
		all := b.posts(t.Context(), ann.ID)
		return all[len(all)-1]
	}
	card := open("The probe reached orbit.")
	if !strings.Contains(card.Says(), "• the probe arrived: “reached orbit on <Tuesday>”") || !strings.Contains(fmt.Sprint(card.Entities), "expandable_blockquote") {
		t.Errorf("the card says\n%s\nwith %v", card.Says(), card.Entities)
	}
	if card = open(strings.Repeat("a", 3970)); strings.Contains(card.Says(), "the probe arrived") || !strings.Contains(card.Says(), "Draft 1") {
		t.Errorf("a long card says …%s", card.Says()[3970:])
	}
}

// sameLook compares a card's post with the post: text, formats, picture, preview.
func sameLook(t *testing.T, name string, seen, posted post) {
	t.Helper()
	if !strings.HasPrefix(seen.Says(), posted.Says()) {
		t.Errorf("%s: the card shows\n%.200s\nand the channel\n%.200s", name, seen.Says(), posted.Says())
	}
	if (len(seen.Photo) > 0) != (len(posted.Photo) > 0) || seen.Preview.URL != posted.Preview.URL || seen.Preview.Above != posted.Preview.Above {
		t.Errorf("%s: the card's picture is %d %+v, the channel's %d %+v", name, len(seen.Photo), seen.Preview, len(posted.Photo), posted.Preview)
	}
	of := func(p post) []map[string]any { return append(p.Entities, p.CaptionEntities...) }
	if want := of(posted); fmt.Sprint(of(seen)[:min(len(want), len(of(seen)))]) != fmt.Sprint(want) {
		t.Errorf("%s: the card's formats %v, the channel's %v", name, of(seen), want)
	}
}
