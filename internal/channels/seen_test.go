package channels_test

import (
	"testing"
	"time"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/editorial"
	"github.com/postonce/postonce/internal/postgres/dbtest"
)

// TestAPersonIsWrittenDownOnlyWhenSomethingIsNew: each tap sees its person, and a write is a flush to disk.
func TestAPersonIsWrittenDownOnlyWhenSomethingIsNew(t *testing.T) {
	t.Parallel()
	pool := dbtest.New(t)
	s := channels.New(channels.Config{Pool: pool})
	see := func(p channels.Profile, operator bool) (who editorial.Person, wrote bool) {
		t.Helper()
		const version = `SELECT coalesce((SELECT ctid::text FROM people WHERE id = 5), '')`
		var before, after string
		if err := pool.QueryRow(t.Context(), version).Scan(&before); err != nil {
			t.Fatal(err)
		}
		who, err := s.Seen(t.Context(), pool, p, operator)
		if err != nil {
			t.Fatal(err)
		}
		if err := pool.QueryRow(t.Context(), version).Scan(&after); err != nil {
			t.Fatal(err)
		}
		return who, before != after
	}
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	sender := channels.Profile{ID: 5, FirstName: "Ann", Username: "ann", Language: "en"}
	nothing := func() {}
	for _, step := range []struct {
		name     string
		first    func()
		change   func(*channels.Profile)
		operator bool
		wrote    bool
	}{
		{name: "the first time", wrote: true},
		{name: "again"},
		{name: "under another name", change: func(p *channels.Profile) { p.FirstName = "Anna" }, wrote: true},
		{name: "under another address", change: func(p *channels.Profile) { p.Username = "anna" }, wrote: true},
		{name: "in another language", change: func(p *channels.Profile) { p.Language = "ru" }, wrote: true},
		{name: "again in it"},
		{name: "after the bot was blocked", first: func() { exec(`UPDATE people SET blocked_at = clock_timestamp()`) }, wrote: true},
		{name: "after everything was erased", first: func() { exec(`UPDATE people SET erased_at = clock_timestamp()`) }, wrote: true},
		{name: "as a new operator", operator: true, wrote: true},
		{name: "as an old one", operator: true},
		{name: "after a while", first: func() { exec(`UPDATE people SET seen_at = clock_timestamp() - $1::interval`, time.Hour) }, wrote: true},
		{name: "in a language that does not count", first: func() { exec(`UPDATE people SET language_set = true`) }, change: func(p *channels.Profile) { p.Language = "en" }},
	} {
		if step.first == nil {
			step.first = nothing
		}
		step.first()
		if step.change != nil {
			step.change(&sender)
		}
		who, wrote := see(sender, step.operator)
		if wrote != step.wrote {
			t.Errorf("%s: written %t, want %t", step.name, wrote, step.wrote)
		}
		if who.ID != 5 || who.FirstName != sender.FirstName || who.Username != sender.Username {
			t.Errorf("%s: %+v", step.name, who)
		}
	}
}
