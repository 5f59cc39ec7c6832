package channels_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres"
	"github.com/postonce/postonce/internal/postgres/dbtest"
)

const (
	ann   = 11
	boris = 12
	carol = 13
	news  = -1001
)

// telegram is what Telegram shows of chats; its map is only read while a test runs in parallel.
type telegram map[int64]channels.Look

func (m telegram) Look(_ context.Context, chatID, personID int64) (channels.Look, error) {
	look, ok := m[chatID]
	if !ok {
		return look, channels.ErrBotNoAdmin
	}
	look.PersonAdmin = look.PersonAdmin && personID != carol
	return look, nil
}

func setup(t *testing.T) (*channels.Service, *pgxpool.Pool, telegram) {
	t.Helper()
	pool := dbtest.New(t)
	tg := telegram{
		news:  {ChatID: news, IsChannel: true, Title: "News", Username: "news", BotIsAdmin: true, BotCanPost: true, PersonAdmin: true},
		-1002: {ChatID: -1002, IsChannel: true, Title: "Mute", BotIsAdmin: true, PersonAdmin: true},
		-1003: {ChatID: -1003, Title: "A group", BotIsAdmin: true, PersonAdmin: true},
	}
	s := channels.New(channels.Config{Pool: pool, Rights: tg})
	for id, name := range map[int64]string{ann: "Ann", boris: "Boris", carol: "Carol"} {
		if _, err := s.Seen(t.Context(), pool, channels.Profile{ID: id, FirstName: name, Language: "en"}, false); err != nil {
			t.Fatal(err)
		}
	}
	return s, pool, tg
}

func inTx(t *testing.T, pool *pgxpool.Pool, fn func(tx pgx.Tx) error) error {
	t.Helper()
	return postgres.InTx(t.Context(), pool, fn)
}

// Who lets a person's channels rest locks the person and then the rows; the
// other way round the two would wait for one another.
func TestThePayerIsLockedBeforeAnyRow(t *testing.T) {
	t.Parallel()
	_, pool, tg := setup(t)
	var locked []int64
	s := channels.New(channels.Config{
		Pool: pool, Rights: tg,
		LockHoldings: func(ctx context.Context, _ pgx.Tx, personID int64) error {
			locked = append(locked, personID)
			_, err := pool.Exec(ctx, "SELECT FROM channels FOR UPDATE NOWAIT")
			_, also := pool.Exec(ctx, "SELECT FROM subscriptions FOR UPDATE NOWAIT")
			return errors.Join(err, also)
		},
	})
	ch, _, err := s.Link(t.Context(), ann, news)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(tx pgx.Tx) (bool, error){
		func(tx pgx.Tx) (bool, error) { return s.Subscribe(t.Context(), tx, ch.ID, 1, ann, "none") },
		func(tx pgx.Tx) (bool, error) { return s.Unsubscribe(t.Context(), tx, ch.ID, 1) },
		func(tx pgx.Tx) (bool, error) { return s.Unlink(t.Context(), tx, ch.ID) },
	} {
		if err := inTx(t, pool, func(tx pgx.Tx) error { _, err := change(tx); return err }); err != nil {
			t.Error(err)
		}
	}
	if _, _, err := s.Link(t.Context(), ann, news); err != nil {
		t.Errorf("link anew: %v", err)
	}
	if diff := cmp.Diff([]int64{ann, ann, ann, ann}, locked); diff != "" {
		t.Errorf("locked: %s", diff)
	}
}

