package llm

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ability is what an endpoint was found to take; the zero value is everything.
// It only ever shrinks, one step per refused call, so a ladder has few rungs.
type ability struct {
	format        format
	oldLimit      bool // max_tokens instead of max_completion_tokens
	noTemperature bool
}

// format is how an endpoint of OpenAI's dialect is asked for JSON.
type format int

// The formats, from what says most to none at all.
const (
	formatSchema format = iota // json_schema
	formatObject               // json_object
	formatNone
)

// refused turns a response other than 200 into what is known.
func (c *Client) refused(resp *http.Response, raw []byte) *Error {
	msg, code := serverMessage(raw)
	e := &Error{Status: resp.StatusCode, Message: c.redact(msg), RetryAfter: retryAfter(resp.Header.Get("Retry-After"))}
	low := strings.ToLower(msg + " " + code)
	switch s := resp.StatusCode; {
	case s == http.StatusUnauthorized || s == http.StatusForbidden:
		e.Fault = Denied
	case s == http.StatusPaymentRequired || s == http.StatusTooManyRequests && (strings.Contains(low, "quota") || strings.Contains(low, "billing") || strings.Contains(low, "credit")):
		e.Fault = NoQuota
	case s == http.StatusTooManyRequests:
		e.Fault = RateLimited
	case s == http.StatusBadRequest || s == http.StatusUnprocessableEntity:
		e.Fault = Rejected
		if c.stepDown(low) {
			e.Fault = Unsupported
		}
	case s >= 500:
		// It may have worked and lost the answer on the way.
		e.Fault = Unknown
	default:
		e.Fault = Rejected
	}
	return e
}

// stepDown remembers what a refusal says the endpoint does not take, and reports
// whether the next call differs.
func (c *Client) stepDown(low string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case strings.Contains(low, "max_completion_tokens") && !c.able.oldLimit:
		c.able.oldLimit = true
	case strings.Contains(low, "temperature") && !c.able.noTemperature:
		c.able.noTemperature = true
	case (strings.Contains(low, "response_format") || strings.Contains(low, "schema") || strings.Contains(low, "json")) && c.able.format < formatNone:
		c.able.format++
	default:
		return false
	}
	return true
}

// serverMessage finds the words of an error in the shapes that servers use.
func serverMessage(raw []byte) (msg, code string) {
	var nested struct {
		Error struct {
			Message string `json:"message"`
			Code    any    `json:"code"`
			Type    string `json:"type"`
		} `json:"error"`
	}
	if json.Unmarshal(raw, &nested) == nil && nested.Error.Message != "" {
		s, _ := nested.Error.Code.(string)
		return nested.Error.Message, s + " " + nested.Error.Type
	}
	var flat struct {
		Error   string `json:"error"`
		Message string `json:"message"`
		Detail  string `json:"detail"`
	}
	_ = json.Unmarshal(raw, &flat)
	return flat.Error + flat.Message + flat.Detail, ""
}

// redact shortens a server's words and takes the key out of them.
func (c *Client) redact(msg string) string {
	if c.cfg.Key != "" {
		msg = strings.ReplaceAll(msg, c.cfg.Key, "[key]")
	}
	fields := strings.Fields(msg)
	for i, f := range fields {
		if strings.HasPrefix(f, "sk-") || strings.Contains(f, "****") {
			fields[i] = "[key]"
		}
	}
	msg = strings.Join(fields, " ")
	if r := []rune(msg); len(r) > 200 {
		msg = string(r[:200]) + "…"
	}
	return msg
}

// retryAfter reads seconds; a date is rare enough among models to be left to the
// caller's own back-off.
func retryAfter(h string) time.Duration {
	s, err := strconv.ParseFloat(strings.TrimSpace(h), 64)
	if err != nil || s < 0 || s > 86400 {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}
