package archtest_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// testNames are the names of all tests and fuzz targets below internal and cmd.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, root := range []string{"../../internal", "../../cmd"} {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "node_modules" {
				return fs.SkipDir
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(p, "_test.go") {
				return err
			}
			b, err := os.ReadFile(p) //nolint:gosec // a file of this repository
			for _, m := range declared.FindAllStringSubmatch(string(b), -1) {
				names[m[1]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// rows are the body rows of all tables of a page, as cells.
func rows(t *testing.T, page string) (out [][]string) {
	t.Helper()
	b, err := os.ReadFile("../../docs/" + page) //nolint:gosec // a file of this repository
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || i+1 < len(lines) && strings.HasPrefix(lines[i+1], "|---") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		out = append(out, cells)
	}
	return out
}

// rowsNameTests holds the last cell of each row against the tests that exist.
func rowsNameTests(t *testing.T, page string, least int) {
	t.Helper()
	known := testNames(t)
	all := rows(t, page)
	if len(all) < least {
		t.Errorf("docs/%s has %d rows, want at least %d", page, len(all), least)
	}
	named := regexp.MustCompile(`\b(?:Test|Fuzz)\w+`)
	for _, row := range all {
		tests := named.FindAllString(row[len(row)-1], -1)
		if len(tests) == 0 {
			t.Errorf("docs/%s: %q names no test", page, row[0])
		}
		for _, name := range tests {
			if !known[name] {
				t.Errorf("docs/%s: %q names %s, which is no test here", page, row[0], name)
			}
		}
	}
}

func TestEachRowOfThePromiseHasItsTests(t *testing.T) {
	t.Parallel()
	rowsNameTests(t, "nothing-twice-tests.md", 35)
	// No row of the promise may be left out of the page.
	have := map[string]bool{}
	for _, row := range rows(t, "nothing-twice-tests.md") {
		have[row[0]] = true
	}
	for _, must := range []string{
		"an update from Telegram", "a source", "an item", "a score", "a draft", "a decision as a lesson", "a model call", "a slot",
		"a publication", "a payment", "a recurring run", "a button press", "a job",
		"a lease is lost", "a kill before and after each step", "the database goes away", "the answer is lost", "two processes",
	} {
		if !have[must] {
			t.Errorf("the page lacks the row %q", must)
		}
	}
}

func TestEachBoundHasItsTest(t *testing.T) {
	t.Parallel()
	rowsNameTests(t, "bounds.md", 30)
}

func TestEachDependencyIsListedWithWhy(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string][]string{}
	for _, row := range rows(t, "dependencies.md") {
		listed[strings.Trim(row[0], "`")] = row
	}
	required := regexp.MustCompile(`(?m)^\t(\S+) (v\S+)`).FindAllStringSubmatch(string(mod), -1)
	if len(required) < 10 {
		t.Fatalf("go.mod names %d modules: the test reads it wrongly", len(required))
	}
	for _, m := range required {
		row := listed[m[1]]
		if len(row) < 3 || row[1] != m[2] || len(row[2]) < 10 {
			t.Errorf("docs/dependencies.md lists %q, want %s %s and why", row, m[1], m[2])
		}
		delete(listed, m[1])
	}
	for name := range listed {
		t.Errorf("docs/dependencies.md lists %s, which go.mod does not require", name)
	}
}

func TestEveryExportedNameIsDocumented(t *testing.T) {
	t.Parallel()
	for _, root := range []string{"../../internal", "../../cmd"} {
		err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata"):
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
				return nil
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			for _, name := range undocumented(f) {
				t.Errorf("%s: %s has no doc comment", strings.TrimPrefix(p, "../../"), name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// undocumented are the exported names of a file without a comment: those of
// functions, methods of exported types, types, constants and variables. The
// comment of a group speaks for its members, a comment at the line's end for that one.
func undocumented(f *ast.File) (out []string) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
				out = append(out, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						out = append(out, s.Name.Name)
					}
				case *ast.ValueSpec:
					if d.Doc == nil && s.Doc == nil && s.Comment == nil && s.Names[0].IsExported() {
						out = append(out, s.Names[0].Name)
					}
				}
			}
		}
	}
	return out
}

// exportedReceiver is false for a method of a type that nobody outside names,
// and for the few whose meaning the language fixes.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	switch d.Name.Name {
	case "Error", "Unwrap", "String":
		return false
	}
	name := strings.TrimLeft(fmt.Sprint(receiver(d.Recv.List[0].Type)), "*")
	return ast.IsExported(name)
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