func TestLinking(t *testing.T) {
	t.Parallel()
	s, pool, _ := setup(t)
	ctx := t.Context()
	tests := []struct {
		name    string
		person  int64
		chat    int64
		want    error
		missing []string
	}{
		{"an administrator links his channel", ann, news, nil, nil},
		{"again, and nothing changes", ann, news, nil, nil},
		{"another administrator needs an invitation", boris, news, channels.ErrTaken, nil},
		{"who is no administrator cannot", carol, -1002, channels.ErrPersonNoAdmin, nil},
		{"a missing right is named", ann, -1002, nil, []string{"can_post_messages"}},
		{"a group is no channel", ann, -1003, channels.ErrNoChannel, nil},
		{"where the bot is not", ann, -1004, channels.ErrBotNoAdmin, nil},
	}
	for _, tt := range tests {
		_, missing, err := s.Link(ctx, tt.person, tt.chat)
		if !errors.Is(err, tt.want) || !cmp.Equal(missing, tt.missing) {
			t.Errorf("%s: got %v, %v, want %v, %v", tt.name, missing, err, tt.missing, tt.want)
		}
	}
	list, roles, err := channels.Of(ctx, pool, ann)
	if err != nil || len(list) != 2 || roles[list[0].ID] != editorial.Owner {
		t.Errorf("Ann has %v as %v, %v, want two channels as owner", list, roles, err)
	}
	if list[1].State != editorial.ChannelNoRights {
		t.Errorf("the channel without rights is %s", list[1].State)
	}
}

