package chat

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/postonce/postonce/internal/desk"
)

// families are the codes that the program puts together: a prefix, and who
// decides what may follow. Every text below a prefix counts as used.
func families() []string {
	return []string{
		"weekday.", "month.", "ago.", "in.", "role.", "right.", "channel.", "setting.", "link_style.", "image_style.", "missed.",
		"autopilot.", "digest.", "tone.", "skip.", "failure.", "fallback.", "did.", "already.", "reason.", "check.", "kind.", "error.source.",
		"error.setting.", "filter.ask.", "job.", "meter.", "text.", "menu.", "notice.", "card.kind.", "life.", "erased.", "stays.",
		"incident.", "verdict.", "voice.", "finding.", "how.", "rewrite_failed.", "usage.", "settled.", "change.",
	}
}

// literals are all strings in the program's own Go, tests aside.
func literals(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if s, err := strconv.Unquote(lit.Value); err == nil {
					out = append(out, s)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func english(t *testing.T) map[string]any {
	t.Helper()
	b, err := os.ReadFile("texts/en.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestEveryCodeHasAText(t *testing.T) {
	t.Parallel()
	all := english(t)
	first := map[string]bool{}
	for code := range all {
		head, _, _ := strings.Cut(code, ".")
		first[head] = true
	}
	shape := regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)+$`)
	for _, s := range literals(t, ".") {
		head, _, _ := strings.Cut(s, ".")
		if shape.MatchString(s) && first[head] && all[s] == nil {
			t.Errorf("the chat says %q, which no catalogue has", s)
		}
	}
	for _, s := range literals(t, "../desk") {
		if shape.MatchString(s) && (strings.HasPrefix(s, "error.") || strings.HasPrefix(s, "life.")) && all[s] == nil && s != "error.setting" {
			t.Errorf("desk answers with %q, which no catalogue has", s)
		}
	}
	for _, f := range settingGroup() {
		for _, code := range []string{"setting." + f, "setting." + f + ".help"} {
			if all[code] == nil {
				t.Errorf("no text %q", code)
			}
		}
	}
	for _, name := range menuOrder() {
		if all["menu."+name] == nil {
			t.Errorf("the menu has no text for /%s", name)
		}
	}
}

func TestNoTextIsUnused(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, s := range literals(t, "..") {
		used[s] = true
	}
	for code := range english(t) {
		if used[code] || slices.ContainsFunc(families(), func(p string) bool { return strings.HasPrefix(code, p) }) {
			continue
		}
		t.Errorf("nothing says %q", code)
	}
}

func TestMenuNamesEveryCommand(t *testing.T) {
	t.Parallel()
	c := &Chat{}
	for name, cmd := range c.commandTable() {
		if cmd.menu != slices.Contains(menuOrder(), name) {
			t.Errorf("/%s is listed %t, and in the menu's order %t", name, cmd.menu, !cmd.menu)
		}
	}
}

// TestEveryJobThatStatusShowsHasAName: without one people would read the kind's own, in English.
func TestEveryJobThatStatusShowsHasAName(t *testing.T) {
	t.Parallel()
	all := english(t)
	for _, kind := range desk.StatusKinds() {
		if _, ok := all["job."+kind]; !ok {
			t.Errorf("no text job.%s", kind)
		}
	}
}
