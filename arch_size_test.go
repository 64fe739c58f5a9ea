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

// TestNoPrograms: nothing that a build writes is in the repository, where it would stay in every clone for good.
func TestNoPrograms(t *testing.T) {
	t.Parallel()
	for _, file := range tracked(t) {
		if head := start(t, file); bytes.HasPrefix(head, []byte("\x7fELF")) || bytes.HasPrefix(head, []byte("!<arch>")) {
			t.Errorf("%s is a built program: git rm it", file)
		}
	}
}

// start is how a file begins, nothing if it is deleted and not yet committed.
func start(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return nil
	}
	must.OK(t, err)
	defer func() { _ = f.Close() }()
	head := make([]byte, 8)
	n, _ := f.Read(head) // a link to a directory has none
	return head[:n]
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
