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
// twenty, and without their comments: join puts them in the order of their
// imports and takes the import lines and the word export away. It needs what a
// test checks: named imports only, on a line of their own, and no name at the
// top of two modules.

// forms are the shapes that join relies on.
type forms struct{ imports, exports, block, types, tail *regexp.Regexp }

func moduleForms() forms {
	return forms{
		imports: regexp.MustCompile(`(?m)^import \{[^}]*\} from '\./([\w-]+\.js)';\n`),
		exports: regexp.MustCompile(`(?m)^export (async function|function|const|class)`),
		block:   regexp.MustCompile(`(?ms)^[ \t]*/\*\*.*?\*/[ \t]*\n?`),
		tail:    regexp.MustCompile("(?m) // [^'\"`\n]*$"),
		types:   regexp.MustCompile(`/\*\* @\w+ [^*]*\*/ ?`),
	}
}

// join returns the modules under js/ as one.
func join(files map[string][]byte) ([]byte, error) {
	f := moduleForms()
	var out bytes.Buffer
	var done, open []string
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
		src = f.exports.ReplaceAll(f.imports.ReplaceAll(src, nil), []byte("$1"))
		src = bare(f.tail.ReplaceAll(f.types.ReplaceAll(f.block.ReplaceAll(src, nil), nil), nil))
		if name != texts {
			src = tight(src)
		}
		out.Write(src)
		return nil
	}
	// The texts in front: prose in the midst of code packs worse.
	for _, name := range []string{texts, "main.js"} {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	for name := range files {
		if path.Dir(name) == "js" && !slices.Contains(done, path.Base(name)) {
			return nil, fmt.Errorf("nobody imports the page's module %s", name)
		}
	}
	return out.Bytes(), nil
}

// texts is the one module that is prose: its lines stay as they are.
const texts = "catalogue.js"

// tight takes the spaces around punctuation away, outside of literals. A line
// with a nested template, a regular expression or a division stays as it is.
func tight(src []byte) []byte {
	literal := regexp.MustCompile("'(?:[^'\\\\]|\\\\.)*'|\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")
	space := regexp.MustCompile(` ?([=,(){}:?;&|<>]+) ?`)
	var out strings.Builder
	for line := range strings.Lines(string(src)) {
		ticks := strings.Count(line, "`")
		if (ticks != 0 && ticks != 2) || strings.ContainsAny(literal.ReplaceAllString(line, ""), "/'\"`") {
			out.WriteString(line)
			continue
		}
		at := 0
		for _, m := range literal.FindAllStringIndex(line, -1) {
			out.WriteString(space.ReplaceAllString(line[at:m[0]], "$1"))
			out.WriteString(line[m[0]:m[1]])
			at = m[1]
		}
		out.WriteString(space.ReplaceAllString(line[at:], "$1"))
	}
	return []byte(out.String())
}

// bareStyle drops the white space that a style sheet does not need.
func bareStyle(src []byte) []byte {
	return regexp.MustCompile(`\s*([{};,])\s*`).ReplaceAll(src, []byte("$1"))
}

// bare drops indentation, empty lines and lines that are a comment.
func bare(src []byte) []byte {
	var out strings.Builder
	for line := range strings.SplitSeq(string(src), "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "//") {
			out.WriteString(line + "\n")
		}
	}
	return []byte(out.String())
}
