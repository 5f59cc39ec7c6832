package app

import (
	"testing"

	"github.com/postonce/postonce/internal/desk"
	"github.com/postonce/postonce/internal/telegram"
)

func TestTheBotsEarsAreTheIntakes(t *testing.T) {
	t.Parallel()
	if desk.EarsKind != telegram.UpdateKind {
		t.Errorf("the chat may pause %s, which hears people; it refuses %s", telegram.UpdateKind, desk.EarsKind)
	}
}
