package docs_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/api"
)

// answers maps status and code to the operations that can answer with them, taken from the published documents.
type answers map[string][]string

// TestDocsErrors: errors.md lists every code of server/fail with the statuses and
// operations of the published documents. What a code means is written by hand.
func TestDocsErrors(t *testing.T) {
	page := must.Get(os.ReadFile("errors.md"))(t)
	meaning := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\| \\d+ \\| (.*?) \\| ").FindAllStringSubmatch(string(page), -1) {
		meaning[m[1]] = m[2]
	}
	found, operations := published(t)
	seen := map[string]bool{}
	var b strings.Builder
	b.WriteString("| code | status | meaning | answered by |\n|---|---|---|---|\n")
	for _, key := range slices.Sorted(maps.Keys(found)) {
		status, code, _ := strings.Cut(key, " ")
		seen[code] = true
		if meaning[code] == "" {
			t.Errorf("errors.md: want a row \"| `%s` | %s | what it means | \"", code, status)
		}
		where := fmt.Sprintf("%d operations", len(found[key]))
		switch n := len(found[key]); {
		case n == operations:
			where = "every operation"
		case n <= 4:
			where = "`" + strings.Join(found[key], "` `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", code, status, meaning[code], where)
	}
	hold(t, "errors.md", "codes", b.String())
	for _, code := range codes(t) {
		if !seen[code] && !strings.Contains(string(page), "`"+code+"`") {
			t.Errorf("errors.md does not mention %s", code)
		}
	}
}

// published reads the documents as the server serves them.
func published(t *testing.T) (found answers, operations int) {
	t.Helper()
	edge := must.Get(api.New(api.Config{}))(t)
	found = answers{}
	for _, sub := range []string{"core", "space", "device"} {
		w := httptest.NewRecorder()
		edge.ServeHTTP(w, httptest.NewRequest("GET", "/"+sub+"/v1/openapi.json", nil))
		var doc struct {
			Paths map[string]map[string]json.RawMessage
		}
		if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
			t.Fatalf("%s: %v", sub, err)
		}
		for _, methods := range doc.Paths {
			for _, raw := range methods {
				var op struct {
					OperationID string
					Responses   map[string]json.RawMessage
				}
				if json.Unmarshal(raw, &op) != nil || op.OperationID == "" {
					continue
				}
				operations++
				for status, response := range op.Responses {
					for _, code := range enumOf(response) {
						key := status + " " + code
						found[key] = append(found[key], op.OperationID)
					}
				}
			}
		}
	}
	for _, ops := range found {
		slices.Sort(ops)
	}
	return found, operations
}

// enumOf returns the codes that a failure's schema allows.
func enumOf(response json.RawMessage) (out []string) {
	var r struct {
		Content map[string]struct {
			Schema struct {
				AllOf []struct {
					Properties struct{ Error struct{ Enum []string } }
				}
			}
		}
	}
	if json.Unmarshal(response, &r) != nil {
		return nil
	}
	for _, s := range r.Content["application/json"].Schema.AllOf {
		out = append(out, s.Properties.Error.Enum...)
	}
	return out
}

// codes returns the string constants in server/fail that look like error codes.
func codes(t *testing.T) (out []string) {
	t.Helper()
	shape := regexp.MustCompile(`^"[a-z]+(_[a-z]+)+"$`)
	for _, path := range goFiles(t, "server/fail") {
		f := must.Get(parser.ParseFile(token.NewFileSet(), filepath.Join("..", path), nil, 0))(t)
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, s := range g.Specs {
					for _, v := range s.(*ast.ValueSpec).Values {
						if lit, ok := v.(*ast.BasicLit); ok && shape.MatchString(lit.Value) {
							out = append(out, strings.Trim(lit.Value, `"`))
						}
					}
				}
			}
		}
	}
	if len(out) < 30 {
		t.Errorf("found %d codes in server/fail, want all of them", len(out))
	}
	return out
}
