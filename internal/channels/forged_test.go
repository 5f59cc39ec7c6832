package channels_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/channels"
	"github.com/postonce/postonce/internal/editorial"
)

// TestInvitationsCannotBeForged tries guesses, changes of a real token, its
// digest out of the database, and one that is too old.
func TestInvitationsCannotBeForged(t *testing.T) {
	t.Parallel()
	s, pool, _ := setup(t)
	ctx := t.Context()
	ch, _, err := s.Link(ctx, ann, news)
	if err != nil {
		t.Fatal(err)
	}
	token, err := s.Invite(ctx, pool, ch.ID, editorial.Owner, ann, "", time.Hour)
	if err != nil || len(token) < 22 {
		t.Fatalf("a token of %d characters, %v: want at least 128 bits", len(token), err)
	}
	old, err := s.Invite(ctx, pool, ch.ID, editorial.Owner, ann, "", -time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var digest string
	if err := pool.QueryRow(ctx, `SELECT encode(token_hash, 'base64') FROM invitations LIMIT 1`).Scan(&digest); err != nil {
		t.Fatal(err)
	}
	for name, guess := range map[string]string{
		"nothing": "", "a guess": strings.Repeat("a", len(token)), "one character off": token[:len(token)-2] + "__",
		"shorter": token[:len(token)-1], "longer": token + "A", "the digest that is stored": digest, "too old": old,
	} {
		err := inTx(t, pool, func(tx pgx.Tx) error { _, err := s.Accept(ctx, tx, guess, boris); return err })
		if !errors.Is(err, channels.ErrInvitation) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if m, err := channels.Members(ctx, pool, ch.ID); err != nil || len(m) != 1 {
		t.Errorf("members: %+v, %v", m, err)
	}
}
