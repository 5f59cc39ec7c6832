package publishing_test

import (
	"testing"
	"time"

	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/sandbox"
)

const annSandbox = 500_100_001 // owns the channel harbour_notes in the stand-in

// withProbe lets the service probe into the log chat: the second channel that
// the stand-in begins with.
func withProbe(c *publishing.Config) { c.LogChatID = -1_002_000_000_002 }

// oneLook keeps within the five forwards that the limits let pass at once.
func oneLook(c *publishing.Config) { c.ProbeIDs, c.Looks = 4, []time.Duration{100 * time.Millisecond} }

// TestEvidenceSettlesWhatIsThere, by each of the two looks, and claims nothing
// that is not the post in doubt.
func TestEvidenceSettlesWhatIsThere(t *testing.T) {
	t.Parallel()
	const text = "High tide at <b>18:40</b>\n\nStay off the pier."
	tests := []struct {
		name    string
		applied bool
		// before and between are posted by the channel's owner before the send and after it.
		before, between []string
		private         bool // no public page
		noProbe         bool
		change          string // SQL after the doubt
		lost            string // the bot's standing after the doubt
		want            string // "" stays in doubt, else how it is settled
	}{
		{name: "seen on the page", applied: true, noProbe: true, want: "preview"},
		{name: "seen on the page among others", applied: true, noProbe: true, before: []string{"One"}, between: []string{"Two"}, want: "preview"},
		{name: "seen by the probe", applied: true, private: true, want: "probe"},
		{name: "seen by the probe among others", applied: true, private: true, between: []string{"Two", "Three"}, want: "probe"},
		{name: "not there", noProbe: true},
		{name: "not there, both looked", between: []string{"Two"}},
		{name: "a near-equal text", noProbe: true, between: []string{"High tide at 18:41\n\nStay off the pier."}},
		{name: "the beginning of the text", noProbe: true, between: []string{"High tide at 18:40"}},
		{name: "the text and more", between: []string{"High tide at 18:40\n\nStay off the pier. Really."}, private: true},
		{name: "the same text, older", before: []string{"High tide at 18:40\n\nStay off the pier."}, noProbe: true},
		{name: "the same text, older, by the probe", before: []string{"High tide at 18:40\n\nStay off the pier."}, private: true},
		{
			name: "the same text, another publication of ours", between: []string{"High tide at 18:40\n\nStay off the pier."}, noProbe: true,
			change: `INSERT INTO publications (draft_id, channel_id, chat_id, state, effect_key, form, html_hash, message_id, message_ids, published_at)
				SELECT 999, p.channel_id, p.chat_id, 'published', 'x', 'text', '', m, ARRAY[m], now() FROM publications p, generate_series(p.after_message_id + 1, p.after_message_id + 5) m WHERE p.draft_id < 900 AND p.state = 'unconfirmed' LIMIT 1`,
		},
		{name: "lost access", applied: true, private: true, lost: "left"},
		{name: "kicked", applied: true, private: true, lost: "kicked"},
		{name: "the name belongs to another channel", applied: true, noProbe: true, change: `UPDATE channels SET username = 'severny_den'`},
		{name: "no page and no probe", applied: true, private: true, noProbe: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var b *bundle
			options := []func(*publishing.Config){withPreview(&b), oneLook}
			if !tt.noProbe {
				options = append(options, withProbe)
			}
			b = newBundle(t, options...)
			b.start()
			// A post of ours that certainly exists: where a probe begins, and its control.
			known := b.schedule("The one before", "")
			b.waitState(known, editorial.Published)
			for _, post := range tt.before {
				b.postBy(annSandbox, b.chat, post)
			}
			if tt.private {
				b.exec(`UPDATE channels SET username = ''`)
			}
			b.tg.AddFault(sandbox.Fault{Kind: sandbox.FaultLost, Method: "sendMessage", ChatID: b.chat, Apply: tt.applied})
			b.exec(`UPDATE channels SET last_message_id = $1`, b.newest())
			id := b.schedule(text, "")
			b.waitState(id, editorial.Unconfirmed)
			for _, post := range tt.between {
				b.postBy(annSandbox, b.chat, post)
			}
			if tt.change != "" {
				b.exec(tt.change)
			}
			if tt.lost != "" {
				b.standing(b.chat, tt.lost)
			}
			b.settledAs(id, tt.want)
		})
	}
}

// newest is the newest message of the channel, as a person who reads it knows.
func (b *bundle) newest() int64 {
	b.t.Helper()
	list := b.posts(b.chat)
	return list[len(list)-1].ID
}

// settledAs waits for the looks and compares.
func (b *bundle) settledAs(id int64, want string) {
	b.t.Helper()
	if want == "" {
		b.wait("all looks are over", `SELECT NOT EXISTS (SELECT FROM jobs WHERE kind = 'reconcile')`)
		if got := value[string](b, `SELECT state || ' ' || settled_how || ' ' || coalesce(message_id, 0) FROM publications WHERE draft_id = $1`, id); got != "unconfirmed  0" {
			b.t.Errorf("claimed: %s", got)
		}
		if n := value[int](b, `SELECT count(*) FROM job_archive WHERE kind = 'publish' AND status = 'open' AND needs_reconcile`); n != 1 {
			b.t.Errorf("%d open doubts in the archive, want 1", n)
		}
		return
	}
	b.waitState(id, editorial.Published)
	posts := b.posts(b.chat)
	var ours int64
	for _, p := range posts {
		if p.Text == "High tide at 18:40\n\nStay off the pier." {
			ours = p.ID
		}
	}
	if got := value[int64](b, `SELECT message_id FROM publications WHERE draft_id = $1`, id); got != ours {
		b.t.Errorf("settled as message %d, and it is %d", got, ours)
	}
	if got := value[string](b, `SELECT p.settled_how || ' ' || e.state || ' ' || e.reconciled_by || ' ' || a.status || ' ' || z.finding
		  FROM publications p JOIN effects e ON e.effect_key = p.effect_key JOIN job_archive a ON a.job_id = e.job_id
		  JOIN publication_reviews z ON z.publication_id = p.id AND z.finding = 'there' WHERE p.draft_id = $1`, id); got != want+" done "+want+" reconciled there" {
		b.t.Errorf("settled: %s", got)
	}
}

// TestAProbeGoesOnWhereItWasCutShort: a 429 in the middle of a look costs
// nothing of what was seen.
func TestAProbeGoesOnWhereItWasCutShort(t *testing.T) {
	t.Parallel()
	b := newBundle(t, withProbe, oneLook)
	b.exec(`UPDATE channels SET username = ''`)
	b.start()
	known := b.schedule("The one before", "")
	b.waitState(known, editorial.Published)
	b.tg.AddFault(sandbox.Fault{Kind: sandbox.FaultLost, Method: "sendMessage", ChatID: b.chat, Apply: true})
	b.tg.AddFault(sandbox.Fault{Kind: sandbox.FaultTooMany, Method: "forwardMessage", Skip: 1, RetryAfter: 1})
	id := b.schedule("High tide at 18:40\n\nStay off the pier.", "")
	b.waitState(id, editorial.Unconfirmed)
	b.settledAs(id, "probe")
	if n := value[int](b, `SELECT count(*) FROM effects WHERE effect_key LIKE 'probe:%:control:%'`); n != 1 {
		t.Errorf("the control was forwarded %d times", n)
	}
}
