package drafting

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/drafting/check"
	"github.com/postonce/postonce/internal/drafting/extract"
	"github.com/postonce/postonce/internal/drafting/render"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/queue"
)

// ComposeArgs asks for one revision by the model.
type ComposeArgs struct {
	DraftID  int64 `json:"draft_id"`
	Revision int   `json:"revision"`
	// Instruction is a person's wish; empty: the first text by the model.
	Instruction string `json:"instruction,omitempty"`
	By          int64  `json:"by,omitempty"`
	// Refresh marks a text that follows an edit of the item: nobody is called anew.
	Refresh bool `json:"refresh,omitempty"`
	// Try counts the wishes for this revision that came to nothing before: the
	// draft was decided while its text was being written, and taken back later.
	Try int `json:"try,omitempty"`
}

func (a ComposeArgs) key() string {
	if a.Try > 0 {
		return fmt.Sprintf("%d:%d:again:%d", a.DraftID, a.Revision, a.Try)
	}
	return fmt.Sprintf("%d:%d", a.DraftID, a.Revision)
}

// call names a turn of the conversation; each wish has turns of its own.
func (a ComposeArgs) call(turn int) callKey {
	return callKey{a.DraftID, a.Revision, a.Try*maxTurns + turn}
}

// Rewrite asks for a new text of a draft that is proposed or failed, with a wish
// such as "shorter", in the caller's transaction. Done = false: the draft is
// elsewhere by now, or that text is being written already.
func (s *Service) Rewrite(ctx context.Context, tx pgx.Tx, e Edit, instruction string) (Result, queue.Submission, error) {
	d, err := Get(ctx, tx, e.DraftID)
	if err != nil {
		return Result{}, queue.Submission{}, err
	}
	if d.State != editorial.Proposed && d.State != editorial.Failed || e.Transition != 0 && d.Transition != e.Transition {
		return Result{Draft: d}, queue.Submission{}, nil
	}
	if instruction = render.Line(instruction); instruction == "" {
		instruction = "another angle"
	}
	a := ComposeArgs{DraftID: d.ID, Revision: d.Revision + 1, Instruction: clipRunes(instruction, 400), By: e.By}
	sub, err := s.compose.EnqueueTx(ctx, tx, a)
	for err == nil && !sub.Fresh && a.Try < mostTries {
		pending := false
		if err = tx.QueryRow(ctx, composePendingSQL, a.key()).Scan(&pending); err != nil || pending {
			break
		}
		a.Try++ // that one is over, and the draft has no text of it
		sub, err = s.compose.EnqueueTx(ctx, tx, a)
	}
	if err != nil || !sub.Fresh {
		return Result{Draft: d}, sub, err
	}
	_, err = s.watch.EnqueueTx(ctx, tx, a, queue.After(watchAfter))
	return Result{Done: true, Draft: d}, sub, err
}

// mostTries bounds how often one revision is wished for anew.
const mostTries = 20

func clipRunes(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// maxTurns bounds the calls for one revision: up to four that the endpoint refuses for what it does not take (two
// formats of the answer, two parameters), the text, its one repair, and one to spare. Keys of calls hold it: it stays.
const maxTurns = 7

// workCompose asks the model, turn by turn, until a text passes, a turn ends the
// matter, or the one repair did not help; then the composer without a model has
// the word, with the reason.
func (s *Service) workCompose(ctx context.Context, job *queue.Job[ComposeArgs]) error {
	a := job.Args
	st, err := s.read(ctx, a.DraftID)
	if errors.Is(err, errGone) || err == nil && !open(st, a) {
		why := "moved"
		if err != nil {
			why = "gone"
		}
		return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.failed(ctx, tx, a, why) })
	}
	if err != nil {
		return err
	}
	if s.cfg.Model == nil {
		return s.giveUp(ctx, job, st.m, "no_model")
	}
	w, reason, err := s.converse(ctx, job, st.m)
	switch {
	case err != nil:
		return err
	case reason != "":
		return s.giveUp(ctx, job, st.m, reason)
	}
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.take(ctx, tx, a, w) })
}

// open tells that the draft still waits for this revision.
func open(st standing, a ComposeArgs) bool {
	return st.revision == a.Revision-1 && (st.state == editorial.Proposed || st.state == editorial.Failed)
}

// errMoved rolls a revision back whose draft was changed meanwhile.
var errMoved = errors.New("the draft was changed meanwhile")

