package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// statement is one item of "Sentence by sentence" in guarantees.md:
//
//   - [PERM-1 AUTH-1] What is promised. Code: `file.go:Name`. Tests: `x_test.go:TestY` `scenarios/z.yaml`
//
// Only a statement without a clause names code; a clause's code is generated.
type statement struct {
	line    int
	says    string
	clauses []string
	code    []string
	tests   []string
}

var item = regexp.MustCompile(`^- (?:\[([A-Z0-9 -]+)\] )?(.*?)(?: Code: (.*?))? Tests: (.*)$`)

func statements(t *testing.T) (out []statement) {
	t.Helper()
	text := must.Get(os.ReadFile("guarantees.md"))(t)
	_, part, _ := strings.Cut(string(text), "## Sentence by sentence\n")
	part, _, _ = strings.Cut(part, "\n## ")
	first := strings.Count(string(text[:strings.Index(string(text), part)]), "\n") + 1
	lines := strings.Split(part, "\n")
	for i := 0; i < len(lines); i++ {
		if !strings.HasPrefix(lines[i], "- ") {
			continue
		}
		at, whole := first+i, lines[i]
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ") {
			i++
			whole += " " + strings.TrimSpace(lines[i])
		}
		m := item.FindStringSubmatch(whole)
		if m == nil {
			t.Errorf("line %d: want `- [CLAUSE] Statement. Tests: ...`, got %q", at, whole)
			continue
		}
		out = append(out, statement{at, m[2], clause.FindAllString(m[1], -1), references(m[3]), references(m[4])})
	}
	return out
}

func references(list string) (out []string) {
	for _, m := range quoted.FindAllStringSubmatch(list, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestStatementsPointSomewhere: a statement names clauses, code and tests that
// exist, and every clause has a statement.
func TestStatementsPointSomewhere(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	files := declarations{}
	for _, s := range statements(t) {
		if len(s.tests) == 0 {
			t.Errorf("line %d: %q names no test", s.line, s.says)
		}
		if (len(s.clauses) == 0) != (len(s.code) > 0) {
			t.Errorf("line %d: %q: want a clause or code, got clauses %v and code %v", s.line, s.says, s.clauses, s.code)
		}
		for _, c := range s.clauses {
			seen[c] = true
			if judge.Promise(c) == "" {
				t.Errorf("line %d: %s is not a clause", s.line, c)
			}
		}
		for _, ref := range append(s.code, s.tests...) {
			if why := files.check(ref, s.clauses); why != "" {
				t.Errorf("line %d: %s %s", s.line, ref, why)
			}
		}
		for _, ref := range s.tests {
			if !strings.Contains(ref, "_test.go:Test") && !strings.Contains(ref, "_test.go:Fuzz") && !strings.HasPrefix(ref, "scenarios/") {
				t.Errorf("line %d: %s is not a test", s.line, ref)
			}
		}
	}
	for _, c := range judge.Clauses() {
		if !seen[c] {
			t.Errorf("clause %s (%s) has no statement", c, judge.Promise(c))
		}
	}
}

// TestCheckFindsHoles: the check above is able to fail.
func TestCheckFindsHoles(t *testing.T) {
	t.Parallel()
	files := declarations{}
	for _, ref := range []string{"internal/access/access.go:Decided", "internal/access/none.go:Decide", "internal/access/access.go", "internal/access/hours.go:Zone.Active",
		"scenarios/none.yaml", "scenarios/outage_36h.yaml"} {
		if files.check(ref, []string{"IMP-1"}) == "" {
			t.Errorf("%s passes, want an error", ref)
		}
	}
	for _, ref := range []string{"internal/access/access.go:Decide", "internal/access/hours.go:Window.active", "internal/access/hours.go:active", "internal/access/access.go:OutageLimitMs"} {
		if why := files.check(ref, nil); why != "" {
			t.Errorf("%s %s, want it to pass", ref, why)
		}
	}
}

// declarations maps each Go file to the names it declares.
type declarations map[string][]string

// check says what is wrong with a reference (path/file.go:Name, path/file.go:Type.Name or scenarios/x.yaml); "" =
// nothing.
func (d declarations) check(ref string, clauses []string) string {
	path, name, ok := strings.Cut(ref, ":")
	if strings.HasSuffix(path, ".yaml") {
		return scenario(path, clauses)
	}
	if !ok {
		return "names no function"
	}
	if d[path] == nil {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", path), nil, parser.SkipObjectResolution)
		if err != nil {
			return "is not a Go file: " + err.Error()
		}
		d[path] = declared(f)
	}
	if !slices.Contains(d[path], name) {
		return "is not declared there"
	}
	return ""
}

func declared(f *ast.File) (out []string) {
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			out = append(out, decl.Name.Name)
			if decl.Recv != nil && len(decl.Recv.List) == 1 {
				typ := decl.Recv.List[0].Type
				if p, ok := typ.(*ast.StarExpr); ok {
					typ = p.X
				}
				if id, ok := typ.(*ast.Ident); ok {
					out = append(out, id.Name+"."+decl.Name.Name)
				}
			}
		case *ast.GenDecl:
			for _, s := range decl.Specs {
				name, _ := specName(s)
				out = append(out, name)
			}
		}
	}
	return out
}

// scenario checks that the file exists and exercises at least one of the clauses.
func scenario(path string, clauses []string) string {
	text, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		return "cannot be read: " + err.Error()
	}
	for _, c := range clausesOf(string(text)) {
		if slices.Contains(clauses, c) {
			return ""
		}
	}
	return "exercises none of " + strings.Join(clauses, ", ")
}
