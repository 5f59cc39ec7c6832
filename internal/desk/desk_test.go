package desk_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rs/zerolog"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/drafting"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/planning"
	"github.com/postonce/postonce/internal/postgres/dbtest"
	"github.com/postonce/postonce/internal/publishing"
	"github.com/postonce/postonce/internal/queue"
	"github.com/postonce/postonce/internal/scoring"
)

const (
	ann      = int64(11) // owns the channel
	stranger = int64(12) // owns another one
)

type rights struct{}

func (rights) Look(_ context.Context, chatID, _ int64) (channels.Look, error) {
	return channels.Look{ChatID: chatID, IsChannel: true, Title: "News", Username: fmt.Sprintf("news%d", -chatID), BotIsAdmin: true, BotCanPost: true, PersonAdmin: true}, nil
}

type bundle struct {
	t       *testing.T
	pool    *pgxpool.Pool
	desk    *desk.Desk
	channel int64
}

func newBundle(t *testing.T, more ...func(*desk.Config)) *bundle {
	t.Helper()
	b := &bundle{t: t, pool: dbtest.New(t)}
	chans := channels.New(channels.Config{Pool: b.pool, Rights: rights{}})
	cfg := desk.Config{
		Pool: b.pool, Now: time.Now, Logger: zerolog.Nop(), Channels: chans, Open: true, Registry: queue.NewRegistry(),
		Planning:   planning.New(time.Now),
		Scoring:    scoring.New(scoring.Config{Pool: b.pool}),
		Drafting:   drafting.New(drafting.Config{Pool: b.pool}),
		Publishing: publishing.New(publishing.Config{Pool: b.pool, Now: time.Now, Logger: zerolog.Nop()}),
	}
	for _, f := range more {
		f(&cfg)
	}
	b.desk = desk.New(cfg)
	for chat, person := range map[int64]int64{-1001: ann, -1002: stranger} {
		if _, err := b.desk.Seen(t.Context(), desk.Profile{ID: person, FirstName: fmt.Sprint("P", person), Language: "en"}); err != nil {
			t.Fatal(err)
		}
		res, err := b.desk.Link(t.Context(), person, chat)
		if err != nil {
			t.Fatal(err)
		}
		if person == ann {
			b.channel = res.Channel.ID
		}
	}
	return b
}

