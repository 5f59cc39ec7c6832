package archtest_test

import (
	"slices"
	"strings"
	"testing"
)

const longestFile = 800 // lines

// imports lists, for every part of internal/, the parts that it may import.
// An arrow that is missing here is wrong, and so is a part that is missing.
func imports() map[string][]string {
	adapters := []string{"editorial", "queue", "postgres"}
	with := func(more ...string) []string { return slices.Concat(adapters, more) }
	everything := []string{
		"editorial", "queue", "postgres", "fetch", "article", "llm", "telegram",
		"sources", "stories", "scoring", "drafting", "planning", "publishing", "channels", "billing",
		"desk", "chat", "miniapp", "httpd", "sandbox", "doctor", "ops", "simulate",
	}
	return map[string][]string{
		// The vocabulary and the adapters: they know no feature.
		"editorial": {},
		"queue":     {"postgres"},
		"postgres":  {},
		"fetch":     {"postgres"},
		"article":   {},
		"llm":       {},
		"telegram":  {"queue", "postgres"},
		// Features: never one another.
		"sources":    with("fetch", "article"),
		"stories":    with("article"),
		"scoring":    with("article"),
		"drafting":   with("article", "llm", "telegram"),
		"planning":   with(),
		"publishing": with("article", "telegram", "fetch"),
		"channels":   with("telegram"),
		"billing":    with("telegram"),
		// What people decide, across features; the edges call it, never a feature.
		"desk":    with("article", "telegram", "sources", "stories", "scoring", "drafting", "planning", "publishing", "channels", "billing"),
		"chat":    with("telegram", "desk"),
		"miniapp": {"editorial", "postgres", "desk", "telegram"},
		// Around them.
		"httpd":    {},
		"e2e":      {"sandbox"},
		"chaos":    {"sandbox", "postgres"},
		"sandbox":  {"telegram"},
		"doctor":   {"postgres", "telegram", "llm"},
		"ops":      {"editorial", "queue", "postgres"},
		"simulate": with("sources", "stories", "scoring", "fetch", "ops"),
		"app":      everything,
		"archtest": {},
		"casetest": {},
	}
}

// only lists modules that a few parts alone may import.
func only() map[string][]string {
	return map[string][]string{
		"github.com/go-telegram/bot":                     {"telegram", "chat", "sandbox", "app", "billing"},
		"github.com/mmcdole/gofeed":                      {"sources"},
		"github.com/caarlos0/env/v11":                    {"app"},
		"github.com/pressly/goose/v3":                    {"postgres"},
		"codeberg.org/readeck/go-readability/v2":         {"article"},
		"code.dny.dev/ssrf":                              {"fetch"},
		"github.com/nicksnyder/go-i18n/v2":               {"chat"},
		"log":                                            {},
		"log/slog":                                       {},
		"math/rand":                                      {},
		"github.com/prometheus/client_golang":            {"queue", "app", "httpd", "ops", "sources", "publishing", "drafting", "telegram", "chat"},
		"github.com/clipperhouse/uax29/v2":               {"article"},
		"github.com/abadojack/whatlanggo":                {"article", "drafting"},
		"github.com/telegram-mini-apps/init-data-golang": {},
	}
}

func TestImportsPointTheRightWay(t *testing.T) {
	t.Parallel()
	allowed, exclusive := imports(), only()
	for _, f := range sources(t) {
		may, known := allowed[f.part]
		if !known {
			t.Errorf("%s: internal/%s is not in the table of this test: say what it may import", f.path, f.part)
			continue
		}
		for _, spec := range f.ast.Imports {
			imp := unquote(spec.Path)
			if in, ok := strings.CutPrefix(imp, module+"internal/"); ok {
				part, _, _ := strings.Cut(in, "/")
				if part != f.part && !slices.Contains(may, part) {
					t.Errorf("%s: internal/%s must not import internal/%s", f.path, f.part, part)
				}
			}
			for mod, who := range exclusive {
				exact := imp == mod || strings.Contains(mod, ".") && strings.HasPrefix(imp, mod+"/")
				if exact && !slices.Contains(who, f.part) {
					t.Errorf("%s: only %v may import %s", f.path, who, mod)
				}
			}
		}
	}
}

func TestFilesStayReadable(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, f := range sources(t) {
		if f.lines > longestFile {
			t.Errorf("%s has %d lines, more than %d: cut it by what its parts are for", f.path, f.lines, longestFile)
		}
		documented[f.pkg] = documented[f.pkg] || f.ast.Doc != nil
	}
	for pkg, ok := range documented {
		if !ok {
			t.Errorf("internal/%s has no package comment: its duty, its tables, what it must never do", pkg)
		}
	}
}
