package dbtest_test

import (
	"testing"

	"github.com/postonce/postonce/internal/postgres/dbtest"
)

func TestNewGivesAMigratedDatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	a, b := dbtest.New(t), dbtest.New(t)
	const add = "INSERT INTO people (id) VALUES (1)"
	if _, err := a.Exec(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Exec(t.Context(), add); err != nil {
		t.Errorf("the second database shares rows with the first: %v", err)
	}
}
