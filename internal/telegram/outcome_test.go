package telegram_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/sandbox"
	"github.com/postonce/postonce/internal/telegram"
)

// bench is a stand-in behind a real socket and a client that talks to it.
type bench struct {
	sand   *sandbox.Sandbox
	url    string
	client *telegram.Client
	person int64
	logs   *strings.Builder
}

func newBench(t *testing.T) *bench {
	t.Helper()
	s, err := sandbox.New(sandbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		_ = s.Close()
	})
	b := &bench{sand: s, url: srv.URL, logs: &strings.Builder{}}
	b.client = b.dial(t, srv.URL)
	b.person = 500_100_001
	post(t, srv.URL+fmt.Sprintf("/sandbox/api/people/%d/send", b.person), `{"text":"/start"}`)
	return b
}

func (b *bench) dial(t *testing.T, url string) *telegram.Client {
	t.Helper()
	c, err := telegram.New(telegram.Config{Token: sandbox.DefaultToken, BaseURL: url, Logger: zerolog.New(b.logs)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	return c
}

func post(t *testing.T, url, body string) string {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	out, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("POST %s: %d %s", url, resp.StatusCode, out)
	}
	return string(out)
}

func (b *bench) send(ctx context.Context) (*models.Message, telegram.Outcome) {
	return b.client.SendMessage(ctx, &bot.SendMessageParams{ChatID: b.person, Text: "hello"}, telegram.Publishing())
}

// sent counts how often the message really arrived.
func (b *bench) sent() int {
	n := 0
	for _, c := range b.sand.Calls(0, "sendmessage") {
		if c.Applied {
			n++
		}
	}
	return n
}

// TestOutcomes is the table of what each way to end a request proves, through a real socket.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		fault   sandbox.Fault
		want    string // confirmed, refused, unknown
		kind    telegram.Kind
		after   time.Duration
		arrived int
	}{
		{"sound", sandbox.Fault{Kind: sandbox.FaultSlow}, "confirmed", "", 0, 1},
		{"message_id 0 is a success", sandbox.Fault{Kind: sandbox.FaultZeroID}, "confirmed", "", 0, 1},
		{"the request was lost", sandbox.Fault{Kind: sandbox.FaultLost}, "unknown", "", 0, 0},
		{"the answer was lost", sandbox.Fault{Kind: sandbox.FaultLost, Apply: true}, "unknown", "", 0, 1},
		{"reset before", sandbox.Fault{Kind: sandbox.FaultReset}, "unknown", "", 0, 0},
		{"reset after", sandbox.Fault{Kind: sandbox.FaultReset, Apply: true}, "unknown", "", 0, 1},
		{"never answered, not run", sandbox.Fault{Kind: sandbox.FaultHang}, "unknown", "", 0, 0},
		{"never answered, run", sandbox.Fault{Kind: sandbox.FaultHang, Apply: true}, "unknown", "", 0, 1},
		{"500, not run", sandbox.Fault{Kind: sandbox.FaultStatus, Status: 500, Description: "Internal Server Error"}, "unknown", "", 0, 0},
		{"500, run", sandbox.Fault{Kind: sandbox.FaultStatus, Status: 500, Description: "Internal Server Error", Apply: true}, "unknown", "", 0, 1},
		{"502 in JSON", sandbox.Fault{Kind: sandbox.FaultStatus, Status: 502, Description: "Bad Gateway"}, "unknown", "", 0, 0},
		{"a proxy's page, 502", sandbox.Fault{Kind: sandbox.FaultHTML, Apply: true}, "unknown", "", 0, 1},
		{"a proxy's page, 200", sandbox.Fault{Kind: sandbox.FaultHTML, Status: 200}, "unknown", "", 0, 0},
		{"a proxy's page, 403", sandbox.Fault{Kind: sandbox.FaultHTML, Status: 403}, "unknown", "", 0, 0},
		{"half an answer", sandbox.Fault{Kind: sandbox.FaultCut, Apply: true}, "unknown", "", 0, 1},
		{"ok without a result", sandbox.Fault{Kind: sandbox.FaultNull}, "unknown", "", 0, 0},
		{"429", sandbox.Fault{Kind: sandbox.FaultTooMany, RetryAfter: 7}, "refused", telegram.TooMany, 7 * time.Second, 0},
		{"a delay inside a 400", sandbox.Fault{Kind: sandbox.FaultStatus, Status: 400, Description: "Bad Request: retry after 9"}, "refused", telegram.TooMany, 9 * time.Second, 0},
		{"migrated", sandbox.Fault{Kind: sandbox.FaultMigrated, MigrateTo: -1001}, "refused", telegram.ChatMigrated, 0, 0},
		{"blocked", sandbox.Fault{Kind: sandbox.FaultStatus, Status: 403, Description: "Forbidden: bot was blocked by the user"}, "refused", telegram.Blocked, 0, 0},
		{"kicked", sandbox.Fault{Kind: sandbox.FaultStatus, Status: 403, Description: "Forbidden: bot was kicked from the channel chat"}, "refused", telegram.Kicked, 0, 0},
		{"rights lost", sandbox.Fault{Kind: sandbox.FaultStatus, Status: 400, Description: "Bad Request: need administrator rights in the channel chat"}, "refused", telegram.NoRights, 0, 0},
		{"a bad token", sandbox.Fault{Kind: sandbox.FaultStatus, Status: 401, Description: "Unauthorized"}, "refused", telegram.Unauthorized, 0, 0},
		{"any other 4xx", sandbox.Fault{Kind: sandbox.FaultStatus, Status: 400, Description: "Bad Request: SOMETHING_NEW"}, "refused", telegram.BadRequest, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			tt.fault.Method = "sendMessage"
			b.sand.AddFault(tt.fault)
			ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
			defer cancel()
			m, out := b.send(ctx)
			if got := telegram.Name(out); got != tt.want {
				t.Fatalf("outcome = %s (%v), want %s", got, out, tt.want)
			}
			if (m != nil) != (tt.want == "confirmed") {
				t.Errorf("message = %v", m)
			}
			if r, ok := out.(telegram.Refused); ok && (r.Kind != tt.kind || r.RetryAfter != tt.after) {
				t.Errorf("refusal = %+v, want kind %q after %s", r, tt.kind, tt.after)
			}
			if n := b.sent(); n != tt.arrived {
				t.Errorf("arrived %d times, want %d", n, tt.arrived)
			}
			if got := len(b.sand.Calls(0, "sendmessage")); got != 1 {
				t.Errorf("the client asked %d times", got)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", out, out, out)+b.logs.String(), "SANDBOX-only") {
				t.Errorf("the token leaks: %v\n%s", out, b.logs)
			}
		})
	}
}

