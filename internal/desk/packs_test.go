package desk_test

import (
	"net/url"
	"testing"

	"github.com/postonce/postonce/internal/desk"
)

func TestPacksAreUsable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range desk.SuggestedPacks() {
		if seen[p.ID] || len(p.ID) > 16 || p.Title == "" || p.Language == "" || len(p.Sources) < 3 {
			t.Errorf("pack %q is doubled, too long or incomplete", p.ID)
		}
		seen[p.ID] = true
		in := map[string]bool{}
		for _, s := range p.Sources {
			u, err := url.Parse(s)
			if err != nil || u.Scheme != "https" || u.Host == "" || in[s] {
				t.Errorf("%s: %q is no address, or stands there twice", p.ID, s)
			}
			in[s] = true
		}
	}
	if len(seen) < 10 {
		t.Errorf("only %d packs", len(seen))
	}
}
