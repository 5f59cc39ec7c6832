package sources

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// answer is one answer of a server and what a poll must make of it.
type answer struct {
	status  int
	header  string // "Name: value" lines
	shown   []string
	body    string
	cut     bool   // the connection breaks in front of the declared end
	torn    bool   // it breaks inside a chunk
	result  string // of the poll; "" = ok
	fresh   []string
	wait    time.Duration // the next poll comes no earlier
	atMost  time.Duration // and no later
	sent    string        // If-None-Match of the request, "-" = none
	state   string
	address string // suffix of the address afterwards
}

// packed is a body in gzip.
func packed(t *testing.T, s string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestServersThroughSeveralPolls plays what servers answer from one request to
// the next. "SELF" in a header is the server.
func TestServersThroughSeveralPolls(t *testing.T) {
	t.Parallel()
	a, ab, abc := []string{"a"}, []string{"b", "a"}, []string{"c", "b", "a"}
	first := answer{shown: a, fresh: a}
	b, f := newBench(t), newFeedServer(t)
	base := strings.TrimSuffix(f.url, "/feed.xml")
	deep := packed(t, "<rss><channel><item>"+strings.Repeat("<x>", 50_000))
	for name, steps := range map[string][]answer{
		"304 brings other validators": {
			{header: "ETag: \"1\"", shown: a, fresh: a, sent: "-"},
			{status: 304, header: "ETag: \"2\"", result: "unchanged", sent: `"1"`},
			{status: 304, result: "unchanged", sent: `"2"`},
			{header: "ETag: W/\"3\"", shown: ab, fresh: []string{"b"}, sent: `"2"`},
			{status: 304, result: "unchanged", sent: `W/"3"`},
		},
		"200 with the same tag": {
			{header: "ETag: \"1\"", shown: a, fresh: a},
			{header: "ETag: \"1\"", shown: ab, fresh: []string{"b"}, sent: `"1"`},
			{header: "ETag: \"1\"", shown: abc, fresh: []string{"c"}},
		},
		"a 200 without a tag forgets it": {
			{header: "ETag: \"1\"", shown: a, fresh: a},
			{shown: ab, fresh: []string{"b"}, sent: `"1"`},
			{shown: ab, sent: "-", result: "unchanged"},
		},
		"cut bodies keep no tag": {
			{header: "ETag: \"1\"", shown: a, fresh: a},
			{header: "ETag: \"2\"", shown: ab, cut: true, result: CodeCutBody, sent: `"1"`, fresh: []string{"b"}},
			{header: "ETag: \"2\"", shown: abc, sent: `"1"`, fresh: []string{"c"}},
		},
		"a torn document keeps no tag": {
			{header: "ETag: \"1\"", shown: a, fresh: a},
			{header: "ETag: \"2\"", body: strings.TrimSuffix(feedOf("b"), "</channel></rss>") + "<item><ti", result: CodeCutBody, sent: `"1"`, fresh: []string{"b"}},
			{header: "ETag: \"2\"", shown: abc, sent: `"1"`, fresh: []string{"c"}},
		},
		"an error keeps the tag": {
			{header: "ETag: \"1\"", shown: a, fresh: a},
			{status: 500, header: "ETag: \"9\"", result: CodeServer, sent: `"1"`},
			{header: "ETag: \"9\"", body: "<!doctype html><html><body>back soon</body></html>", result: "html_page", sent: `"1"`},
			{status: 304, result: "unchanged", sent: `"1"`},
		},
		"429 in seconds":                      {first, {status: 429, header: "Retry-After: 7200", result: CodeRateLimited, wait: 2 * time.Hour, atMost: 3 * time.Hour}, {shown: ab, fresh: []string{"b"}}},
		"429 with a date":                     {first, {status: 429, header: "Retry-After: Mon, 04 May 2026 15:00:00 GMT", result: CodeRateLimited, wait: 6 * time.Hour, atMost: 7 * time.Hour}},
		"429 without":                         {first, {status: 429, result: CodeRateLimited, wait: 5 * time.Minute}},
		"503 in seconds":                      {first, {status: 503, header: "Retry-After: 36000", result: CodeServer, wait: 10 * time.Hour, atMost: 11 * time.Hour}, {shown: ab, fresh: []string{"b"}}},
		"503 with an odd date":                {first, {status: 503, header: "Retry-After: Monday, 04-May-26 15:00:00 GMT", result: CodeServer, wait: 6 * time.Hour}},
		"503 in the past":                     {first, {status: 503, header: "Retry-After: Mon, 04 May 2020 15:00:00 GMT", result: CodeServer, wait: 4 * time.Minute, atMost: 24 * time.Hour}},
		"503 minus":                           {first, {status: 503, header: "Retry-After: -5", result: CodeServer, wait: 4 * time.Minute, atMost: 24 * time.Hour}},
		"503 for years":                       {first, {status: 503, header: "Retry-After: 999999999999", result: CodeServer, wait: time.Hour, atMost: 49 * time.Hour}},
		"404 flaps":                           {first, {status: 404, result: CodeNotFound, state: stateActive}, {shown: ab, fresh: []string{"b"}}, {status: 404, result: CodeNotFound}, {shown: abc, fresh: []string{"c"}, state: stateActive}},
		"410":                                 {first, {status: 410, result: CodeGone, state: stateGone}},
		"401 and 403 pass":                    {first, {status: 401, result: CodeForbidden}, {status: 403, result: CodeForbidden, state: stateActive}, {shown: ab, fresh: []string{"b"}}},
		"204":                                 {first, {status: 204, result: CodeStatus, state: stateActive}, {shown: ab, fresh: []string{"b"}}},
		"nothing":                             {first, {body: " ", result: "empty"}, {shown: ab, fresh: []string{"b"}}},
		"json of an error":                    {first, {header: "Content-Type: application/json", body: `{"error":"x"}`, result: "json_error"}, {shown: ab, fresh: []string{"b"}}},
		"deep and packed":                     {first, {header: "Content-Encoding: gzip", body: deep, result: "too_deep"}, {shown: ab, fresh: []string{"b"}}},
		"an unknown encoding":                 {first, {header: "Content-Encoding: br", body: "\x0b\x02\x80", result: "bad_encoding"}, {shown: ab, fresh: []string{"b"}}},
		"moved once":                          {first, {status: 301, header: "Location: SELF/to", result: "unchanged", address: "moved%20once"}, {shown: ab, fresh: []string{"b"}, address: "moved%20once"}},
		"moved twice":                         {first, {status: 308, header: "Location: SELF/to", result: "unchanged"}, {status: 301, header: "Location: SELF/to", result: "unchanged", address: "/to"}},
		"moved for now":                       {first, {status: 302, header: "Location: SELF/to", result: "unchanged"}, {status: 307, header: "Location: SELF/to", result: "unchanged", address: "moved%20for%20now"}},
		"304 to a request without conditions": {{status: 304, result: CodeStatus}, {status: 304, result: CodeStatus}, first},
		"304 after the tag was forgotten":     {first, {status: 304, result: CodeStatus}, {shown: ab, fresh: []string{"b"}}},
		"a weak tag becomes a strong one": {
			{header: "ETag: W/\"1\"", shown: a, fresh: a},
			{status: 304, header: "ETag: \"1\"", result: "unchanged", sent: `W/"1"`},
			{header: "ETag: W/\"1\"", shown: ab, fresh: []string{"b"}, sent: `"1"`},
		},
		"another tag at each request": {
			{header: "ETag: \"1\"", shown: a, fresh: a},
			{header: "ETag: \"2\"", shown: a, result: "unchanged", sent: `"1"`},
			{header: "ETag: \"3\"", shown: ab, fresh: []string{"b"}, sent: `"2"`},
		},
		"a tag without quotes": {
			{header: "ETag: abc", shown: a, fresh: a},
			{status: 304, result: "unchanged", sent: "abc"},
			{shown: ab, fresh: []string{"b"}, sent: "abc"},
		},
		"a tag of odd bytes": {
			{header: "ETag: \"caf\xe9\"\nLast-Modified: \xff", shown: a, fresh: a},
			{header: "ETag: \"caf\xe9\"", shown: ab, fresh: []string{"b"}},
		},
		"a type of odd bytes":     {{header: "Content-Type: text/\xe9; charset=\xff", shown: a, fresh: a}},
		"moved to odd bytes":      {first, {status: 301, header: "Location: SELF/to?q=\xe9\x80", result: "unchanged"}, {status: 301, header: "Location: SELF/to?q=\xe9\x80", result: "unchanged", address: "/to?q=%E9%80"}},
		"moved to odd path bytes": {first, {status: 301, header: "Location: SELF/to/\xd0\xbf\xe9", result: CodeNotFound}, {shown: ab, fresh: []string{"b"}}},
		"an error of odd bytes":   {first, {status: 429, header: "Retry-After: \xe9", result: CodeRateLimited}, {header: "Content-Encoding: b\xe9", shown: ab, fresh: []string{"b"}}},
		"junk of odd bytes":       {first, {body: "<\xe9\xff>", result: "not_a_feed"}, {body: "<\u00e9\u2028\x00>", result: "not_a_feed"}, {body: "{\"error\":\"\xe9\x00\"}", result: "json_error"}, {shown: ab, fresh: []string{"b"}}},
		"an empty 200 keeps the tag": {
			{header: "ETag: \"1\"", shown: a, fresh: a},
			{header: "ETag: \"2\"", result: "empty", sent: `"1"`},
			{header: "ETag: \"2\"", shown: ab, fresh: []string{"b"}, sent: `"1"`},
		},
		"a chunk breaks": {
			{header: "ETag: \"1\"", shown: a, fresh: a},
			{header: "ETag: \"2\"", shown: ab, torn: true, result: CodeCutBody, sent: `"1"`, fresh: []string{"b"}},
			{header: "ETag: \"2\"", shown: ab, sent: `"1"`},
		},
		"a remark behind gzip": {
			{header: "ETag: \"1\"\nContent-Encoding: gzip", body: packed(t, feedOf("a")) + "<!-- 3 ms -->", fresh: a},
			{status: 304, result: "unchanged", sent: `"1"`},
		},
		"torn gzip": {
			{header: "ETag: \"1\"", shown: a, fresh: a},
			{header: "ETag: \"2\"\nContent-Encoding: gzip", body: packed(t, feedOf("b"))[:40], result: "connection", sent: `"1"`},
			{header: "ETag: \"2\"", shown: ab, fresh: []string{"b"}, sent: `"1"`},
		},
		"the type of a picture":         {{header: "Content-Type: image/png", shown: a, fresh: a}, {header: "Content-Type: text/html; charset=utf-8", shown: ab, fresh: []string{"b"}}},
		"429 on a page":                 {first, {status: 429, header: "Retry-After: 120\nContent-Type: text/html", body: "<html>slow down</html>", result: CodeRateLimited, wait: 2 * time.Minute}, {shown: ab, fresh: []string{"b"}}},
		"429 with nonsense":             {first, {status: 429, header: "Retry-After: soon", result: CodeRateLimited, wait: 4 * time.Minute, atMost: 49 * time.Hour}},
		"451":                           {first, {status: 451, header: "Retry-After: 3600", result: CodeForbidden, state: stateActive}, {shown: ab, fresh: []string{"b"}}},
		"402":                           {first, {status: 402, result: CodeForbidden, state: stateActive}},
		"520 of a proxy":                {first, {status: 520, body: "<html>error</html>", result: CodeServer, state: stateActive}, {shown: ab, fresh: []string{"b"}}},
		"202 and 206":                   {first, {status: 202, result: CodeStatus}, {status: 206, shown: ab, result: CodeStatus}, {shown: ab, fresh: []string{"b"}}},
		"203":                           {first, {status: 203, shown: ab, fresh: []string{"b"}}},
		"a redirect to nowhere":         {first, {status: 301, result: CodeStatus}, {status: 302, header: "Location: ", result: CodeStatus}, {shown: ab, fresh: []string{"b"}}},
		"a choice of addresses":         {first, {status: 300, header: "Location: SELF/to", result: CodeStatus, state: stateActive}},
		"moved, seen by 303":            {first, {status: 303, header: "Location: SELF/to", result: "unchanged", address: "303"}, {status: 303, header: "Location: SELF/to", result: "unchanged", address: "303"}},
		"moved to a page":               {first, {status: 301, header: "Location: SELF/page", result: "html_page"}, {status: 301, header: "Location: SELF/page", result: "html_page", address: "page"}, {shown: ab, fresh: []string{"b"}}},
		"moved, then not":               {first, {status: 301, header: "Location: SELF/to", result: "unchanged"}, {shown: a, result: "unchanged"}, {status: 301, header: "Location: SELF/to", result: "unchanged", address: "moved,%20then%20not"}},
		"a question about cookies":      {first, {body: "<!doctype html><title>Before you continue</title>", result: "html_page"}, {shown: ab, fresh: []string{"b"}}},
		"a missing page that says 200":  {first, {body: "<html><head><title>404</title></head><body>Not found</body></html>", result: "html_page"}, {body: "Not found", result: "not_a_feed"}, {shown: ab, fresh: []string{"b"}}},
		"a page that leads elsewhere":   {first, {body: `<html><head><meta http-equiv="refresh" content="0;url=/to"></head></html>`, result: "html_page"}},
		"errors of a database in front": {first, {body: "Error establishing a database connection", result: "not_a_feed"}, {body: "Warning: x\n" + feedOf("b", "a"), fresh: []string{"b"}}},
		"another format of the same": {
			first,
			{body: `<feed xmlns="http://www.w3.org/2005/Atom"><title>Wire</title><entry><id>id-b</id><title>b</title><link href="http://e.org/b"/></entry><entry><id>id-a</id><title>a</title><link href="http://e.org/a"/></entry></feed>`, fresh: []string{"b"}},
			{body: `{"version":"https://jsonfeed.org/version/1.1","title":"Wire","items":[{"id":"id-c","title":"c","url":"http://e.org/c"},{"id":"id-b","title":"b","url":"http://e.org/b"},{"id":"id-a","title":"a","url":"http://e.org/a"}]}`, fresh: []string{"c"}},
			{body: `cb([{"id":"id-c","title":"c","url":"http://e.org/c","content_text":"x"},{"id":"id-b","title":"b","url":"http://e.org/b"}]);`},
			{shown: abc},
		},
		"a loop":               {first, {status: 301, header: "Location: SELF/loop", result: "redirect_loop"}, {shown: ab, fresh: []string{"b"}}},
		"into a private place": {first, {status: 301, header: "Location: http://10.0.0.1/feed", result: "private_address"}, {shown: ab, fresh: []string{"b"}}},
		"to another scheme":    {first, {status: 302, header: "Location: file:///etc/passwd", result: "bad_address"}, {shown: ab, fresh: []string{"b"}}},
	} {
		start := time.Date(2026, 5, 4, 8, 0, 0, 0, time.UTC)
		b.set(start)
		id := int64(0)
		for i, s := range steps {
			what := fmt.Sprintf("%s, poll %d", name, i+1)
			sent := ""
			f.handle(func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/to":
					fmt.Fprint(w, feedOf("a"))
					return
				case "/to/\xd0\xbf\xe9":
					w.WriteHeader(http.StatusNotFound)
					return
				case "/page":
					fmt.Fprint(w, "<!doctype html><title>Moved</title><p>We have a new site.")
					return
				case "/loop":
					http.Redirect(w, r, "/loop?"+r.URL.RawQuery, http.StatusFound)
					return
				}
				sent = r.Header.Get("If-None-Match")
				for _, h := range strings.Split(s.header, "\n") {
					if k, v, ok := strings.Cut(h, ": "); ok {
						w.Header().Set(k, strings.ReplaceAll(v, "SELF", base))
					}
				}
				body := s.body
				if s.shown != nil {
					body = feedOf(s.shown...)
				}
				if s.cut {
					w.Header().Set("Content-Length", fmt.Sprint(len(body)+100))
				}
				if s.status != 0 {
					w.WriteHeader(s.status)
				}
				fmt.Fprint(w, body)
				if s.torn {
					_ = http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}
			})
			if id == 0 {
				id = b.add(base + "/" + strings.ReplaceAll(name, " ", "%20"))
			}
			rep, fresh := b.poll(id)
			if want := firstOf(s.result, "ok"); rep.Result != want {
				t.Errorf("%s: result %s, want %s (%s)", what, rep.Result, want, rep.Note)
			}
			if got := titlesOf(fresh); !slices.Equal(got, s.fresh) && len(got)+len(s.fresh) > 0 {
				t.Errorf("%s: new %q, want %q", what, got, s.fresh)
			}
			wait := rep.NextPoll.Sub(*b.at.Load())
			if wait < s.wait || s.atMost > 0 && wait > s.atMost {
				t.Errorf("%s: next poll in %v", what, wait)
			}
			if s.sent == "-" && sent != "" || s.sent != "" && s.sent != "-" && sent != s.sent {
				t.Errorf("%s: If-None-Match %q, want %q", what, sent, s.sent)
			}
			if got := value[string](b, "SELECT state FROM sources WHERE id = $1", id); s.state != "" && got != s.state {
				t.Errorf("%s: state %s", what, got)
			}
			if got := value[string](b, "SELECT url FROM sources WHERE id = $1", id); s.address != "" && !strings.HasSuffix(got, s.address) {
				t.Errorf("%s: address %s", what, got)
			}
			b.pass(time.Hour)
		}
	}
}