func TestNotConnectedIsCertainlyNotSent(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	_ = closed.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and never answers a TLS greeting
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for name, base := range map[string]string{
		"connection refused":    "http://" + address,
		"no such host":          "http://no-such-host.invalid",
		"TLS against plain":     "https://" + strings.TrimPrefix(plain.URL, "http://"),
		"TLS that never begins": "https://" + silent.Addr().String(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &bench{logs: &strings.Builder{}, person: 1}
			b.client = b.dial(t, base)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, out := b.send(ctx)
			r, ok := out.(telegram.Refused)
			if !ok || r.Kind != telegram.NotReached || !r.Temporary() {
				t.Fatalf("outcome = %#v, want not_reached", out)
			}
			if strings.Contains(out.(error).Error()+b.logs.String(), "SANDBOX-only") {
				t.Errorf("the token leaks: %v", out)
			}
		})
	}
}

// choked lets a connection take only so many bytes.
type choked struct {
	net.Conn
	left int
}

func (c *choked) Write(p []byte) (int, error) {
	if len(p) > c.left {
		n, _ := c.Conn.Write(p[:c.left])
		c.left = 0
		_ = c.Close()
		return n, errors.New("the wire was cut")
	}
	c.left -= len(p)
	return c.Conn.Write(p)
}

