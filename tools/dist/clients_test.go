package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// listed is a package as go list describes it for a target.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string // what an import in its files means, where that isn't its own path
	Module          *struct{ Main bool }
}

// TestClientsBuild: the client commands build for systems that have neither C nor what only Linux has. Their packages are
// checked as a compiler would, but not compiled: that takes minutes, and make dist does it.
func TestClientsBuild(t *testing.T) {
	t.Parallel()
	n := 0
	for _, target := range targets {
		if target.client() {
			n++
			checkTypes(t, target)
		}
	}
	if n == 0 {
		t.Error("no target has only the client commands")
	}
}

// checkTypes checks the types of everything that a target's binary is made of; of other modules, only what they export.
func checkTypes(t *testing.T, to target) {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./cmd/doorlab")
	list.Dir = "../.."
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+to.os, "GOARCH="+to.arch)
	raw := must.Get(list.Output())(t)
	known, ours := map[string]*types.Package{"unsafe": types.Unsafe}, 0
	for d := json.NewDecoder(bytes.NewReader(raw)); ; { // imported packages come first
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		own := p.Module != nil && p.Module.Main
		config := types.Config{IgnoreFuncBodies: !own, Sizes: types.SizesFor("gc", to.arch), Importer: importer(func(path string) *types.Package {
			if other := p.ImportMap[path]; other != "" {
				path = other
			}
			return known[path]
		})}
		files, positions := p.parsed(t)
		pkg, err := config.Check(p.ImportPath, positions, files, nil)
		if err != nil {
			t.Errorf("%s: %s doesn't build: %v", to, p.ImportPath, err)
		}
		if known[p.ImportPath] = pkg; own {
			ours++
		}
	}
	if ours < 10 {
		t.Errorf("%s: %d packages of our own, want all that the client commands need", to, ours)
	}
}

func (p listed) parsed(t *testing.T) (files []*ast.File, positions *token.FileSet) {
	t.Helper()
	positions = token.NewFileSet()
	for _, name := range p.GoFiles {
		files = append(files, must.Get(parser.ParseFile(positions, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution))(t))
	}
	return files, positions
}

// importer finds packages that were checked before.
type importer func(path string) *types.Package

func (f importer) Import(path string) (*types.Package, error) {
	if pkg := f(path); pkg != nil {
		return pkg, nil
	}
	return nil, errors.New("not among what is built: " + path)
}