func TestAnUnlinkedChannelForgetsItsPeopleButNotItsSettings(t *testing.T) {
	t.Parallel()
	s, pool, _ := setup(t)
	ctx := t.Context()
	ch, _, err := s.Link(ctx, ann, news)
	if err != nil {
		t.Fatal(err)
	}
	threshold := 77
	if err := inTx(t, pool, func(tx pgx.Tx) error {
		if err := s.Update(ctx, tx, ch.ID, channels.Change{Threshold: &threshold}); err != nil {
			return err
		}
		_, err := s.Unlink(ctx, tx, ch.ID)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	again, _, err := s.Link(ctx, boris, news)
	if err != nil {
		t.Fatal(err)
	}
	if again.ID != ch.ID || again.Threshold != threshold || again.State != editorial.ChannelActive {
		t.Errorf("linked anew: %+v, want the settings of channel %d", again, ch.ID)
	}
	if role, err := channels.RoleOf(ctx, pool, ch.ID, ann); role != "" || err != nil {
		t.Errorf("Ann is %q in a channel that Boris linked (%v)", role, err)
	}
}

func TestSettingsThatCannotBe(t *testing.T) {
	t.Parallel()
	s, pool, _ := setup(t)
	ch, _, err := s.Link(t.Context(), ann, news)
	if err != nil {
		t.Fatal(err)
	}
	str := func(s string) *string { return &s }
	num := func(n int) *int { return &n }
	tests := map[string]channels.Change{
		"time_zone":         {TimeZone: str("Mars/Olympus")},
		"threshold":         {Threshold: num(101)},
		"link_style":        {LinkStyle: str("blink")},
		"daily_cap":         {DailyCap: num(-1)},
		"autopilot_minutes": {AutopilotMinutes: num(1)},
		"hashtags":          {Hashtags: &[]string{"two words"}},
		"language":          {Language: str("English")},
		"quiet":             {Quiet: &editorial.Quiet{From: 1440}},
		"tone":              {Tone: &[]string{" "}},
	}
	for field, change := range tests {
		err := inTx(t, pool, func(tx pgx.Tx) error { return s.Update(t.Context(), tx, ch.ID, change) })
		var bad *channels.InvalidError
		if !errors.As(err, &bad) || bad.Field != field {
			t.Errorf("%s: got %v", field, err)
		}
	}
}

func TestSettingsComeBackAsTheyWereSet(t *testing.T) {
	t.Parallel()
	s, pool, _ := setup(t)
	ctx := t.Context()
	ch, _, err := s.Link(ctx, ann, news)
	if err != nil {
		t.Fatal(err)
	}
	zone, digest, at := "Europe/Moscow", "daily", editorial.Clock(1230)
	quiet := editorial.Quiet{From: 1380, To: 420}
	week := editorial.Week{time.Tuesday: {600, 700}}
	pilot, sources := editorial.AutopilotScore, []int64{4, 5}
	change := channels.Change{TimeZone: &zone, Digest: &digest, DigestAt: &at, Quiet: &quiet, Week: &week, Autopilot: &pilot, AutopilotSources: &sources}
	if err := inTx(t, pool, func(tx pgx.Tx) error { return s.Update(ctx, tx, ch.ID, change) }); err != nil {
		t.Fatal(err)
	}
	got, err := channels.Get(ctx, pool, ch.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := ch
	want.TimeZone, want.Digest, want.DigestAt, want.Quiet, want.Week = zone, digest, at, quiet, week
	want.Autopilot, want.AutopilotSources, want.Version = pilot, sources, ch.Version+1
	for i := range want.Week {
		if want.Week[i] == nil {
			want.Week[i] = got.Week[i]
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAnInvitationWorksOnce(t *testing.T) {
	t.Parallel()
	s, pool, _ := setup(t)
	ctx := t.Context()
	ch, _, err := s.Link(ctx, ann, news)
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.Invite(ctx, pool, ch.ID, editorial.Editor, ann, "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	fresh, refused := 0, 0
	for _, person := range []int64{boris, carol, boris, carol} {
		wg.Go(func() {
			err := postgres.InTx(ctx, pool, func(tx pgx.Tx) error {
				inv, err := s.Accept(ctx, tx, token, person)
				mu.Lock()
				defer mu.Unlock()
				if err == nil && !inv.Already {
					fresh++
				}
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, channels.ErrInvitation) {
				refused++
			} else if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if fresh != 1 || refused != 2 {
		t.Errorf("used %d times and refused %d times, want once and twice", fresh, refused)
	}
	members, err := channels.Members(ctx, pool, ch.ID)
	if err != nil || len(members) != 2 || members[1].Role != editorial.Editor {
		t.Errorf("members: %+v, %v", members, err)
	}
}

func TestTheLastOwnerStays(t *testing.T) {
	t.Parallel()
	s, pool, _ := setup(t)
	ctx := t.Context()
	ch, _, err := s.Link(ctx, ann, news)
	if err != nil {
		t.Fatal(err)
	}
	remove := func(id int64) error {
		return inTx(t, pool, func(tx pgx.Tx) error {
			_, err := s.RemoveMember(ctx, tx, ch.ID, id)
			return err
		})
	}
	if err := remove(ann); !errors.Is(err, channels.ErrLastOwner) {
		t.Errorf("the last owner left: %v", err)
	}
	token, err := s.Invite(ctx, pool, ch.ID, editorial.Owner, ann, "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := inTx(t, pool, func(tx pgx.Tx) error {
		_, err := s.Accept(ctx, tx, token, boris)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	// Both leave at once: one stays.
	var wg sync.WaitGroup
	for _, id := range []int64{ann, boris} {
		wg.Go(func() { _ = remove(id) })
	}
	wg.Wait()
	if members, err := channels.Members(ctx, pool, ch.ID); err != nil || len(members) != 1 {
		t.Errorf("members: %+v, %v, want one owner", members, err)
	}
}

func TestTheFirstOperatorClaimsOnce(t *testing.T) {
	t.Parallel()
	s, pool, _ := setup(t)
	ctx := t.Context()
	var first, second string
	if err := inTx(t, pool, func(tx pgx.Tx) (err error) {
		if first, err = s.ClaimToken(ctx, tx, time.Hour); err != nil {
			return err
		}
		second, err = s.ClaimToken(ctx, tx, time.Hour)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	accept := func(token string, id int64) error {
		return inTx(t, pool, func(tx pgx.Tx) error {
			_, err := s.Accept(ctx, tx, token, id)
			return err
		})
	}
	if err := accept(first, ann); !errors.Is(err, channels.ErrInvitation) {
		t.Errorf("a link printed by an earlier start still works: %v", err)
	}
	if err := accept(second, ann); err != nil {
		t.Fatal(err)
	}
	if p, err := channels.Person(ctx, pool, ann); err != nil || p.Access != editorial.AccessOperator {
		t.Errorf("Ann is %q, %v, want operator", p.Access, err)
	}
	if err := inTx(t, pool, func(tx pgx.Tx) error {
		token, err := s.ClaimToken(ctx, tx, time.Hour)
		if token != "" {
			t.Error("a claim link although there is an operator")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func TestSubscriptions(t *testing.T) {
	t.Parallel()
	s, pool, _ := setup(t)
	ctx := t.Context()
	ch, _, err := s.Link(ctx, ann, news)
	if err != nil {
		t.Fatal(err)
	}
	if err := inTx(t, pool, func(tx pgx.Tx) error {
		for id := range int64(4) {
			fresh, err := s.Subscribe(ctx, tx, ch.ID, id+1, ann, "some")
			if err != nil || !fresh {
				t.Errorf("subscribe %d: %t, %v", id, fresh, err)
			}
		}
		if fresh, err := s.Subscribe(ctx, tx, ch.ID, 1, ann, "some"); err != nil || fresh {
			t.Errorf("subscribed twice: %t, %v", fresh, err)
		}
		if err := s.MergeSource(ctx, tx, 1, 2); err != nil {
			return err
		}
		fit, err := s.FitPlan(ctx, tx, ann, 1, 2)
		if fit.SourcesResting != 1 || len(fit.Resting) != 0 {
			t.Errorf("fitted to two sources: %+v", fit)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	subs, err := channels.Subscriptions(ctx, pool, ch.ID)
	if err != nil || len(subs) != 3 || subs[1].RestsAt != nil || subs[2].RestsAt == nil {
		t.Errorf("subscriptions: %+v, %v, want 2, 3 and a resting 4", subs, err)
	}
	if f, err := channels.Followers(ctx, pool, 4); err != nil || len(f) != 0 {
		t.Errorf("a resting subscription still follows: %v, %v", f, err)
	}
}

func TestWhatExceedsAPlanRestsAndWakes(t *testing.T) {
	t.Parallel()
	s, pool, tg := setup(t)
	ctx := t.Context()
	tg[-1004] = channels.Look{ChatID: -1004, IsChannel: true, Title: "Second", BotIsAdmin: true, BotCanPost: true, PersonAdmin: true}
	var ids []int64
	for _, chat := range []int64{news, -1004} {
		ch, _, err := s.Link(ctx, ann, chat)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, ch.ID)
	}
	fit := func(maxChannels, maxSources int64) (f channels.Fit) {
		t.Helper()
		if err := inTx(t, pool, func(tx pgx.Tx) (err error) {
			f, err = s.FitPlan(ctx, tx, ann, maxChannels, maxSources)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return f
	}
	if err := inTx(t, pool, func(tx pgx.Tx) error {
		for i, ch := range []int64{ids[0], ids[1], ids[0], ids[1]} {
			if _, err := s.Subscribe(ctx, tx, ch, int64(i+1), ann, "some"); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name              string
		channels, sources int64
		want              channels.Fit
	}{
		{"no bound", 0, 0, channels.Fit{}},
		{"one channel, one source: the newer ones rest", 1, 1, channels.Fit{Resting: ids[1:], SourcesResting: 3}},
		{"the same again", 1, 1, channels.Fit{}},
		{"two channels, three sources", 2, 3, channels.Fit{Woken: ids[1:], SourcesWoken: 2}},
		{"no bound again", 0, 0, channels.Fit{SourcesWoken: 1}},
	} {
		if diff := cmp.Diff(tt.want, fit(tt.channels, tt.sources)); diff != "" {
			t.Errorf("%s:\n%s", tt.name, diff)
		}
	}
	if c, n, err := channels.Holdings(ctx, pool, ann); err != nil || c != 2 || n != 4 {
		t.Errorf("%d channels, %d sources, %v: want all of them", c, n, err)
	}
}
