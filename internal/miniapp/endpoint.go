package miniapp

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
)

// call is one request of a signed-in person.
type call struct {
	*http.Request
	w      http.ResponseWriter
	by     int64
	person editorial.Person
}

// reply is what a handler answers. The zero status is 200; raw is sent as it is;
// done means that the handler wrote the answer itself.
type reply struct {
	status int
	body   any
	raw    []byte
	kind   string // content type of raw
	tag    string // goes before the digest in the ETag
	done   bool
}

func ok(body any) reply       { return reply{body: body} }
func accepted(body any) reply { return reply{status: http.StatusAccepted, body: body} }

// problem is an error of the API, application/problem+json (RFC 9457).
type problem struct {
	Type   string         `json:"type"`
	Title  string         `json:"title"`
	Status int            `json:"status"`
	Detail string         `json:"detail"` // what to do
	Code   string         `json:"code"`
	Args   map[string]any `json:"args,omitempty"`
}

// Error makes a problem an error that a handler may return.
func (p problem) Error() string { return fmt.Sprintf("%d %s", p.Status, p.Code) }

func badRequest(detail string) problem {
	return problem{Status: http.StatusBadRequest, Code: "bad_request", Title: "The request cannot be read.", Detail: detail}
}

// endpoint turns a route into a handler: session, body limit, answer, errors.
func (s *Server) endpoint(rt route) http.Handler {
	limit := rt.limit
	if limit == 0 {
		limit = bodyLimit
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Cache-Control", "private, no-cache")
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("Vary", "Authorization")
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		c := &call{Request: r, w: w}
		if !rt.open {
			if err := s.admit(c); err != nil {
				s.refuse(c, err)
				return
			}
			if s.cfg.As != nil {
				c.Request = c.WithContext(s.cfg.As(c.Context(), c.by))
			}
			if wait := s.rate.Take(c.by, s.cfg.Now()); wait > 0 {
				head.Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
				s.refuse(c, &desk.Error{Code: desk.CodeTooFast, Args: map[string]any{"seconds": int(wait.Seconds())}})
				return
			}
		}
		res, err := rt.handle(c)
		if err != nil {
			s.refuse(c, err)
			return
		}
		if !res.done {
			s.answer(c, res)
		}
	})
}

// answer writes a reply with its ETag; a reader who has it already gets 304.
func (s *Server) answer(c *call, res reply) {
	body, kind := res.raw, res.kind
	if body == nil {
		var err error
		if body, err = json.Marshal(res.body); err != nil {
			s.refuse(c, err)
			return
		}
		kind = "application/json"
	}
	if c.Method == http.MethodGet {
		sum := sha256.Sum256(body)
		etag := `"` + res.tag + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
		c.w.Header().Set("ETag", etag)
		if strings.Contains(c.Header.Get("If-None-Match"), etag) {
			c.w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	c.w.Header().Set("Content-Type", kind)
	if res.status != 0 {
		c.w.WriteHeader(res.status)
	}
	_, _ = c.w.Write(body) // the reader went away: nobody to tell
}

// refuse turns an error into a problem; what nobody foresaw is logged and told as 500.
func (s *Server) refuse(c *call, err error) {
	if errors.Is(err, context.Canceled) && c.Context().Err() != nil {
		return // nobody waits for the answer any more
	}
	p, known := errors.AsType[problem](err)
	if !known {
		p, known = deskProblem(err)
	}
	if !known && postgres.BadText(err) {
		p, known = badRequest("A text may hold no zero character and has to be UTF-8."), true
	}
	if !known {
		s.cfg.Logger.Error().Err(err).Str("method", c.Method).Str("path", c.URL.Path).Int64("person", c.by).Msg("the Mini App's request failed")
		p = problem{Status: http.StatusInternalServerError, Code: "internal", Title: "Something went wrong on our side."}
	}
	s.writeProblem(c.w, p)
}

func (s *Server) writeProblem(w http.ResponseWriter, p problem) {
	if p.Type == "" {
		p.Type = "about:blank"
	}
	if p.Detail == "" {
		p.Detail = s.advice.of(p.Code, p.Args)
	}
	if p.Detail == "" { // a code that the page has no words for
		p.Detail = "What can be asked, and how, stands in " + prefix + "openapi.json."
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // as above
}

// deskProblem tells what the desk refused. Its code is a key of the page's texts.
func deskProblem(err error) (problem, bool) {
	e, ok := errors.AsType[*desk.Error](err)
	if !ok {
		return problem{}, false
	}
	p := problem{Status: http.StatusUnprocessableEntity, Code: e.Code, Args: e.Args, Title: strings.ReplaceAll(strings.TrimPrefix(e.Code, "error."), "_", " ")}
	switch e.Code {
	case desk.CodeChanged:
		p.Status = http.StatusPreconditionFailed
	case desk.CodeNotYours:
		p.Status = http.StatusNotFound
	case desk.CodeRole, desk.CodeNoAccess, desk.CodeNotOperator, desk.CodeLimit:
		p.Status = http.StatusForbidden
	case desk.CodeTooFast:
		p.Status = http.StatusTooManyRequests
	case desk.CodeSlotTaken, desk.CodeSlotPast, desk.CodeNoSlot, desk.CodeBusy, desk.CodePaused, desk.CodeRests, desk.CodeLastOwner:
		p.Status = http.StatusConflict
	}
	return p, true
}

// decode reads a JSON body into T and refuses fields that it does not know.
func decode[T any](c *call) (T, error) {
	var v T
	if kind, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type")); kind != "application/json" {
		return v, problem{Status: http.StatusUnsupportedMediaType, Code: "media_type", Title: "The body is not JSON.", Detail: "Send JSON with Content-Type: application/json."}
	}
	d := json.NewDecoder(c.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return v, bodyProblem(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return v, badRequest("There is more after the JSON value.")
	}
	return v, nil
}

func bodyProblem(err error) problem {
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return problem{Status: http.StatusRequestEntityTooLarge, Code: "too_large", Title: "The body is too large.", Detail: fmt.Sprintf("Send at most %d bytes.", big.Limit), Args: map[string]any{"limit": big.Limit}}
	}
	return badRequest("Mend the body: " + err.Error())
}

// id reads a number from the path.
func (c *call) id(name string) (int64, error) {
	n, err := strconv.ParseInt(c.PathValue(name), 10, 64)
	if err != nil || n <= 0 {
		return 0, &desk.Error{Code: desk.CodeNotYours, Cause: err}
	}
	return n, nil
}

// inChannel makes a handler of what is done in the channel that the path names.
func inChannel(do func(c *call, id int64) (reply, error)) func(c *call) (reply, error) {
	return func(c *call) (reply, error) {
		id, err := c.id("channel")
		if err != nil {
			return reply{}, err
		}
		return do(c, id)
	}
}

// number reads a bounded number from the query; absent is fallback.
func (c *call) number(name string, fallback, low, high int64) (int64, error) {
	raw := c.URL.Query().Get(name)
	if raw == "" {
		return fallback, nil
	}
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil {
		return 0, badRequest(name + " has to be a number.")
	}
	return max(low, min(high, n)), nil
}
