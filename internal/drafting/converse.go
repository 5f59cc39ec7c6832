package drafting

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting/check"
	"github.com/postonce/postonce/internal/llm"
	"github.com/postonce/postonce/internal/queue"
)

// callKey names one call to a model, once for ever.
type callKey struct {
	draft    int64
	revision int
	turn     int
}

func (c callKey) effect() string { return fmt.Sprintf("model:%d:%d:%d", c.draft, c.revision, c.turn) }

// ledgered is what is stored of a call.
type ledgered struct {
	state  string
	fault  llm.Fault
	answer string
	tries  int
}

const modelCallReadSQL = `
SELECT state,
       fault,
       coalesce(answer, ''),
       tries
  FROM model_calls
 WHERE draft_id = $1
   AND revision = $2
   AND turn = $3`

// converse runs the turns of one revision. It returns a text, or the reason for
// having none, or an error for the queue. Everything that was answered before a
// crash is read from its row; nothing is asked twice.
func (s *Service) converse(ctx context.Context, job *queue.Job[ComposeArgs], m material) (written, string, error) {
	a := job.Args
	temp := 0.4
	req := llm.Request{
		System: m.systemPrompt(), Schema: []byte(answerSchema), MaxTokens: maxAnswer, Temperature: &temp,
		Turns: []llm.Turn{{Text: m.itemPrompt(s.cfg.Secret, a.DraftID, a.Revision, a.Instruction)}},
	}
	var tokens [2]int
	repaired := false
	for turn := 1; turn <= maxTurns; turn++ {
		ans, fault, err := s.turn(ctx, job, m, a.call(turn), req)
		if err != nil {
			return written{}, "", err
		}
		if fault == llm.Unsupported {
			continue // the ladder: the next turn asks for less
		}
		if fault != "" && fault != llm.Garbled {
			return written{}, string(fault), nil
		}
		tokens[0], tokens[1] = tokens[0]+ans.TokensIn, tokens[1]+ans.TokensOut
		if ans.Declined {
			return written{}, "declined", nil
		}
		w, findings, skip, err := s.weigh(ctx, m, a, ans)
		switch {
		case err != nil:
			return written{}, "", err
		case skip:
			return written{}, "model_skips", nil
		case check.Passes(findings):
			w.tokensIn, w.tokensOut = tokens[0], tokens[1]
			return w, "", nil
		case repaired:
			return written{}, "checks:" + hardCodes(findings), nil
		}
		repaired = true
		req.Turns = append(req.Turns, llm.Turn{Assistant: true, Text: clipRunes(orEmpty(ans.Text), 4000)}, llm.Turn{Text: repairPrompt(findings)})
	}
	return written{}, "unsupported", nil
}

func orEmpty(s string) string {
	if strings.TrimSpace(s) == "" {
		return "{}"
	}
	return s
}

// weigh judges one answer; an unreadable one is a finding like any other.
func (s *Service) weigh(ctx context.Context, m material, a ComposeArgs, ans llm.Answer) (written, []check.Finding, bool, error) {
	post, err := parseAnswer(ans.Text)
	if err != nil && ans.CutOff {
		return written{}, []check.Finding{{Code: check.Length, Detail: "the answer was cut off: write much less"}}, false, nil
	}
	if err != nil {
		return written{}, []check.Finding{{Code: check.Empty, Detail: "no JSON object with a post"}}, false, nil //nolint:nilerr // it is the finding
	}
	if post.Skip {
		return written{}, nil, true, nil
	}
	w, findings, err := s.judge(ctx, m, a, post)
	return w, findings, false, err
}

func hardCodes(findings []check.Finding) string {
	var codes []string
	for _, f := range findings {
		if !f.Soft && !slices.Contains(codes, string(f.Code)) {
			codes = append(codes, string(f.Code))
		}
	}
	return strings.Join(codes, ",")
}

// maxTries is how often a certainly refused call is made.
const maxTries = 3

// turn returns a call's answer: the stored one, or that of the call, made once
// through the ledger.
func (s *Service) turn(ctx context.Context, job *queue.Job[ComposeArgs], m material, key callKey, req llm.Request) (llm.Answer, llm.Fault, error) {
	known, err := s.known(ctx, key)
	if err != nil {
		return llm.Answer{}, "", err
	}
	switch {
	case known.state == "answered":
		ans, err := s.cfg.Model.Decode([]byte(known.answer))
		if err != nil {
			return llm.Answer{}, llm.Garbled, nil //nolint:nilerr // it is the fault
		}
		return ans, "", nil
	case known.state == "unknown":
		return llm.Answer{}, llm.Unknown, nil
	case known.state == "refused" && (final(known.fault) || known.tries >= maxTries):
		return llm.Answer{}, known.fault, nil
	}
	var ans llm.Answer
	var fault *llm.Error
	body := s.cfg.Model.Encode(req)
	hash := sha256.Sum256(append([]byte(s.cfg.Model.Endpoint()+"\n"+promptVersion+"\n"), body...))
	worst := len(body)/2 + req.MaxTokens
	_, err = job.Perform(ctx, queue.Effect{
		Key: key.effect(), Request: hash[:], Timeout: s.cfg.ModelTimeout,
		Before: func(ctx context.Context, tx pgx.Tx) error { return s.begin(ctx, tx, key, m.channelID, hash[:], worst) },
		Call: func(ctx context.Context) queue.Outcome {
			ans, fault = s.call(ctx, body)
			return outcomeOf(fault)
		},
		After: func(ctx context.Context, tx pgx.Tx, o queue.Outcome) error {
			return s.settle(ctx, tx, job.Args, m, key, worst, ans, fault, o)
		},
	})
	switch {
	case errors.Is(err, errBudget):
		return llm.Answer{}, "budget", nil
	case errors.Is(err, errPlan):
		return llm.Answer{}, "plan", nil
	case fault != nil && fault.Fault == llm.Garbled && err == nil:
		return llm.Answer{}, llm.Garbled, nil
	case fault != nil && fault.Fault != llm.Unknown && (final(fault.Fault) || known.tries+1 >= maxTries) && !errors.Is(err, queue.ErrLeaseLost):
		return llm.Answer{}, fault.Fault, nil
	case err != nil:
		return llm.Answer{}, "", err
	}
	return ans, "", nil
}

