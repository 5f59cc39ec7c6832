package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const databaseClockSQL = `
SELECT clock_timestamp()`

const (
	// A signature of the Mini App from the future is refused (telegram.md), and
	// slots are planned by this clock: half a minute is noticed by people.
	clockWarn = 5 * time.Second
	clockFail = 30 * time.Second
	maxAnswer = 4 << 20
)

// clock compares this machine's clock with the database's and with Telegram's,
// whose answers carry a Date in whole seconds.
func (e *exam) clock(ctx context.Context) (Status, string) {
	var worst time.Duration // how far this machine is behind; negative: ahead
	var against []string    // what it was compared with; worst is off the first
	see := func(behind time.Duration, name string) {
		if len(against) > 0 && behind.Abs() <= worst.Abs() {
			against = append(against, name)
			return
		}
		worst, against = behind, append([]string{name}, against...)
	}
	if e.pool != nil {
		var there time.Time
		before := e.cfg.Now()
		if err := e.pool.QueryRow(ctx, databaseClockSQL).Scan(&there); err == nil {
			see(there.Sub(middle(before, e.cfg.Now())), "the database's")
		}
	}
	if off, ok := e.dateOff(ctx); ok {
		see(off, "Telegram's")
	}
	if len(against) == 0 {
		return Warn, "neither the database nor Telegram answered, so there is nothing to compare this machine's clock with"
	}
	way := "behind"
	if worst < 0 {
		way = "ahead of"
	}
	text := fmt.Sprintf("this machine's clock is %s %s %s: let NTP set it (timedatectl set-ntp true)", worst.Abs().Round(time.Second), way, against[0])
	switch {
	case worst.Abs() > clockFail:
		return Fail, text
	case worst.Abs() > clockWarn:
		return Warn, text
	}
	return OK, fmt.Sprintf("within 5 s of %s", strings.Join(against, " and "))
}

// dateOff is how far Telegram's Date is off; less than a second counts as none.
func (e *exam) dateOff(ctx context.Context) (time.Duration, bool) {
	req, err := http.NewRequestWithContext(ctx, http.MethodHead, e.cfg.APIURL, http.NoBody)
	if err != nil {
		return 0, false
	}
	before := e.cfg.Now()
	res, err := e.cfg.HTTP.Do(req)
	if err != nil {
		return 0, false
	}
	_ = res.Body.Close()
	there, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		return 0, false
	}
	// The header is cut to seconds: its middle is the best guess.
	off := there.Add(time.Second / 2).Sub(middle(before, e.cfg.Now()))
	if off.Abs() < time.Second {
		off = 0
	}
	return off, true
}

func middle(a, b time.Time) time.Time { return a.Add(b.Sub(a) / 2) }

// model asks for the list of models, which is free, and never for a completion.
func (e *exam) model(ctx context.Context) (Status, string) {
	if e.cfg.ModelURL == "" {
		return Skip, "LLM_BASE_URL is not set: drafts are written without a model"
	}
	address := strings.TrimRight(e.cfg.ModelURL, "/") + "/models"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return Fail, "LLM_BASE_URL: " + oneLine(err.Error())
	}
	if e.cfg.ModelAPI == "anthropic" {
		req.Header.Set("X-Api-Key", e.cfg.ModelKey)
		req.Header.Set("Anthropic-Version", "2023-06-01")
	} else if e.cfg.ModelKey != "" {
		req.Header.Set("Authorization", "Bearer "+e.cfg.ModelKey)
	}
	res, err := e.cfg.HTTP.Do(req)
	if err != nil {
		return Fail, "LLM_BASE_URL cannot be reached: " + oneLine(err.Error())
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return Fail, "LLM_BASE_URL breaks off: " + oneLine(err.Error())
	}
	return e.judgeModels(res.StatusCode, body)
}

func (e *exam) judgeModels(code int, body []byte) (Status, string) {
	var list struct{ Data []struct{ ID string } }
	switch {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return Fail, fmt.Sprintf("the endpoint refuses LLM_API_KEY (%d)", code)
	case code == http.StatusNotFound || code == http.StatusMethodNotAllowed:
		return Warn, "the endpoint answers, but lists no models: whether it has " + e.cfg.ModelName + " shows with the first draft"
	case code != http.StatusOK:
		return Fail, fmt.Sprintf("the endpoint answers %d", code)
	case json.Unmarshal(body, &list) != nil || len(list.Data) == 0:
		return Warn, "the endpoint answers with no list of models: is LLM_BASE_URL right? It often ends in /v1"
	}
	for _, m := range list.Data {
		if m.ID == e.cfg.ModelName {
			return OK, e.cfg.ModelName + " is offered"
		}
	}
	return Warn, fmt.Sprintf("LLM_MODEL %s is not among the %d models that the endpoint lists", e.cfg.ModelName, len(list.Data))
}

func (e *exam) publicAddress(ctx context.Context) (Status, string) {
	if e.cfg.PublicURL == "" {
		return Skip, "PUBLIC_URL is not set: no Mini App"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(e.cfg.PublicURL, "/")+"/healthz", http.NoBody)
	if err != nil {
		return Fail, "PUBLIC_URL: " + oneLine(err.Error())
	}
	res, err := e.cfg.HTTP.Do(req)
	if err != nil {
		return Warn, "PUBLIC_URL cannot be reached from here: " + oneLine(err.Error())
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return Warn, fmt.Sprintf("PUBLIC_URL/healthz answers %d: does the proxy pass requests to HTTP_ADDR, and does postonce run?", res.StatusCode)
	}
	return OK, "reaches a running postonce"
}
