package engine

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/strictyaml"
)

// Problems are what is wrong in scenario files.
type Problems = strictyaml.Problems

// File is a decoded scenario file.
type File struct {
	Path   string
	Source []byte
	Doc    Doc

	// BuiltIn says that the file belongs to the built-in suite: its cohorts take only boards like those of the default
	// world, and without them it is SKIPPED. A file of the user's own chooses among all boards.
	BuiltIn bool

	twin        bool // another file of the run has the same name
	play, plays int  // which of how many in one run; 0 = the only one
}

// Base is the file's name without folder and ending. If another file of the run has the same name, a hash of the path
// tells them apart: phones, references and keys derive from it.
func (f *File) Base() string {
	if f.twin {
		return TwinOf(f.Path)
	}
	return f.name()
}

func (f *File) name() string { return NameOf(f.Path) }

// TwinOf is the Base of a file whose name another has, too.
func TwinOf(file string) string {
	h := sha256.Sum256([]byte(filepath.ToSlash(file)))
	return fmt.Sprintf("%s-%x", NameOf(file), h[:3])
}

// NameOf is a file's name without folder and ending.
func NameOf(file string) string {
	return strings.TrimSuffix(strings.TrimSuffix(path.Base(filepath.ToSlash(file)), ".yaml"), ".yml")
}

// Again is the file for the n-th of several plays in one run.
func (f *File) Again(n, of int) *File {
	again := *f
	again.play, again.plays = n, of
	again.Doc.Name = fmt.Sprintf("%s (%d of %d)", cmp.Or(f.Doc.Name, f.Base()), n, of)
	return &again
}

// Clauses are the guarantees that the file is about or that a step is evidence
// for, in report order.
func (f *File) Clauses() []string {
	has := map[string]bool{}
	note := func(ids ClauseIDs) {
		for _, c := range ids {
			has[c] = true
		}
	}
	note(f.Doc.Clauses)
	eachStep(func(s *Step) {
		note(s.ownClaims())
	}, f.Doc.Setup, f.Doc.Steps)
	return each.If(judge.Clauses(), func(c string) bool { return has[c] })
}

// eachStep visits every step, nested ones after their parent.
func eachStep(visit func(*Step), lists ...[]Step) {
	for _, steps := range lists {
		for i := range steps {
			visit(&steps[i])
			if in, ok := steps[i].verb().(*Steps); ok {
				eachStep(visit, *in)
			}
		}
	}
}

// Parse decodes one file. The error is Problems, with all of them at once.
func Parse(name string, source []byte) (*File, error) {
	f := &File{Path: name, Source: source}
	if err := strictyaml.Decode(name, source, &f.Doc, &found{}, func(b *strictyaml.Binder) { checkDoc(b, &f.Doc, string(source)) }); err != nil {
		return nil, err
	}
	return f, nil
}

// found is what was found in a file's values while they were bound.
type found struct {
	uses  []use // names that something else in the file must define
	exprs []*Expr
}

// use is a name that must be defined somewhere in the file.
type use struct {
	kind, name string
	pos        Pos
}

// notes are the file's own; for a binder outside a file they are thrown away.
func notes(b *strictyaml.Binder) *found {
	if f, ok := b.Notes.(*found); ok {
		return f
	}
	return &found{}
}

func (f *found) use(u use)    { f.uses = append(f.uses, u) }
func (f *found) expr(e *Expr) { f.exprs = append(f.exprs, e) }

// Load reads files and folders (every *.yaml and *.yml in them, except the copies that run directories keep), each file once
// however often it is named: the second play would repeat the requests of the first. The error is Problems if a file is
// invalid, else the file system's.
func Load(paths ...string) ([]*File, error) {
	names, err := Names(paths...)
	if err != nil {
		return nil, err
	}
	return parseAll(names, os.ReadFile)
}

// Names are the files that Load reads.
func Names(paths ...string) (names []string, err error) {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			names = append(names, p)
			continue
		}
		found, err := yamlIn(os.DirFS(p))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: no scenario files", p)
		}
		for _, f := range found {
			names = append(names, filepath.Join(p, filepath.FromSlash(f)))
		}
	}
	return once(names), nil
}

// once drops names of files that were named before.
func once(names []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(names, func(name string) bool {
		full, err := filepath.Abs(name)
		again := err == nil && seen[full]
		seen[full] = true
		return again
	})
}

// LoadFS reads every scenario file of a file system, as ParseFS does.
func LoadFS(fsys fs.FS) ([]*File, error) {
	names, err := yamlIn(fsys)
	if err != nil {
		return nil, err
	}
	return ParseFS(fsys, names)
}

// ParseFS reads these files of the built-in suite. Errors as of Load.
func ParseFS(fsys fs.FS, names []string) ([]*File, error) {
	files, err := parseAll(names, func(name string) ([]byte, error) { return fs.ReadFile(fsys, name) })
	for _, f := range files {
		f.BuiltIn = true
	}
	return files, err
}

func yamlIn(fsys fs.FS) (names []string, err error) {
	err = fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && p != "." && report.IsDir(fsys, p) {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() && (strings.HasSuffix(p, ".yaml") || strings.HasSuffix(p, ".yml")) {
			names = append(names, p)
		}
		return err
	})
	sort.Strings(names)
	return names, err
}

func parseAll(names []string, read func(string) ([]byte, error)) (files []*File, err error) {
	var all Problems
	for _, name := range names {
		source, err := read(name)
		if err != nil {
			return nil, err
		}
		f, err := Parse(name, source)
		if ps, ok := errors.AsType[Problems](err); ok {
			all = append(all, ps...)
			continue
		}
		files = append(files, f)
	}
	if len(all) > 0 {
		return nil, all
	}
	first := map[string]*File{}
	for _, f := range files {
		if other := first[f.name()]; other != nil {
			f.twin, other.twin = true, true
		} else {
			first[f.name()] = f
		}
	}
	return files, nil
}