// final tells a refusal that another try would only repeat.
func final(f llm.Fault) bool {
	return f == llm.Denied || f == llm.NoQuota || f == llm.Rejected || f == llm.Unsupported
}

func (s *Service) known(ctx context.Context, key callKey) (ledgered, error) {
	var l ledgered
	err := s.cfg.Pool.QueryRow(ctx, modelCallReadSQL, key.draft, key.revision, key.turn).Scan(&l.state, &l.fault, &l.answer, &l.tries)
	if errors.Is(err, pgx.ErrNoRows) {
		return ledgered{}, nil
	}
	if err != nil {
		return l, fmt.Errorf("read %s: %w", key.effect(), err)
	}
	return l, nil
}

// call makes the one request.
func (s *Service) call(ctx context.Context, body []byte) (llm.Answer, *llm.Error) {
	ans, err := s.cfg.Model.Complete(ctx, body)
	if err == nil {
		return ans, nil
	}
	var e *llm.Error
	if !errors.As(err, &e) {
		e = &llm.Error{Fault: llm.Unknown, Message: "unclassified"}
	}
	return llm.Answer{Raw: e.Raw}, e
}

// maxWait bounds how long a draft waits for a model that asks for patience.
const maxWait = 2 * time.Minute

func outcomeOf(e *llm.Error) queue.Outcome {
	switch {
	case e == nil || e.Fault == llm.Garbled:
		return queue.Confirmed{} // it worked, and it cost
	case e.Fault == llm.Unknown:
		return queue.Unknown{Err: e}
	}
	return queue.Refused{Err: e, RetryAfter: min(e.RetryAfter, maxWait)}
}

const modelCallBeginSQL = `
INSERT INTO model_calls (draft_id, revision, turn, channel_id, request_hash, model, reserved)
VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (draft_id, revision, turn) DO UPDATE
   SET state = 'reserved',
       request_hash = $5,
       reserved = $7,
       fault = '',
       tries = model_calls.tries + 1,
       made_at = clock_timestamp()
 WHERE model_calls.state = 'refused'`

// begin records the call before it is made, with its cost at worst, in the
// transaction of its intent.
func (s *Service) begin(ctx context.Context, tx pgx.Tx, k callKey, channelID int64, hash []byte, worst int) error {
	tag, err := tx.Exec(ctx, modelCallBeginSQL, k.draft, k.revision, k.turn, channelID, hash, s.cfg.Model.Model(), worst)
	if err != nil {
		return fmt.Errorf("begin %s: %w", k.effect(), err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("begin %s: %w", k.effect(), queue.ErrInDoubt)
	}
	if err := s.countModel(ctx, tx, k, channelID, 1); err != nil {
		return err
	}
	return s.reserve(ctx, tx, channelID, worst)
}

const modelCallSettleSQL = `
UPDATE model_calls
   SET state = $4,
       answer = nullif($5, ''),
       fault = $6,
       tokens_in = $7,
       tokens_out = $8
 WHERE draft_id = $1
   AND revision = $2
   AND turn = $3`

// settle stores a call's raw answer before anybody parses it, corrects the budget,
// and after a lost answer gives the word to the composer without a model.
func (s *Service) settle(ctx context.Context, tx pgx.Tx, a ComposeArgs, m material, k callKey, worst int, ans llm.Answer, e *llm.Error, o queue.Outcome) error {
	state, fault, cost := "answered", "", ans.TokensIn+ans.TokensOut
	if e != nil {
		fault = string(e.Fault)
	}
	switch o.(type) {
	case queue.Refused:
		state, cost = "refused", 0
	case queue.Unknown:
		state, cost = "unknown", worst
		if fault == "" {
			fault = string(llm.Unknown)
		}
	default:
		if cost == 0 {
			cost = worst // a server that does not count
		}
	}
	raw := strings.ReplaceAll(strings.ToValidUTF8(string(ans.Raw), "\uFFFD"), "\x00", "")
	_, err := tx.Exec(ctx, modelCallSettleSQL, k.draft, k.revision, k.turn, state, raw, fault, ans.TokensIn, ans.TokensOut)
	if err != nil {
		return fmt.Errorf("store %s: %w", k.effect(), err)
	}
	s.metrics.tokens.WithLabelValues("in").Add(float64(ans.TokensIn))
	s.metrics.tokens.WithLabelValues("out").Add(float64(ans.TokensOut))
	if err := giveBack(ctx, tx, k, cost-worst); err != nil {
		return err
	}
	if state == "refused" {
		return s.countModel(ctx, tx, k, m.channelID, -1)
	}
	if state == "unknown" {
		return s.withoutModel(ctx, tx, a, m, "answer_lost")
	}
	return nil
}
