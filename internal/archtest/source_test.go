package archtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/postonce/postonce/"

// file is one parsed source file of the program (tests left out); pkg is its
// folder below internal/, part the first element of that.
type file struct {
	path, pkg, part string
	lines           int
	ast             *ast.File
}

// sources parses internal/, once per test that asks.
func sources(t *testing.T) []file {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	var out []file
	err = fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || nestedModule(root, p)):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, filepath.Join(root, p), nil, parser.ParseComments)
		if err != nil {
			return err
		}
		pkg := path.Dir(p)
		part, _, _ := strings.Cut(pkg, "/")
		out = append(out, file{path: "internal/" + p, pkg: pkg, part: part, lines: fset.File(f.Pos()).LineCount(), ast: f})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 {
		t.Fatal("no source files found: the test reads the wrong place")
	}
	return out
}

// nestedModule spots the benchmarks that keep their own dependencies.
func nestedModule(root, p string) bool {
	_, err := os.Stat(filepath.Join(root, p, "go.mod"))
	return err == nil
}

func unquote(lit *ast.BasicLit) string {
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return s
}