// take makes w the draft's newest revision, unless somebody decided or edited
// meanwhile, and tells people.
func (s *Service) take(ctx context.Context, tx pgx.Tx, a ComposeArgs, w written) error {
	unchanged, err := same(ctx, tx, a, w)
	if err != nil {
		return err
	}
	if unchanged {
		return s.stayed(ctx, tx, a, w)
	}
	err = postgres.InTx(ctx, tx, func(tx pgx.Tx) error {
		res, err := addRevision(ctx, tx, a.DraftID, 0, w, editorial.Proposed, editorial.Failed)
		if err == nil && (!res.Done || res.Revision.Number != a.Revision) {
			return errMoved
		}
		return err
	})
	if errors.Is(err, errMoved) {
		return s.failed(ctx, tx, a, "moved")
	}
	if err != nil {
		return err
	}
	s.metrics.drafts.WithLabelValues(w.composer, w.fallback).Inc()
	return s.show(ctx, tx, a, a.Revision)
}

// show tells people of a text: of the first one once, of an asked one each time,
// and of a refreshed one by changing its card.
func (s *Service) show(ctx context.Context, tx pgx.Tx, a ComposeArgs, revision int) error {
	switch {
	case a.Refresh:
		return s.refreshed(ctx, tx, a.DraftID)
	case a.Instruction == "":
		return s.announce(ctx, tx, a.DraftID, revision)
	case s.cfg.OnDraft == nil:
		return nil
	}
	return s.cfg.OnDraft(ctx, tx, a.DraftID, revision)
}

const revisionSameSQL = `
SELECT html = $3
  FROM draft_revisions
 WHERE draft_id = $1
   AND revision = $2`

// same tells that what a person wished for came out as the text that stands.
func same(ctx context.Context, tx pgx.Tx, a ComposeArgs, w written) (bool, error) {
	if a.Instruction == "" {
		return false, nil
	}
	var yes bool
	if err := tx.QueryRow(ctx, revisionSameSQL, a.DraftID, a.Revision-1, w.html).Scan(&yes); err != nil && !postgres.NoRows(err) {
		return false, fmt.Errorf("text of draft %d: %w", a.DraftID, err)
	}
	return yes, nil
}

// stayed records a wish that left the text as it was: its revision has the same
// text, as the number is used up, and the next wish needs one of its own.
func (s *Service) stayed(ctx context.Context, tx pgx.Tx, a ComposeArgs, w written) error {
	res, err := addRevision(ctx, tx, a.DraftID, 0, w, editorial.Proposed, editorial.Failed)
	if err != nil {
		return err
	}
	if !res.Done {
		return s.failed(ctx, tx, a, "moved")
	}
	if err := s.refreshed(ctx, tx, a.DraftID); err != nil {
		return err
	}
	return s.failed(ctx, tx, a, "same")
}

// failed tells of a wish that changed nothing; a first text is told of as usual.
func (s *Service) failed(ctx context.Context, tx pgx.Tx, a ComposeArgs, why string) error {
	if a.Instruction != "" && s.cfg.OnRewriteFailed != nil {
		if err := s.cfg.OnRewriteFailed(ctx, tx, a.DraftID, a.By, a.Revision, why); err != nil {
			return err
		}
	}
	return s.announce(ctx, tx, a.DraftID, a.Revision-1)
}

func (s *Service) giveUp(ctx context.Context, job *queue.Job[ComposeArgs], m material, reason string) error {
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error { return s.withoutModel(ctx, tx, job.Args, m, reason) })
}

const revisionFallbackSQL = `
UPDATE draft_revisions
   SET fallback = $3
 WHERE draft_id = $1
   AND revision = $2
   AND composer = 'extractive'
   AND fallback = ''`

// withoutModel lets the composer without a model have the word: the first text
// stands, marked; a wish is met as far as sentences can.
func (s *Service) withoutModel(ctx context.Context, tx pgx.Tx, a ComposeArgs, m material, reason string) error {
	var err error
	switch reason {
	case "budget":
		err = s.tellBudget(ctx, tx, m.channelID)
	case "plan":
		err = s.beyondPlan(ctx, tx, m.channelID, MeterModel)
	}
	if err != nil {
		return err
	}
	if a.Instruction == "" {
		if _, err := tx.Exec(ctx, revisionFallbackSQL, a.DraftID, a.Revision-1, reason); err != nil {
			return fmt.Errorf("mark draft %d: %w", a.DraftID, err)
		}
		s.metrics.drafts.WithLabelValues("extractive", reason).Inc()
		return s.show(ctx, tx, a, a.Revision-1)
	}
	w, ok := m.wished(a.Instruction)
	if !ok {
		now, err := current(ctx, tx, a.DraftID)
		if err != nil {
			return err
		}
		w = written{html: now.HTML, link: now.Link, image: now.Image, composer: now.Composer, author: a.By, instruction: a.Instruction}
		return s.stayed(ctx, tx, a, w)
	}
	w.fallback, w.instruction, w.author = reason, a.Instruction, a.By
	return s.take(ctx, tx, a, w)
}

