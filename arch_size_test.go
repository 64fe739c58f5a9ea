package doorlab

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// Sizes that fit a screen or a head; tests are held to them, too.
const (
	maxFile     = 350
	maxFunction = 75
)

// generated marks what a tool writes, as `go help generate` says.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func TestSizes(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t) {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue // deleted and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if !generated.Match(text) {
			sizes(t, file, text)
		}
	}
}

func sizes(t *testing.T, file string, text []byte) {
	t.Helper()
	if n := bytes.Count(text, []byte("\n")); n > maxFile {
		t.Errorf("%s: got %d lines, want at most %d: split it by topic", file, n, maxFile)
	}
	set := token.NewFileSet()
	f := must.Get(parser.ParseFile(set, file, text, parser.SkipObjectResolution))(t)
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			if n := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1; n > maxFunction {
				t.Errorf("%s: got %d lines in %s, want at most %d", file, n, fn.Name.Name, maxFunction)
			}
		}
	}
}
