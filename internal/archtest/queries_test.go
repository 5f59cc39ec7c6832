package archtest_test

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/postonce/postonce/internal/postgres/dbtest"
)

// writers names the one part of internal/ that inserts, updates or deletes in
// each table. Anybody may read.
func writers() map[string]string {
	owned := map[string][]string{
		"queue":      {"job_kinds", "jobs", "job_keys", "job_history", "job_attempts", "job_archive", "effects", "workers", "schedules", "schedule_runs", "job_links", "job_order", "archive_decisions"},
		"telegram":   {"updates", "update_cursors", "update_pollers", "update_dead_letters", "update_troubles", "bots"},
		"channels":   {"people", "channels", "memberships", "invitations", "subscriptions"},
		"sources":    {"sources", "source_aliases", "items", "item_keys", "polls", "hosts"},
		"stories":    {"stories", "story_items", "story_keys", "story_words"},
		"scoring":    {"scores", "lessons", "word_counts"},
		"drafting":   {"drafts", "draft_revisions", "model_calls", "model_spend", "channel_posts"},
		"planning":   {"slots"},
		"publishing": {"publications", "publication_reviews", "publication_edits"},
		"chat":       {"dialogs", "pastes", "cards"},
		"billing":    {"payments", "quotas", "accounts", "movements", "invoices", "payment_findings"},
		"ops":        {"incidents", "watch_samples", "database_marks", "restores", "restore_holds"},
	}
	out := map[string]string{}
	for part, tables := range owned {
		for _, table := range tables {
			out[table] = part
		}
	}
	return out
}

var (
	looksLikeSQL = regexp.MustCompile(`^\s*(-- |SELECT\b|WITH\s+[a-z]|INSERT INTO\b|UPDATE\s+[a-z_]+\s+(SET|[a-z])|DELETE FROM\b|TRUNCATE\b)`)
	// Keywords are upper case and tables lower case: FOR UPDATE OF and DO UPDATE SET do not match.
	writesTable = regexp.MustCompile(`\b(?:INSERT INTO|DELETE FROM|UPDATE(?:\s+ONLY)?)\s+([a-z_]+)\b`)
)

// constants evaluates the string constants of a package, also those that are
// put together from others.
type constants map[string]ast.Expr

func (c constants) eval(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			return unquote(e)
		}
	case *ast.BinaryExpr:
		return c.eval(e.X) + c.eval(e.Y)
	case *ast.ParenExpr:
		return c.eval(e.X)
	case *ast.Ident:
		if v, ok := c[e.Name]; ok {
			return c.eval(v)
		}
	case *ast.SelectorExpr:
		if pkg, ok := e.X.(*ast.Ident); ok {
			return c.eval(&ast.Ident{Name: pkg.Name + "." + e.Sel.Name})
		}
	}
	return ""
}

// share lets each package use the exported constants of the others, as pkg.Name.
func share(byPkg map[string]constants) {
	shared := constants{}
	for pkg, c := range byPkg {
		for name, v := range c {
			if text := c.eval(v); ast.IsExported(name) && text != "" {
				shared[path.Base(pkg)+"."+name] = &ast.BasicLit{Kind: token.STRING, Value: strconv.Quote(text)}
			}
		}
	}
	for _, c := range byPkg {
		maps.Copy(c, shared)
	}
}

// query is one SQL constant.
type query struct{ where, part, text string }

// queries collects every constant named …SQL and reports SQL that stands elsewhere.
func queries(t *testing.T) []query {
	t.Helper()
	files := sources(t)
	byPkg := map[string]constants{}
	for _, f := range files {
		if byPkg[f.pkg] == nil {
			byPkg[f.pkg] = constants{}
		}
		eachConst(f.ast, func(name string, v ast.Expr) { byPkg[f.pkg][name] = v })
	}
	share(byPkg)
	var out []query
	for _, f := range files {
		inConst := map[*ast.BasicLit]bool{}
		eachConst(f.ast, func(name string, v ast.Expr) {
			if !strings.HasSuffix(name, "SQL") {
				return
			}
			ast.Inspect(v, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok {
					inConst[lit] = true
				}
				return true
			})
			if text := byPkg[f.pkg].eval(v); looksLikeSQL.MatchString(text) {
				out = append(out, query{where: f.path + ": " + name, part: f.part, text: text})
			}
		})
		if f.pkg == "postgres/dbtest" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && !inConst[lit] && looksLikeSQL.MatchString(unquote(lit)) {
				t.Errorf("%s: SQL outside a constant named …SQL: %.60q", f.path, unquote(lit))
			}
			return true
		})
	}
	return out
}

func eachConst(f *ast.File, fn func(name string, v ast.Expr)) {
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for i, v := range spec.Values {
				fn(spec.Names[i].Name, v)
			}
		}
		return true
	})
}

func TestEveryQueryPrepares(t *testing.T) {
	t.Parallel()
	conn, err := dbtest.New(t).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	all := queries(t)
	for _, q := range all {
		text, _, err := pgx.NamedArgs{}.RewriteQuery(t.Context(), conn.Conn(), q.text, nil)
		if err == nil {
			_, err = conn.Conn().Prepare(t.Context(), q.where, text)
		}
		if err != nil {
			t.Errorf("%s: %v", q.where, err)
		}
	}
	t.Logf("%d queries prepared", len(all))
}

func TestEachTableHasOneWriter(t *testing.T) {
	t.Parallel()
	writer := writers()
	for _, q := range queries(t) {
		for _, m := range writesTable.FindAllStringSubmatch(q.text, -1) {
			if m[1] == "set" || m[1] == "skip" || m[1] == "of" {
				continue
			}
			if owner := writer[m[1]]; owner != q.part {
				t.Errorf("%s writes %s, whose one writer is internal/%s", q.where, m[1], owner)
			}
		}
	}
}
