// Package docs_test keeps the pages of this directory true.
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

	"github.com/doorlab/doorlab/internal/history"
)

// row is a line of the table of guarantees.
type row struct {
	line    int
	says    string
	clauses []string
	code    []string
	tests   []string
}

var (
	quoted = regexp.MustCompile("`([^`]+)`")
	clause = regexp.MustCompile(`[A-Z]+-\d+`)
)

func rows(t *testing.T) (out []row) {
	t.Helper()
	text, err := os.ReadFile("guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || cells[0] == "The description says" {
			continue
		}
		if len(cells) != 4 {
			t.Errorf("line %d has %d cells", i+1, len(cells))
			continue
		}
		out = append(out, row{i + 1, cells[0], clause.FindAllString(cells[1], -1), names(cells[2]), names(cells[3])})
	}
	return out
}

func names(cell string) (out []string) {
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestGuaranteesPointSomewhere: a row names clauses, code and tests that exist,
// and a clause that the reports know has a row.
func TestGuaranteesPointSomewhere(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	files := declarations{}
	for _, r := range rows(t) {
		if len(r.code) == 0 || len(r.tests) == 0 {
			t.Errorf("line %d: %q has no code or no test", r.line, r.says)
		}
		for _, c := range r.clauses {
			seen[c] = true
			if history.Promise(c) == "" {
				t.Errorf("line %d: there is no clause %s", r.line, c)
			}
		}
		for _, ref := range append(r.code, r.tests...) {
			if why := files.check(ref, r.clauses); why != "" {
				t.Errorf("line %d: %s %s", r.line, ref, why)
			}
		}
		for _, ref := range r.code {
			if strings.Contains(ref, "_test.go:") || strings.HasPrefix(ref, "scenarios/") {
				t.Errorf("line %d: %s is no code", r.line, ref)
			}
		}
		for _, ref := range r.tests {
			if !strings.Contains(ref, "_test.go:Test") && !strings.Contains(ref, "_test.go:Fuzz") && !strings.HasPrefix(ref, "scenarios/") {
				t.Errorf("line %d: %s is no test", r.line, ref)
			}
		}
	}
	for _, c := range history.Clauses() {
		if !seen[c] {
			t.Errorf("clause %s (%s) has no row", c, history.Promise(c))
		}
	}
}

// TestCheckFindsHoles: the check above can fail.
func TestCheckFindsHoles(t *testing.T) {
	t.Parallel()
	files := declarations{}
	for _, ref := range []string{"internal/access/access.go:Decided", "internal/access/none.go:Decide", "internal/access/access.go", "internal/access/hours.go:Zone.Active",
		"scenarios/none.yaml", "scenarios/outage_36h.yaml"} {
		if files.check(ref, []string{"IMP-1"}) == "" {
			t.Errorf("%s is taken for something", ref)
		}
	}
	for _, ref := range []string{"internal/access/access.go:Decide", "internal/access/hours.go:Window.Active", "internal/access/hours.go:Active", "internal/access/access.go:OutageLimitMs"} {
		if why := files.check(ref, nil); why != "" {
			t.Errorf("%s %s", ref, why)
		}
	}
}

// declarations are the names that a Go file declares, by file.
type declarations map[string][]string

// check says what is wrong with path/file.go:Name, path/file.go:Type.Name or
// scenarios/x.yaml; "" = nothing.
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
			return "is no Go file: " + err.Error()
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
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						out = append(out, n.Name)
					}
				case *ast.TypeSpec:
					out = append(out, s.Name.Name)
				}
			}
		}
	}
	return out
}

// scenario: the file is there and exercises one of the clauses.
func scenario(path string, clauses []string) string {
	text, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		return "cannot be read: " + err.Error()
	}
	for _, line := range strings.Split(string(text), "\n") {
		if list, ok := strings.CutPrefix(line, "clauses:"); ok {
			for _, c := range clause.FindAllString(list, -1) {
				if slices.Contains(clauses, c) {
					return ""
				}
			}
		}
	}
	return "exercises none of " + strings.Join(clauses, ", ")
}