// draft makes a proposed draft of kind own.
func (b *bundle) draft() int64 {
	b.t.Helper()
	var id int64
	err := pgx.BeginFunc(b.t.Context(), b.pool, func(tx pgx.Tx) error {
		err := tx.QueryRow(b.t.Context(), `INSERT INTO drafts (channel_id, kind, subject) VALUES ($1, 'own', 'own:' || gen_random_uuid()) RETURNING id`, b.channel).Scan(&id)
		if err != nil {
			return err
		}
		_, err = tx.Exec(b.t.Context(), `INSERT INTO draft_revisions (draft_id, revision, html, html_hash, composer) VALUES ($1, 1, '<b>Ferry</b>', '\x01', 'person')`, id)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

func (b *bundle) count(query string, args ...any) (n int) {
	b.t.Helper()
	if err := b.pool.QueryRow(b.t.Context(), query, args...).Scan(&n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

// TestConcurrentTapsDecideOnce presses every button of one card at once.
func TestConcurrentTapsDecideOnce(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.draft()
	at := time.Now().Add(3 * time.Hour)
	taps := []func() (desk.Decision, error){
		func() (desk.Decision, error) { return b.desk.Approve(t.Context(), ann, id, 1) },
		func() (desk.Decision, error) { return b.desk.Approve(t.Context(), ann, id, 1) },
		func() (desk.Decision, error) { return b.desk.PostNow(t.Context(), ann, id, 1) },
		func() (desk.Decision, error) { return b.desk.Skip(t.Context(), ann, id, 1, editorial.SkipOld) },
		func() (desk.Decision, error) { return b.desk.ScheduleAt(t.Context(), ann, id, 1, at) },
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for _, tap := range taps {
		wg.Go(func() {
			dec, err := tap()
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if dec.Done == dec.Already {
				t.Errorf("neither done nor already: %+v", dec)
			}
			if dec.Done {
				done++
			}
		})
	}
	wg.Wait()
	if done != 1 {
		t.Errorf("%d taps decided, want one", done)
	}
	scheduled := b.count(`SELECT count(*) FROM drafts WHERE state = 'scheduled'`)
	if slots := b.count(`SELECT count(*) FROM slots`); slots != scheduled {
		t.Errorf("%d slots are held for %d scheduled drafts", slots, scheduled)
	}
	if jobs := b.count(`SELECT count(*) FROM jobs WHERE kind = 'publish'`); jobs != scheduled {
		t.Errorf("%d publish jobs for %d scheduled drafts", jobs, scheduled)
	}
}

func TestALateTapIsToldWhatHappened(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.draft()
	first, err := b.desk.Approve(t.Context(), ann, id, 1)
	if err != nil || !first.Done || first.SlotAt.IsZero() {
		t.Fatalf("approve: %+v, %v", first, err)
	}
	late, err := b.desk.Skip(t.Context(), ann, id, 1, editorial.SkipOld)
	if err != nil || !late.Already || late.State != editorial.Scheduled || late.ByName != "P11" || !late.SlotAt.Equal(first.SlotAt) {
		t.Errorf("a late skip: %+v, %v", late, err)
	}
	undone, err := b.desk.Undo(t.Context(), ann, id, first.Transition)
	if err != nil || undone.State != editorial.Proposed {
		t.Fatalf("undo: %+v, %v", undone, err)
	}
	// The first button again, after an undo: its number has passed.
	if again, err := b.desk.Approve(t.Context(), ann, id, 1); err != nil || !again.Already || again.State != editorial.Proposed {
		t.Errorf("an old button after an undo: %+v, %v", again, err)
	}
	if n := b.count(`SELECT count(*) FROM slots`); n != 0 {
		t.Errorf("%d slots are still held", n)
	}
}

func TestTwoDraftsOneSlot(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ids := []int64{b.draft(), b.draft(), b.draft()}
	at := time.Now().Add(5 * time.Hour)
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[string]int{}
	for _, id := range ids {
		wg.Go(func() {
			_, err := b.desk.ScheduleAt(t.Context(), ann, id, 1, at)
			mu.Lock()
			defer mu.Unlock()
			got[desk.CodeOf(err)]++
		})
	}
	wg.Wait()
	if got[""] != 1 || got[desk.CodeSlotTaken] != 2 {
		t.Errorf("got %v, want one that has the slot and two that are told", got)
	}
}

func TestWhatPeopleLookAt(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	ctx := t.Context()
	id := b.draft()
	if _, err := b.desk.Approve(ctx, ann, id, 1); err != nil {
		t.Fatal(err)
	}
	v, err := b.desk.Draft(ctx, ann, id)
	if err != nil || v.Revision.HTML != "<b>Ferry</b>" || v.Draft.State != editorial.Scheduled || v.DecidedBy != "P11" {
		t.Errorf("draft: %+v, %v", v, err)
	}
	life, err := b.desk.Why(ctx, ann, fmt.Sprint("#", id))
	if err != nil || len(life.Events) != 2 || life.Events[1].Code != "life.approved" || len(life.Waiting) != 1 {
		t.Errorf("life: %+v, %v", life, err)
	}
	events, err := b.desk.Activity(ctx, ann, b.channel, time.Time{}, 10)
	if err != nil || len(events) != 2 || events[0].Code != "life.approved" {
		t.Errorf("activity: %+v, %v", events, err)
	}
	plan, err := b.desk.Plan(ctx, ann, b.channel, time.Now(), time.Now().Add(72*time.Hour))
	if err != nil || plan.LastsUntil.IsZero() || plan.Gaps == 0 {
		t.Errorf("plan: %+v, %v", plan, err)
	}
	if _, err := b.desk.Ops(ctx, ann); desk.CodeOf(err) != desk.CodeNotOperator {
		t.Errorf("ops for everybody: %v", err)
	}
	if _, err := b.pool.Exec(ctx, `UPDATE people SET access = 'operator' WHERE id = $1`, ann); err != nil {
		t.Fatal(err)
	}
	if _, err := b.desk.PauseKind(ctx, ann, desk.EarsKind); desk.CodeOf(err) != desk.CodeJob {
		t.Errorf("the bot's ears can be paused from the chat: %v", err)
	}
	ops, err := b.desk.Ops(ctx, ann)
	if err != nil || len(ops.Tiers) != 3 {
		t.Errorf("ops: %+v, %v", ops, err)
	}
}

const archivedTest = `
WITH many AS (
  INSERT INTO job_keys (job_id, kind, key)
  SELECT nextval('job_id_seq'), 'gone', g::text FROM generate_series(1, 150) AS g
  RETURNING job_id, key::integer AS n
)
INSERT INTO job_archive (job_id, kind, tier, key, generation, payload, reason, needs_reconcile, failures, expiries, enqueued_at,
                         status, resolved_at, resolved_by, resolution)
SELECT job_id, 'gone', 'default', n::text, 0, '{}', 'permanent', false, 1, 0, now(),
       CASE WHEN n <= 5 THEN 'open' ELSE 'closed' END, CASE WHEN n > 5 THEN now() END,
       CASE WHEN n > 5 THEN 'bob' END, CASE WHEN n > 5 THEN 'dismissed' END
  FROM many`

func TestTheOpenArchiveIsFoundBehindWhatWasDecided(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	for _, q := range []string{archivedTest, `UPDATE people SET access = 'operator' WHERE id = 11`} {
		if _, err := b.pool.Exec(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	var keys []string
	for before := int64(0); ; {
		list, err := b.desk.Archive(t.Context(), ann, before, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			break
		}
		for _, v := range list {
			keys, before = append(keys, v.Key), v.ID
		}
	}
	if got := strings.Join(keys, " "); got != "5 4 3 2 1" {
		t.Errorf("the pages of the open archive hold %q", got)
	}
}

func TestDeleteMe(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	id := b.draft()
	if _, err := b.desk.Skip(t.Context(), ann, id, 1, editorial.SkipOld); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		res, err := b.desk.DeleteMe(t.Context(), ann)
		if err != nil {
			t.Fatal(err)
		}
		if want := 1 - i; res.Channels != want || res.Memberships != want {
			t.Errorf("time %d: %+v", i+1, res)
		}
	}
	if n := b.count(`SELECT count(*) FROM people WHERE id = $1 AND (first_name <> '' OR username <> '' OR erased_at IS NULL)`, ann); n != 0 {
		t.Error("the person's name is still there")
	}
	if n := b.count(`SELECT count(*) FROM job_keys WHERE person_id = $1`, ann); n != 0 {
		t.Error("jobs still name the person")
	}
	if _, err := b.desk.Draft(t.Context(), ann, id); desk.CodeOf(err) != desk.CodeNotYours {
		t.Errorf("who was erased still sees the draft: %v", err)
	}
}

// open are the methods that speak of no channel: what each asks for is said
// beside it. Every other exported method is tried as a stranger.
func open() map[string]string {
	return map[string]string{
		"Admitted": "pure", "Seen": "everybody", "Person": "his own data and names", "SetLanguage": "himself", "Blocked": "by the chat",
		"Channels": "his own", "Link": "asks Telegram for his rights", "AcceptInvitation": "needs a token", "ClaimOperator": "needs a token",
		"DeleteMe": "himself", "Packs": "the same for all", "Probe": "shows what is public", "InvitePerson": "operators", "Ops": "operators",
		"PauseKind": "operators", "ResumeKind": "operators", "Archive": "operators", "ArchivedJob": "operators", "ConfirmJob": "operators",
		"ReplayJob": "operators", "ReplayUndone": "operators", "Findings": "operators", "SettleFinding": "operators", "DismissJob": "operators", "MissedTx": "by publishing", "AutopilotTx": "by drafting",
		"RegisterImports": "at the start", "RegisterPlans": "at the start",
	}
}

// TestStrangers calls every method of the desk as the owner of another channel:
// a new method is tried without anybody thinking of it, and what exists looks
// like what does not.
func TestStrangers(t *testing.T) {
	t.Parallel()
	b := newBundle(t)
	draft := b.draft()
	typ := reflect.TypeFor[*desk.Desk]()
	tried := 0
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		why, isOpen := open()[m.Name]
		if isOpen && why != "operators" {
			continue
		}
		tried++
		for _, exists := range []bool{true, false} {
			err := b.call(m, draft, exists)
			want := desk.CodeNotYours
			if isOpen {
				want = desk.CodeNotOperator
			}
			if desk.CodeOf(err) != want {
				t.Errorf("%s as a stranger (exists: %t): %v, want %s", m.Name, exists, err, want)
			}
		}
	}
	if tried < 40 {
		t.Errorf("only %d methods were tried", tried)
	}
	if n := b.count(`SELECT count(*) FROM drafts WHERE transition <> 1`); n != 0 {
		t.Error("a stranger changed a draft")
	}
}

// call calls a method as a stranger, with the numbers of the channel and the
// draft wherever a number is asked for.
func (b *bundle) call(m reflect.Method, draft int64, exists bool) error {
	args := []reflect.Value{reflect.ValueOf(b.desk), reflect.ValueOf(b.t.Context()), reflect.ValueOf(stranger)}
	// The first number after the person is the draft's or the channel's, or nobody's.
	for i := 3; i < m.Type.NumIn(); i++ {
		in := m.Type.In(i)
		v := reflect.New(in).Elem()
		switch {
		case in.Kind() == reflect.Int64 && i == 3:
			id := b.channel
			if onDraft()[m.Name] {
				id = draft
			}
			if !exists {
				id = 987654
			}
			v.SetInt(id)
		case in.Kind() == reflect.Int64 || in.Kind() == reflect.Int:
			v.SetInt(1)
		case in.Kind() == reflect.String && m.Name == "Why":
			v.SetString(fmt.Sprint(map[bool]int64{true: draft, false: 987654}[exists]))
		case in == reflect.TypeFor[time.Time]():
			v.Set(reflect.ValueOf(time.Now().Add(time.Hour)))
		case in == reflect.TypeFor[desk.Finding]():
			v.SetString(string(desk.FindingThere))
		case in.Kind() == reflect.String:
			v.SetString("shorter")
		}
		args = append(args, v)
	}
	out := m.Func.Call(args)
	err, _ := out[len(out)-1].Interface().(error)
	if err == nil {
		return errors.New("it was done")
	}
	return err
}

func onDraft() map[string]bool {
	out := map[string]bool{}
	for _, name := range []string{
		"Approve", "PostNow", "ScheduleAt", "Move", "Skip", "SkipBecause", "Undo", "Retry", "Edit", "Rewrite", "Settle", "EditPost", "DeletePost", "Draft",
	} {
		out[name] = true
	}
	return out
}
