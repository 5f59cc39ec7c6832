package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/postonce/postonce/internal/postgres"
)

const (
	// A signature of the Mini App from the future is refused (initdata.Validate), and
	// slots are planned by this clock: half a minute is noticed by people.
	clockWarn = 5 * time.Second
	clockFail = 30 * time.Second
	maxAnswer = 4 << 20
)

// clock compares this machine's clock with the database's and with Telegram's,
// whose answers carry a Date in whole seconds, and says which one is wrong: two
// of three that agree are right.
func (e *exam) clock(ctx context.Context) (Status, string) {
	database, haveDatabase := e.databaseOff(ctx)
	telegram, haveTelegram := e.dateOff(ctx)
	worst := max(database.Abs(), telegram.Abs())
	status := OK
	switch {
	case worst > clockFail:
		status = Fail
	case worst > clockWarn:
		status = Warn
	}
	const mend = ": let NTP set it (timedatectl set-ntp true)"
	switch {
	case !haveDatabase && !haveTelegram:
		return Warn, "neither the database nor Telegram answered, so there is nothing to compare this machine's clock with"
	case status == OK && !haveTelegram:
		return OK, "within 5 s of the database's"
	case status == OK && !haveDatabase:
		return OK, "within 5 s of Telegram's"
	case status == OK:
		return OK, "within 5 s of the database's and Telegram's"
	case !haveTelegram:
		return status, "this machine's clock is " + off(database) + " the database's, and slots go by that: let NTP set both"
	case !haveDatabase:
		return status, "this machine's clock is " + off(telegram) + " Telegram's" + mend
	case telegram.Abs() <= clockWarn:
		return status, "the database's clock is " + off(-database) + " this machine's and Telegram's, and slots and leases go by it: let NTP set it where Postgres runs"
	case database.Abs() <= clockWarn:
		return status, "this machine's clock and the database's are " + off(telegram) + " Telegram's" + mend
	case (database - telegram).Abs() <= clockWarn:
		return status, "this machine's clock is " + off(database) + " the database's and Telegram's" + mend
	}
	return status, "this machine's clock is " + off(database) + " the database's and " + off(telegram) + " Telegram's: let NTP set both"
}

// off says how a clock stands to another that shows so much more.
func off(behind time.Duration) string {
	way := "behind"
	if behind < 0 {
		way = "ahead of"
	}
	return behind.Abs().Round(time.Second).String() + " " + way
}

// databaseOff is how far this machine's clock is behind the database's.
func (e *exam) databaseOff(ctx context.Context) (time.Duration, bool) {
	if e.pool == nil {
		return 0, false
	}
	ahead, _, err := postgres.Ahead(ctx, e.pool, e.cfg.Now)
	return ahead, err == nil
}

// dateOff is how far this machine's clock is behind Telegram's Date; less than a second counts as none.
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
