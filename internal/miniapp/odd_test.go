package miniapp_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestOddInputIsNeverOurFault sends what no page sends: characters that a database
// does not take, numbers beyond all, days at the ends of the calendar. Whatever is
// answered, it is no 500.
func TestOddInputIsNeverOurFault(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(80, 4)
	token := session(t, w.srv.URL, ann)
	ch := fmt.Sprintf("/channels/%d", w.channel)
	src := ch + fmt.Sprintf("/sources/%d", w.one(`SELECT min(id) FROM sources`))
	d := fmt.Sprintf("/drafts/%d", w.one(`SELECT max(id) FROM drafts WHERE state = 'proposed'`))
	posted := fmt.Sprintf("/drafts/%d", w.one(`SELECT max(id) FROM drafts WHERE state = 'published'`))
	story := w.one(`SELECT min(story_id) FROM scores`)
	var all [][3]string
	for _, odd := range []string{`\u0000`, `a\u0000b`, `\ud800`, "\xff\xfe", strings.Repeat("ы", 70_000), `\u202e\u2066`, `🏳️‍🌈`, ` `} {
		text := `"` + odd + `"`
		for _, f := range []string{"look_for", "avoid", "footer", "language", "time_zone", "link_style", "image_style", "missed", "autopilot", "digest", "digest_at"} {
			all = append(all, [3]string{"PATCH", ch, `{"` + f + `":` + text + `}`})
		}
		all = append(
			all, [3]string{"PATCH", ch, `{"tone":[` + text + `],"hashtags":[` + text + `]}`}, [3]string{"PATCH", ch, `{"quiet_from":` + text + `,"quiet_to":` + text + `}`},
			[3]string{"PATCH", src, `{"must_words":[` + text + `],"never_words":[` + text + `]}`}, [3]string{"PATCH", src, `{"pattern":` + text + `}`},
			[3]string{"PATCH", "/me", `{"language":` + text + `}`}, [3]string{"POST", ch + "/drafts", `{"text":` + text + `}`}, [3]string{"POST", ch + "/drafts", `{"url":` + text + `}`},
			[3]string{"POST", "/billing/checkout", `{"plan":` + text + `}`},
			[3]string{"POST", ch + "/invitations", `{"role":` + text + `}`}, [3]string{"PATCH", ch + fmt.Sprintf("/members/%d", vic), `{"role":` + text + `}`},
			[3]string{"POST", d + "/edit", `{"transition":1,"html":` + text + `}`}, [3]string{"POST", d + "/rewrite", `{"transition":1,"instruction":` + text + `}`},
			[3]string{"POST", d + "/skip", `{"transition":7,"reason":` + text + `}`}, [3]string{"POST", d + "/settle", `{"transition":1,"finding":` + text + `,"link":` + text + `}`},
			[3]string{"POST", d + "/schedule", `{"transition":1,"local":` + text + `}`}, [3]string{"POST", posted + "/edit-post", `{"html":` + text + `}`},
		)
	}
	for _, odd := range []string{`\u0000`, `http://a\u0000b/`} { // the others would be looked for in the network
		all = append(all, [3]string{"POST", ch + "/sources", `{"address":"` + odd + `"}`}, [3]string{"POST", "/probe", `{"address":"` + odd + `"}`})
	}
	for _, odd := range []string{"%00", "%ff", "%E2%80%AE", "-1", "0", "1e9", "99999999999999999999", "0000-01-01", "9999-12-31", "2026-02-30", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "'", "%27%3B--", url.QueryEscape(strings.Repeat("я", 3000))} {
		for _, q := range []string{
			ch + "/plan?from=", ch + "/plan?days=42&from=", ch + "/plan?days=", ch + "/free-slots?n=", ch + "/drafts?state=", ch + "/drafts?before=", ch + "/drafts?limit=",
			ch + "/activity?before=", ch + "/activity?limit=", ch + "/dropped?day=", "/packs?language=", "/life?ref=", "/events?channel=", "/channels/", "/drafts/",
		} {
			if odd == "1e9" || q != "/events?channel=" { // a stream would not end
				all = append(all, [3]string{"GET", q + odd, ""})
			}
		}
	}
	for _, n := range []string{"-1", "0", "4611686018427387904", "1e400", "null", `""`, "[]", "{}"} {
		all = append(
			all, [3]string{"POST", d + "/approve", `{"transition":` + n + `}`}, [3]string{"PATCH", src, `{"weight":` + n + `}`}, [3]string{"PATCH", ch, `{"threshold":` + n + `}`},
			[3]string{"PATCH", ch, `{"daily_cap":` + n + `}`}, [3]string{"PATCH", ch, `{"autopilot_minutes":` + n + `}`}, [3]string{"PATCH", ch, `{"autopilot_sources":[` + n + `]}`},
			[3]string{"PATCH", ch, `{"week":` + n + `}`}, [3]string{"PATCH", ch, `{"week":{"mon":[` + n + `]}}`}, [3]string{"PATCH", "/me", `{"channel_id":` + n + `}`}, [3]string{"PATCH", ch, n},
		)
	}
	for _, at := range []string{"0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2027-02-28T24:00:00Z", "2027-01-01T00:00:00+23:59"} {
		all = append(all, [3]string{"POST", d + "/schedule", `{"transition":1,"at":"` + at + `"}`}, [3]string{"POST", d + "/move", `{"transition":1,"at":"` + at + `"}`})
	}
	all = append(all, [3]string{"POST", ch + "/packs/%00", `{}`}, [3]string{"POST", ch + fmt.Sprintf("/dropped/%d/rescue", story), `{`}, [3]string{"POST", ch + "/sources.opml", "\x00\xff<opml>"})
	for _, c := range all {
		w.ahead.Add(int64(time.Second)) // the pace that a person is allowed
		res, out := ask(t, c[0], w.srv.URL+"/api/v1"+c[1], token, c[2])
		if res.StatusCode >= http.StatusInternalServerError {
			t.Errorf("%s %s %.60q: %d %v", c[0], c[1], c[2], res.StatusCode, out)
		}
		if detail, _ := out["detail"].(string); res.StatusCode >= 400 && detail == "" {
			t.Errorf("%s %s %.60q: %d %v says nobody what to do", c[0], c[1], c[2], res.StatusCode, out)
		}
	}
	t.Logf("%d requests", len(all))
}
