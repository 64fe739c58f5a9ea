package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"sort"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// File is a decoded scenario file.
type File struct {
	Path   string
	Source []byte
	Doc    Doc
}

// Base is the file's name without folder and ending.
func (f *File) Base() string {
	return strings.TrimSuffix(strings.TrimSuffix(path.Base(filepath.ToSlash(f.Path)), ".yaml"), ".yml")
}

// Parse decodes one file. The error is Problems, all at once.
func Parse(name string, source []byte) (*File, error) {
	f := &File{Path: name, Source: source}
	b := &binder{}
	tree, err := parser.ParseBytes(source, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		p := Pos{1, 1}
		msg := err.Error()
		var ye yaml.Error
		if errors.As(err, &ye) {
			msg = ye.GetMessage()
			if t := ye.GetToken(); t != nil {
				p = Pos{t.Position.Line, t.Position.Column}
			}
		}
		b.problem(p, "%s", msg)
		return nil, Problems(b.problems).place(name, source)
	}
	var body ast.Node
	for _, d := range tree.Docs {
		if d.Body != nil {
			if body != nil {
				b.problem(posOf(d.Body), "one document a file")
			} else {
				body = d.Body
			}
		}
	}
	if body == nil {
		b.problem(Pos{1, 1}, "the file is empty")
		return nil, Problems(b.problems).place(name, source)
	}
	b.bind(body, reflect.ValueOf(&f.Doc).Elem())
	b.checkDoc(&f.Doc)
	if len(b.problems) > 0 {
		return nil, Problems(b.problems).place(name, source)
	}
	return f, nil
}

// Load reads files and folders (every *.yaml and *.yml in them). The error is
// Problems when a file is wrong, else of the file system.
func Load(paths ...string) ([]*File, error) {
	var names []string
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
	return parseAll(names, os.ReadFile)
}

// LoadFS reads every scenario file of a file system.
func LoadFS(fsys fs.FS) ([]*File, error) {
	names, err := yamlIn(fsys)
	if err != nil {
		return nil, err
	}
	return parseAll(names, func(name string) ([]byte, error) { return fs.ReadFile(fsys, name) })
}

func yamlIn(fsys fs.FS) (names []string, err error) {
	err = fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
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
		var ps Problems
		if errors.As(err, &ps) {
			all = append(all, ps...)
			continue
		}
		files = append(files, f)
	}
	if len(all) > 0 {
		return nil, all
	}
	return files, nil
}
