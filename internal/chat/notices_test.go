package chat_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/chat"
	"github.com/postonce/postonce/internal/postgres"
)

// notices are what app tells people, with samples of what it fills in.
func notices() []chat.Notice {
	at := clock().Add(5 * time.Hour).Unix()
	named := map[string]any{"Channel": "Space <Daily>", "Draft": 7}
	plan := map[string]any{"Plan": "Pro"}
	until := map[string]int64{"Until": at}
	recap := map[string]any{"Channel": "Space <Daily>", "Published": 2, "Scheduled": 1}
	lines := []chat.NoticeLine{
		{Mark: "✅", At: at - 20000, Title: "Rocket <reaches> orbit", URL: "https://t.me/space_daily/5"},
		{Mark: "🗓", At: at, Title: "Bridge opens again"},
	}
	restored := map[string]any{"Channel": "Space <Daily>", "Found": 3, "Alike": 1, "Returned": 2}
	fit := map[string]any{"Channels": 1, "Sources": 4}
	undo := []chat.NoticeButton{{Code: "card.undo", Data: chat.DataUndo(7, 2)}, {Code: "button.draft", Data: chat.DataDraft(7)}}
	return []chat.Notice{
		{Code: "notice.autopilot", Args: named, Times: map[string]int64{"When": at}, Buttons: undo},
		{Code: "notice.recap", Args: recap, Lines: lines, Buttons: []chat.NoticeButton{{Code: "button.plan", Data: chat.DataPlan(1)}}},
		{Code: "notice.failed", Args: named, Codes: map[string]string{"Why": "failure.too_long"}, Buttons: undo[1:]},
		{Code: "notice.doubt", Args: named, Buttons: undo[1:]},
		{Code: "notice.rewrite_failed", Args: named, Codes: map[string]string{"Why": "rewrite_failed.same"}},
		{Code: "notice.rewrite_failed", Args: named, Codes: map[string]string{"Why": "rewrite_failed.moved"}},
		{Code: "notice.rewrite_failed", Args: named, Codes: map[string]string{"Why": "rewrite_failed.gone"}},
		{Code: "notice.missed_moved", Args: named, Times: map[string]int64{"Was": at - 9000, "When": at}},
		{Code: "notice.missed_skipped", Args: named, Times: map[string]int64{"Was": at - 9000}},
		{Code: "notice.own_failed", Codes: map[string]string{"Why": "error.source.not_found"}},
		{Code: "notice.budget"},
		{Code: "notice.channel_lost", Args: named, Codes: map[string]string{"Why": "failure.kicked"}, Buttons: []chat.NoticeButton{{Code: "button.check_rights", Data: chat.DataCheckRights(-100)}}},
		{Code: "notice.source_failing", Args: map[string]any{"Source": "The Paper"}, Codes: map[string]string{"Why": "error.source.server_error"}},
		{Code: "notice.source_recovered", Args: map[string]any{"Source": "The Paper"}},
		{Code: "notice.imported", Args: map[string]any{"Count": 1, "Known": 0, "Failed": 0}},
		{Code: "notice.imported", Args: map[string]any{"Count": 3, "Known": 2, "Failed": 0}},
		{Code: "notice.imported", Args: map[string]any{"Count": 21, "Known": 0, "Failed": 5}},
		{Code: "notice.incident", Args: map[string]any{"Section": "PostonceQueueGrowing", "Tier": "default", "Depth": 40, "Minutes": 6}, Codes: map[string]string{"What": "incident.queue_growing", "Mend": "incident.queue_growing.mend"}, Urgent: true, Buttons: []chat.NoticeButton{{Code: "button.ops", Data: chat.DataOps()}}},
		{Code: "notice.incident_over", Codes: map[string]string{"What": "incident.queue_growing.over"}, Urgent: true},
		{Code: "notice.restored", Args: restored},
		{Code: "notice.restored_held", Args: restored, Buttons: []chat.NoticeButton{{Code: "button.release_channel", Data: chat.DataRelease(1)}}},
		{Code: "notice.restored_released", Args: restored},
		{Code: "notice.rests", Args: fit},
		{Code: "notice.wakes", Args: fit},
		{Code: "notice.spent_drafts", Args: map[string]any{"Limit": 100}},
		{Code: "notice.spent_model_drafts", Args: map[string]any{"Limit": 100}},
		{Code: "notice.paid", Args: plan, Times: until},
		{Code: "notice.renewed", Args: plan, Times: until},
		{Code: "notice.renews", Args: plan},
		{Code: "notice.ends", Args: plan, Times: until},
		{Code: "notice.ended", Args: plan},
		{Code: "notice.refunded", Args: plan},
		{Code: "notice.finding", Args: map[string]any{"Number": 3, "Detail": "250 XTR there, 200 XTR here.", "Charge": "stx-7f3a"}, Codes: map[string]string{"What": "finding.amount_differs"}, Buttons: []chat.NoticeButton{{Code: "button.findings", Data: chat.DataFindings()}}},
	}
}

// TestNoticesReadWell shows each in both languages.
func TestNoticesReadWell(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ann, boris := b.person("Ann", "en"), b.person("Борис", "ru")
	for i, a := range []*actor{ann, boris} {
		a.says([]string{"/terms", "/terms"}[i])
		for j, n := range notices() {
			n.Key, n.Zone = n.Code+string(rune('a'+j)), "UTC"
			err := postgres.InTx(t.Context(), b.pool, func(tx pgx.Tx) error { return chat.NotifyTx(t.Context(), tx, n, a.ID, a.ID) })
			if err != nil {
				t.Fatal(err)
			}
			a.hears()
		}
	}
	b.golden("notices")
}

// TestEveryNoticeOfTheProgramIsShown reads app's own code: a new notice cannot
// be forgotten here.
func TestEveryNoticeOfTheProgramIsShown(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile("../app/notices.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`"(notice\.[a-z_]+)"`).FindAllSubmatch(body, -1)
	if len(found) < 10 {
		t.Fatalf("only %d notices in app", len(found))
	}
	for _, m := range found {
		if !slices.ContainsFunc(notices(), func(n chat.Notice) bool { return strings.HasPrefix(n.Code, string(m[1])) }) {
			t.Errorf("%s is not among the notices of the transcript", m[1])
		}
	}
}
