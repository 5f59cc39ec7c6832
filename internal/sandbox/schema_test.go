package sandbox_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/postonce/postonce/internal/casetest"
)

// description is the published description of the Bot API.
type description struct {
	Methods map[string]struct {
		Returns []string
		Fields  []field
	}
	Types map[string]struct {
		Fields   []field
		Subtypes []string
	}
}

type field struct {
	Name        string
	Types       []string
	Required    bool
	Description string
}

func readDescription(t *testing.T) *description {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(casetest.Dir(t, "telegram"), "botapi_10.1_api.json"))
	if err != nil {
		t.Fatal(err)
	}
	d := &description{}
	if err := json.Unmarshal(raw, d); err != nil {
		t.Fatal(err)
	}
	return d
}

// check compares a value with a type of the description: no unknown field, no
// required one missing, every value of its type.
func (d *description) check(path, typ string, v any) []string {
	if inner, ok := strings.CutPrefix(typ, "Array of "); ok {
		list, ok := v.([]any)
		if !ok {
			return []string{fmt.Sprintf("%s: %T is no %s", path, v, typ)}
		}
		var bad []string
		for i, one := range list {
			bad = append(bad, d.check(fmt.Sprintf("%s[%d]", path, i), inner, one)...)
		}
		return bad
	}
	switch typ {
	case "Integer", "Float":
		if _, ok := v.(float64); ok {
			return nil
		}
	case "String":
		if _, ok := v.(string); ok {
			return nil
		}
	case "Boolean", "True":
		if _, ok := v.(bool); ok {
			return nil
		}
	default:
		return d.checkObject(path, typ, v)
	}
	return []string{fmt.Sprintf("%s: %T is no %s", path, v, typ)}
}

func (d *description) checkObject(path, typ string, v any) []string {
	def, known := d.Types[typ]
	if !known {
		return []string{path + ": the description has no type " + typ}
	}
	if len(def.Subtypes) > 0 {
		return d.checkUnion(path, def.Subtypes, v)
	}
	o, ok := v.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s: %T is no %s", path, v, typ)}
	}
	var bad []string
	fields := map[string]field{}
	for _, f := range def.Fields {
		fields[f.Name] = f
		if _, there := o[f.Name]; f.Required && !there {
			bad = append(bad, fmt.Sprintf("%s: %s lacks %q", path, typ, f.Name))
		}
	}
	for name, one := range o {
		f, ok := fields[name]
		if !ok {
			bad = append(bad, fmt.Sprintf("%s: %s has no field %q", path, typ, name))
			continue
		}
		if _, fixed, ok := strings.Cut(f.Description, "always “"); ok {
			if want, _, _ := strings.Cut(fixed, "”"); one != any(want) {
				bad = append(bad, fmt.Sprintf("%s.%s: %v, always %s", path, name, one, want))
			}
		}
		bad = append(bad, d.checkUnion(path+"."+name, f.Types, one)...)
	}
	sort.Strings(bad)
	return bad
}

// checkUnion accepts what one of the types accepts; else the nearest complaints.
func (d *description) checkUnion(path string, types []string, v any) []string {
	var best []string
	for _, t := range types {
		bad := d.check(path, t, v)
		if len(bad) == 0 {
			return nil
		}
		if best == nil || len(bad) < len(best) {
			best = bad
		}
	}
	return best
}

// checkResult compares an answer with what its method returns.
func (d *description) checkResult(t *testing.T, method string, result any) {
	t.Helper()
	def, ok := d.Methods[method]
	if !ok {
		t.Errorf("the description has no method %q", method)
		return
	}
	for _, bad := range d.checkUnion(method, def.Returns, result) {
		t.Error(bad)
	}
}

// TestTheCheckerFinds shows that the checker can fail.
func TestTheCheckerFinds(t *testing.T) {
	t.Parallel()
	d := readDescription(t)
	for want, v := range map[string]any{
		`lacks "chat"`:          map[string]any{"message_id": 1.0, "date": 1.0},
		`has no field "colour"`: map[string]any{"message_id": 1.0, "date": 1.0, "colour": "red", "chat": map[string]any{"id": 1.0, "type": "private"}},
		"is no Integer":         map[string]any{"message_id": "1", "date": 1.0, "chat": map[string]any{"id": 1.0, "type": "private"}},
	} {
		got := d.check("m", "Message", v)
		if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("check = %q, want %q in it", got, want)
		}
	}
}