// wished writes anew without a model: shorter where that was asked for, else with
// other sentences than the lead's.
func (m material) wished(instruction string) (written, bool) {
	units := m.voice.BodyUnits()
	if units == 0 {
		units = extract.DefaultUnits
	}
	low := strings.ToLower(instruction)
	text := m.item.Text
	switch {
	case strings.Contains(low, "short") || strings.Contains(low, "короч"):
		units = min(units/2, 240, render.TextUnits(strings.Join(extract.Clean(text), " "))*6/10)
	case strings.Contains(low, "simpl") || strings.Contains(low, "прощ"):
		units = min(units*2/3, 320)
	default:
		if sents := extract.Clean(text); len(sents) > 4 {
			text = strings.Join(append(sents[2:len(sents):len(sents)], sents[:2]...), "\n")
		}
	}
	d := extract.Compose(extract.Input{Title: m.item.Title, Text: text, Source: m.source, Units: units})
	if d.Headline == "" && len(d.Body) == 0 {
		return written{}, false
	}
	w := m.lay(render.Post{Headline: d.Headline, Body: d.Body})
	w.composer = "extractive"
	return w, true
}

const composePendingSQL = `
SELECT EXISTS (SELECT FROM jobs WHERE kind = 'compose' AND key = $1)`

// workWatch looks after a while whether the model's text came. Where the call was
// lost with its process, the text without a model is shown, and no model is asked
// again for this revision.
func (s *Service) workWatch(ctx context.Context, job *queue.Job[ComposeArgs]) error {
	a := job.Args
	var pending bool
	if err := s.cfg.Pool.QueryRow(ctx, composePendingSQL, a.key()).Scan(&pending); err != nil {
		return fmt.Errorf("look for the text of draft %d: %w", a.DraftID, err)
	}
	if pending {
		return queue.Later(2*time.Minute, "the model is still being asked")
	}
	st, err := s.read(ctx, a.DraftID)
	if err != nil && !errors.Is(err, errGone) {
		return err
	}
	done := err != nil || !open(st, a)
	return job.Complete(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if !done && a.Instruction == "" {
			var err error
			if done, err = marked(ctx, tx, a); err != nil {
				return err
			}
		}
		if done {
			return s.announce(ctx, tx, a.DraftID, a.Revision-1)
		}
		return s.withoutModel(ctx, tx, a, st.m, "answer_lost")
	})
}

const revisionMarkedSQL = `
SELECT fallback <> ''
  FROM draft_revisions
 WHERE draft_id = $1
   AND revision = $2`

// marked tells that the first text already stands with its reason.
func marked(ctx context.Context, tx pgx.Tx, a ComposeArgs) (bool, error) {
	var yes bool
	if err := tx.QueryRow(ctx, revisionMarkedSQL, a.DraftID, a.Revision-1).Scan(&yes); err != nil && !postgres.NoRows(err) {
		return false, fmt.Errorf("text of draft %d: %w", a.DraftID, err)
	}
	return yes, nil
}

// judge turns an answer into a text, or says what is wrong with it.
func (s *Service) judge(ctx context.Context, m material, a ComposeArgs, ans modelAnswer) (written, []check.Finding, error) {
	posts, err := past(ctx, s.cfg.Pool, m.channelID, a.DraftID)
	if err != nil {
		return written{}, nil, err
	}
	text := check.Text{Headline: render.Line(ans.Headline), Body: strings.TrimSpace(ans.Body), Evidence: ans.Evidence}
	if !render.SameText(ans.Headline, text.Headline) {
		text.Headline = ans.Headline // keep what Line would hide, so that the check sees it
	}
	src := m.modelSource()
	findings := check.All(text, src, check.Rules{
		Language: m.language, MaxUnits: 2 * m.bodyLimit(), Past: posts, Prompt: m.systemPrompt(), Evidence: check.NeedsEvidence(text),
	})
	if !check.Passes(findings) {
		return written{}, findings, nil
	}
	w := m.lay(render.Post{Headline: text.Headline, Body: strings.Split(text.Body, "\n\n"), Tags: allowedTags(ans.Tags, m.hashtags)})
	w.composer, w.checks, w.evidence, w.instruction, w.author = "model", findings, ans.Evidence, a.Instruction, a.By
	return w, findings, nil
}

// allowedTags leaves at most three tags of the channel's own list.
func allowedTags(asked, list []string) []string {
	var out []string
	for _, t := range asked {
		for _, ok := range list {
			if strings.EqualFold(strings.TrimPrefix(strings.TrimSpace(t), "#"), strings.TrimPrefix(ok, "#")) && len(out) < 3 {
				out = append(out, ok)
			}
		}
	}
	return out
}
