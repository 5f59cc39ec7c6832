package miniapp

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The modules are written as plain ES modules and run as they are. To the
// browser they go as one file, so that a phone makes one request and not
// twenty, and without comments and spare white space: join puts them in the
// order of their imports and takes the import lines and the word export away. It
// needs what a test checks: named imports only, on a line of their own, and no
// name at the top of two modules.

// forms are the shapes that join relies on.
type forms struct{ imports, exports, consts, single *regexp.Regexp }

func moduleForms() forms {
	return forms{
		imports: regexp.MustCompile(`(?m)^import \{[^}]*\} from '\./([\w-]+\.js)';\n`),
		exports: regexp.MustCompile(`(?m)^export (async function|function|const|class)`),
		// Shorter for the wire: the type checker has seen to it that nothing constant is set again.
		consts: regexp.MustCompile(`\bconst ([\w{[])`),
		single: regexp.MustCompile(`([^\w$])\((\w+)\)=>`),
	}
}

// texts is the one module that is prose.
const texts = "catalogue.js"

// join returns the modules under js/ as one. The texts come last in it, where
// they stand in no function's way: prose in the midst of code packs worse.
func join(files map[string][]byte) ([]byte, error) {
	f := moduleForms()
	var out bytes.Buffer
	done, open := []string{texts}, []string(nil)
	var add func(name string) error
	add = func(name string) error {
		if slices.Contains(done, name) {
			return nil
		}
		src, ok := files["js/"+name]
		if !ok || slices.Contains(open, name) {
			return fmt.Errorf("the page's module %s is missing, or imports itself by way of %v", name, open)
		}
		open = append(open, name)
		for _, m := range f.imports.FindAllSubmatch(src, -1) {
			if err := add(string(m[1])); err != nil {
				return err
			}
		}
		open, done = open[:len(open)-1], append(done, name)
		src = f.consts.ReplaceAll(f.exports.ReplaceAll(f.imports.ReplaceAll(src, nil), []byte("$1")), []byte("let $1"))
		src = f.single.ReplaceAll([]byte(squeeze(string(src))), []byte("$1$2=>"))
		out.Write(bytes.ReplaceAll(src, []byte(";}"), []byte("}"))) // a test looks for a loop without a body there
		return nil
	}
	if err := add("main.js"); err != nil {
		return nil, err
	}
	for name := range files {
		if path.Dir(name) == "js" && !slices.Contains(done, path.Base(name)) {
			return nil, fmt.Errorf("nobody imports the page's module %s", name)
		}
	}
	out.Write(columns(files["js/"+texts]))
	return out.Bytes(), nil
}

// columns writes the catalogue column by column: each language packs best by
// itself. A key that begins as the one before it leaves its first word out.
func columns(src []byte) []byte {
	_, body, _ := strings.Cut(string(src), "`\n")
	body, _, _ = strings.Cut(body, "\n`")
	first, _, _ := strings.Cut(body, "\n")
	cols := make([]strings.Builder, strings.Count(first, "|")+1)
	area := ""
	for line := range strings.SplitSeq(body, "\n") {
		for i, text := range strings.SplitN(line, "|", len(cols)) {
			if n := strings.IndexAny(text, ".#"); i == 0 && n > 0 && text[:n] == area {
				text = text[n:]
			} else if i == 0 {
				area, _, _ = strings.Cut(strings.ReplaceAll(text, "#", "."), ".")
			}
			cols[i].WriteString(text + "\n")
		}
	}
	out := []byte("function catalogue(){let a;return[")
	for i := range cols {
		out = fmt.Appendf(out, "`%s`,", cols[i].String())
	}
	return append(out, "].map((c,i)=>c.split('\\n').map(k=>i?k:/^\\W/.test(k)?a+k:(a=/^\\w*/.exec(k)[0],k)))}\n"...)
}

// bareStyle drops comments, and the white space and semicolons that a style sheet does not need.
func bareStyle(src []byte) []byte {
	src = regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAll(src, nil)
	return bytes.ReplaceAll(regexp.MustCompile(`\s*([{};,])\s*`).ReplaceAll(src, []byte("$1")), []byte(";}"), []byte("}"))
}
