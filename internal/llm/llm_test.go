package llm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func request() Request {
	temp := 0.3
	return Request{System: "sys", Turns: []Turn{{Text: "hello"}}, Schema: json.RawMessage(`{"type":"object"}`), MaxTokens: 100, Temperature: &temp}
}

const okBody = `{"choices":[{"finish_reason":"stop","message":{"content":"hi"}}],"usage":{"prompt_tokens":7,"completion_tokens":3}}`

func serve(t *testing.T, h http.HandlerFunc) (*Client, *atomic.Int32) {
	t.Helper()
	var calls atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		h(w, r)
	}))
	t.Cleanup(srv.Close)
	return New(Config{BaseURL: srv.URL + "/v1/", Key: "sk-secret", Model: "m"}), &calls
}

func call(t *testing.T, c *Client, wait time.Duration) (Answer, *Error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	a, err := c.Complete(ctx, c.Encode(request()))
	var e *Error
	if err != nil && !errors.As(err, &e) {
		t.Fatalf("%v is no *Error", err)
	}
	return a, e
}

func TestEveryResponseSaysWhatIsKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    Fault
		retry   time.Duration
	}{
		"401":             {status(401, `{"error":{"message":"Incorrect API key provided: sk-secret"}}`), Denied, 0},
		"403":             {status(403, `no`), Denied, 0},
		"404":             {status(404, `{"error":{"message":"model not found"}}`), Rejected, 0},
		"400":             {status(400, `{"error":{"message":"too long a prompt"}}`), Rejected, 0},
		"429 with a time": {status(429, `{"error":{"message":"slow down"}}`), RateLimited, 7 * time.Second},
		"429 for quota":   {status(429, `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`), NoQuota, 7 * time.Second},
		"500":             {status(500, `oops`), Unknown, 0},
		"503":             {status(503, `{"error":{"message":"overloaded"}}`), Unknown, 0},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		}, Rejected, 0},
		"HTML":             {status(200, `<html>`), Garbled, 0},
		"no choice":        {status(200, `{"choices":[]}`), Garbled, 0},
		"an endless body":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.Copy(w, io.LimitReader(zeros{}, maxBody+10)) }, Garbled, 0},
		"a hang":           {func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body); <-r.Context().Done() }, Unknown, 0},
		"a broken pipe":    {hangUp(""), Unknown, 0},
		"half an answer":   {hangUp("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"cho"), Unknown, 0},
		"a wrong protocol": {hangUp("SSH-2.0\r\n"), Unknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, calls := serve(t, c.handler)
			_, e := call(t, client, 2*time.Second)
			if e == nil || e.Fault != c.want {
				t.Fatalf("got %v, want %s", e, c.want)
			}
			if e.RetryAfter != c.retry {
				t.Errorf("retry after %s, want %s", e.RetryAfter, c.retry)
			}
			if strings.Contains(e.Error(), "secret") {
				t.Errorf("%q shows the key", e)
			}
			if n := calls.Load(); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if code == 429 {
			w.Header().Set("Retry-After", "7")
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func hangUp(first string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		_, _ = io.WriteString(conn, first)
		_ = conn.Close()
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	if _, e := call(t, New(Config{BaseURL: "http://" + addr, Model: "m"}), time.Second); e == nil || e.Fault != Unreachable {
		t.Errorf("got %v, want unreachable", e)
	}
}

func TestTheLadderIsClimbedDownOnceAndRemembered(t *testing.T) {
	t.Parallel()
	var bodies []string
	client, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(b))
		switch body := string(b); {
		case strings.Contains(body, "json_schema"):
			status(400, `{"error":{"message":"response_format json_schema is not supported"}}`)(w, r)
		case strings.Contains(body, "max_completion_tokens"):
			status(400, `{"error":"unknown field max_completion_tokens"}`)(w, r)
		case strings.Contains(body, "json_object"):
			status(422, `{"detail":"response_format: unexpected"}`)(w, r)
		default:
			status(200, okBody)(w, r)
		}
	})
	for i := range 3 {
		if _, e := call(t, client, time.Second); e == nil || e.Fault != Unsupported {
			t.Fatalf("call %d: %v, want unsupported", i, e)
		}
	}
	a, e := call(t, client, time.Second)
	if e != nil || a.Text != "hi" || a.TokensIn != 7 || a.TokensOut != 3 {
		t.Fatalf("%+v, %v after the ladder", a, e)
	}
	if _, e := call(t, client, time.Second); e != nil {
		t.Errorf("the ladder was forgotten: %v", e)
	}
	if len(bodies) != 5 || !strings.Contains(bodies[4], `"max_tokens":100`) {
		t.Errorf("sent %q", bodies)
	}
}

func TestAnthropic(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != "k" || r.Header.Get("Anthropic-Version") == "" || !strings.Contains(string(b), `"system":"sys"`) {
			w.WriteHeader(400)
			return
		}
		_, _ = io.WriteString(w, `{"type":"message","content":[{"type":"text","text":"hi"}],"stop_reason":"max_tokens","usage":{"input_tokens":5,"output_tokens":2}}`)
	}))
	t.Cleanup(srv.Close)
	a, e := call(t, New(Config{API: Anthropic, BaseURL: srv.URL + "/v1", Key: "k", Model: "claude"}), time.Second)
	if e != nil || a.Text != "hi" || !a.CutOff || a.TokensIn != 5 {
		t.Errorf("%+v, %v", a, e)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(okBody))
	f.Add([]byte(`{"choices":[{"message":{"content":null,"refusal":"no"}}],"usage":{"prompt_tokens":-1}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, d := range []func([]byte) (Answer, error){decodeOpenAI, decodeAnthropic} {
			if a, err := d(raw); err == nil && (a.TokensIn < 0 || a.TokensOut < 0) {
				t.Errorf("negative cost in %+v", a)
			}
		}
	})
}