func TestARequestThatWasNotWrittenWholeIsCertainlyNotSent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, bytes := range []int{0, 10, 200} {
		c, err := telegram.New(telegram.Config{
			Token: sandbox.DefaultToken, BaseURL: b.url,
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
				return &choked{conn, bytes}, err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		_, out := c.SendMessage(t.Context(), &bot.SendMessageParams{ChatID: b.person, Text: strings.Repeat("x", 4000)}, telegram.Publishing())
		if r, ok := out.(telegram.Refused); !ok || r.Kind != telegram.NotReached {
			t.Errorf("cut after %d bytes: %#v, want not_reached", bytes, out)
		}
	}
	if n := b.sent(); n != 0 {
		t.Errorf("%d messages arrived", n)
	}
}

// TestAStaleConnectionNeverTouchesPublishing: the server promises to keep its
// connections and closes each at the second request, as idle ones are closed.
func TestAStaleConnectionNeverTouchesPublishing(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() { // ends with the listener
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				req, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, req.Body)
				const body = `{"ok":true,"result":{"message_id":1,"date":1,"chat":{"id":1,"type":"private"}}}`
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				_, _ = http.ReadRequest(in)
			}()
		}
	}()
	b := &bench{logs: &strings.Builder{}, person: 1}
	b.client = b.dial(t, "http://"+l.Addr().String())
	for i := range 4 {
		if _, out := b.send(t.Context()); telegram.AsError(out) != nil {
			t.Fatalf("send %d: %v", i, out)
		}
	}
}

func TestWhatIsThereAlreadyIsNoError(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m, out := b.send(t.Context())
	if telegram.AsError(out) != nil {
		t.Fatal(out)
	}
	_, out = b.client.EditMessageText(t.Context(), &bot.EditMessageTextParams{ChatID: b.person, MessageID: m.ID, Text: "hello"})
	if c, ok := out.(telegram.Confirmed); !ok || c.Already != telegram.NotModified {
		t.Errorf("an edit without a change: %#v", out)
	}
	out = b.client.AnswerCallbackQuery(t.Context(), &bot.AnswerCallbackQueryParams{CallbackQueryID: "1234"})
	if c, ok := out.(telegram.Confirmed); !ok || c.Already != telegram.QueryTooOld {
		t.Errorf("an answer that comes too late: %#v", out)
	}
	_, out = b.client.EditMessageText(t.Context(), &bot.EditMessageTextParams{ChatID: b.person, MessageID: 999, Text: "x"})
	if !telegram.RefusedAs(telegram.AsError(out), telegram.MessageNotFound) {
		t.Errorf("an edit of nothing: %#v", out)
	}
}

func TestA429ClosesTheChatForEverybodyInTheProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.sand.AddFault(sandbox.Fault{Kind: sandbox.FaultTooMany, Method: "sendMessage", RetryAfter: 30})
	_, _ = b.send(t.Context())
	_, out := b.send(t.Context())
	r, ok := out.(telegram.Refused)
	if !ok || r.Kind != telegram.TooMany || r.Code != 0 || r.RetryAfter < 25*time.Second {
		t.Fatalf("the second send: %#v, want a refusal of our own", out)
	}
	if n := len(b.sand.Calls(0, "sendmessage")); n != 1 {
		t.Errorf("Telegram was asked %d times, want 1", n)
	}
}

func TestUploadsGoAsAForm(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m, out := b.client.SendDocument(t.Context(), &bot.SendDocumentParams{
		ChatID: b.person, Caption: "a <b>list</b>", ParseMode: models.ParseModeHTML,
		Document: &models.InputFileUpload{Filename: "list.opml", Data: strings.NewReader("<opml/>")},
	})
	if err := telegram.AsError(out); err != nil {
		t.Fatal(err)
	}
	if m.Document == nil || m.Document.FileName != "list.opml" || m.Caption != "a list" {
		t.Errorf("message = %+v", m)
	}
}

func TestTokenNeverPrints(t *testing.T) {
	t.Parallel()
	tok := telegram.Token("123456:AAE-very-secret-very-secret-very")
	for _, s := range []string{fmt.Sprint(tok), fmt.Sprintf("%s %q %v %+v %#v %x", tok, tok, tok, tok, tok, tok), fmt.Sprintf("%+v", struct{ T telegram.Token }{tok})} {
		if strings.Contains(s, "secret") || strings.Contains(s, "736563") {
			t.Errorf("leaks: %s", s)
		}
	}
	for _, bad := range []telegram.Token{"", "x", "123456", "abc:AAE-very-secret-very-secret-very", "1:short"} {
		if _, err := telegram.New(telegram.Config{Token: bad}); err == nil {
			t.Errorf("New accepts %q", string(bad))
		}
	}
}
