// Package docs_test generates the tables in this directory and in the README from the code, and checks the
// hand-written parts against it.
//
// `make docs` rewrites the tables; a plain run fails if they are out of date.
package docs_test

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

var update = flag.Bool("update", false, "rewrite the generated parts of the pages")

var (
	quoted = regexp.MustCompile("`([^`]+)`")
	clause = regexp.MustCompile(`[A-Z]+-\d+`)
	tag    = regexp.MustCompile(`\[([A-Z]+-\d+)\]`)
)

// hold compares the part of a page between `<!-- name -->` and `<!-- end -->` with what the code says, or rewrites it
// with -update.
func hold(t *testing.T, page, name, want string) {
	t.Helper()
	b := must.Get(os.ReadFile(page))(t)
	head, rest, ok := strings.Cut(string(b), "<!-- "+name+" -->\n")
	got, tail, ok2 := strings.Cut(rest, "<!-- end -->\n")
	if !ok || !ok2 {
		t.Fatalf("%s has no part <!-- %s --> ... <!-- end -->", page, name)
	}
	if got == want {
		return
	}
	if !*update {
		t.Fatalf("%s, part %s: the code says something else; run `make docs`\n%s", page, name, difference(got, want))
	}
	must.OK(t, os.WriteFile(page, []byte(head+"<!-- "+name+" -->\n"+want+"<!-- end -->\n"+tail), 0o644))
}

// difference lists the lines that only one of the two texts has.
func difference(got, want string) string {
	var b strings.Builder
	a, c := strings.Split(got, "\n"), strings.Split(want, "\n")
	for _, l := range a {
		if !slices.Contains(c, l) {
			b.WriteString("- " + l + "\n")
		}
	}
	for _, l := range c {
		if !slices.Contains(a, l) {
			b.WriteString("+ " + l + "\n")
		}
	}
	return b.String()
}

// wrap breaks words into lines of at most 118 columns; indent starts each line but the first.
func wrap(words []string, indent string) string {
	var b strings.Builder
	width := 0
	for i, w := range words {
		switch {
		case i == 0:
		case width+1+len(w) > 118:
			b.WriteString("\n" + indent)
			width = len(indent)
		default:
			b.WriteString(" ")
			width++
		}
		b.WriteString(w)
		width += len(w)
	}
	return b.String()
}

// goFiles returns the tracked Go files under the given directories, by path from the module root.
func goFiles(t *testing.T, dirs ...string) []string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"ls-files", "--"}, dirs...)...)
	cmd.Dir = ".."
	b, err := cmd.Output()
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("not a git checkout: ", err)
		}
		t.Skip("not a git checkout: ", err)
	}
	var files []string
	for f := range strings.FieldsSeq(string(b)) {
		if _, err := os.Stat(filepath.Join("..", f)); err == nil && strings.HasSuffix(f, ".go") {
			files = append(files, f)
		}
	}
	return files
}

// tagged finds clause tags in comments. For each clause it returns the declarations that contain a tag, as
// path/file.go:Name.
func tagged(t *testing.T, files []string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, path := range files {
		set := token.NewFileSet()
		f := must.Get(parser.ParseFile(set, filepath.Join("..", path), nil, parser.ParseComments|parser.SkipObjectResolution))(t)
		for _, group := range f.Comments {
			for _, c := range group.List {
				for _, m := range tag.FindAllStringSubmatch(c.Text, -1) {
					ref := path
					if name := enclosing(set, f, group, c.Pos()); name != "" {
						ref += ":" + name
					}
					if !slices.Contains(out[m[1]], ref) {
						out[m[1]] = append(out[m[1]], ref)
					}
				}
			}
		}
	}
	return out
}

// enclosing names the declaration whose body, doc comment or line contains a comment.
func enclosing(set *token.FileSet, f *ast.File, group *ast.CommentGroup, pos token.Pos) string {
	line := set.Position(pos).Line
	holds := func(n ast.Node) bool {
		return n.Pos() <= pos && (pos <= n.End() || line == set.Position(n.End()).Line)
	}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Doc == group || holds(d) {
				return d.Name.Name
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if name, doc := specName(s); doc == group || d.Doc == group || holds(s) {
					return name
				}
			}
			if holds(d) {
				return nearestSpec(d, pos)
			}
		}
	}
	return ""
}

func specName(s ast.Spec) (string, *ast.CommentGroup) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		return s.Names[0].Name, s.Doc
	case *ast.TypeSpec:
		return s.Name.Name, s.Doc
	}
	return "", nil
}

// nearestSpec is the last spec that begins before pos.
func nearestSpec(d *ast.GenDecl, pos token.Pos) (name string) {
	for _, s := range d.Specs {
		if n, _ := specName(s); s.Pos() <= pos {
			name = n
		}
	}
	return name
}
