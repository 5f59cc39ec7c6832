package sandbox

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"time"
)

// FaultKind names a way in which a call goes wrong.
type FaultKind string

// The faults. Each exists in its pair by Fault.Apply: not applied is the lost
// request, applied the lost answer.
const (
	FaultLost     FaultKind = "lost"     // the connection breaks without an answer
	FaultReset    FaultKind = "reset"    // it is reset
	FaultHang     FaultKind = "hang"     // no answer ever, or after DelayMS a broken connection
	FaultSlow     FaultKind = "slow"     // applied and answered after DelayMS
	FaultTooMany  FaultKind = "too_many" // 429 with RetryAfter; never applied
	FaultStatus   FaultKind = "status"   // an error in JSON: Status, Description; 5xx may be applied
	FaultHTML     FaultKind = "html"     // a proxy's page with Status
	FaultCut      FaultKind = "cut"      // half of the answer
	FaultNull     FaultKind = "null"     // {"ok":true,"result":null}
	FaultMigrated FaultKind = "migrated" // 400 with migrate_to_chat_id
	FaultZeroID   FaultKind = "zero_id"  // a success with message_id 0
)

// Fault is an order: the next Times calls that match go wrong this way.
type Fault struct {
	ID          int       `json:"id"`
	Kind        FaultKind `json:"kind"`
	Method      string    `json:"method,omitempty"`  // any if empty
	ChatID      int64     `json:"chat_id,omitempty"` // any if 0
	Apply       bool      `json:"apply,omitempty"`
	Skip        int       `json:"skip,omitempty"`  // let so many pass first
	Times       int       `json:"times,omitempty"` // default 1; -1 for ever
	DelayMS     int       `json:"delay_ms,omitempty"`
	Status      int       `json:"status,omitempty"`
	Description string    `json:"description,omitempty"`
	RetryAfter  int       `json:"retry_after,omitempty"`
	MigrateTo   int64     `json:"migrate_to,omitempty"`
	Hits        int       `json:"hits"`
}

// AddFault orders a fault and returns its number.
func (s *Sandbox) AddFault(f Fault) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faultSeq++
	f.ID = s.faultSeq
	f.Method = strings.ToLower(f.Method)
	if f.Times == 0 {
		f.Times = 1
	}
	s.faults = append(s.faults, &f)
	return f.ID
}

// ClearFaults takes all orders back.
func (s *Sandbox) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
	s.queueing = updateFaults{}
}

// takeFault finds the order for a call; the caller holds mu.
func (s *Sandbox) takeFault(name string, a args) *Fault {
	for _, f := range s.faults {
		if f.Times == 0 || (f.Method != "" && f.Method != name) {
			continue
		}
		if f.ChatID != 0 {
			if c := s.chatByRef(a.str("chat_id")); c == nil || c.ID != f.ChatID {
				continue
			}
		}
		if f.Skip > 0 {
			f.Skip--
			continue
		}
		if f.Times > 0 {
			f.Times--
		}
		f.Hits++
		taken := *f
		return &taken
	}
	return nil
}

func (f *Fault) applies() bool {
	switch f.Kind {
	case FaultTooMany, FaultMigrated:
		return false
	case FaultSlow, FaultZeroID:
		return true
	case FaultStatus:
		return f.Apply && f.Status >= 500
	case FaultLost, FaultReset, FaultHang, FaultHTML, FaultCut, FaultNull:
	}
	return f.Apply
}

func (f *Fault) delay() time.Duration { return time.Duration(f.DelayMS) * time.Millisecond }

// play answers in the faulty way; status and body are what a sound answer would be.
func (f *Fault) play(w http.ResponseWriter, r *http.Request, status int, body obj) {
	sleep(r.Context(), f.delay())
	switch f.Kind {
	case FaultLost:
		hangUp(w, false)
	case FaultReset:
		hangUp(w, true)
	case FaultHang:
		if f.DelayMS == 0 {
			<-r.Context().Done()
		}
		hangUp(w, false)
	case FaultTooMany:
		after := max(f.RetryAfter, 1)
		e := &apiError{Code: 429, Description: "Too Many Requests: retry after " + itoa(after), RetryAfter: after}
		status, body = answerBody(nil, e)
		writeJSON(w, status, body)
	case FaultStatus:
		status, body = answerBody(nil, &apiError{Code: f.Status, Description: f.Description, RetryAfter: f.RetryAfter})
		writeJSON(w, status, body)
	case FaultMigrated:
		e := badRequest("group chat was upgraded to a supergroup chat")
		e.MigrateTo = f.MigrateTo
		status, body = answerBody(nil, e)
		writeJSON(w, status, body)
	case FaultHTML:
		w.Header().Set("Content-Type", "text/html")
		if f.Status == 0 {
			f.Status = http.StatusBadGateway
		}
		w.WriteHeader(f.Status)
		_, _ = w.Write([]byte("<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>"))
	case FaultCut:
		cutAnswer(w, status, body)
	case FaultNull:
		writeJSON(w, http.StatusOK, obj{"ok": true, "result": nil})
	case FaultSlow:
		writeJSON(w, status, body)
	case FaultZeroID:
		if m, ok := body["result"].(obj); ok {
			m["message_id"] = 0
		}
		writeJSON(w, status, body)
	}
}

// cutAnswer promises a whole body and sends half of it.
func cutAnswer(w http.ResponseWriter, status int, body obj) {
	raw, err := json.Marshal(body)
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", itoa(len(raw)))
	w.WriteHeader(status)
	_, _ = w.Write(raw[:len(raw)/2])
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	hangUp(w, false)
}

func hangUp(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

func sleep(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
