// Package strictyaml decodes every YAML file that people write: scenarios, load plans, worlds, configuration. Unknown
// keys, wrong types and missing values are all reported at once, each with its line, column and the nearest valid name.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Pos is a place in a file, line and column from 1.
type Pos struct{ Line, Col int }

// Binder fills Go values from a YAML tree and collects every problem instead of
// stopping at the first. Key names come from the yaml tag, or else the json tag;
// "required" and "enum=" come from the jsonschema tag.
type Binder struct {
	// Notes belongs to the caller: what its own types find while they are bound.
	Notes any

	problems []Problem
	paths    []string                    // of the values in which the problems were found
	aliases  map[*ast.AliasNode]ast.Node // what each stands for
	keys     map[string]Pos              // by path, such as places[0].kind
	values   map[string]Pos
	path     string
}

// NodeBinder is a type that binds itself from any node.
type NodeBinder interface{ BindNode(*Binder, ast.Node) }

// TextBinder is a type that binds itself from a plain value.
type TextBinder interface {
	BindText(b *Binder, text string, pos Pos)
}

// Shorthand is a struct that can also be written as one word.
type Shorthand interface {
	BindShort(b *Binder, text string, pos Pos)
}

// Positioned receives its position before it is bound.
type Positioned interface{ SetPos(Pos) }

// Pathed receives its path in the file, such as steps[2].load, before it is bound, so that Has can be asked about its keys
// later.
type Pathed interface{ SetPath(path string) }

// Empty is the message for a file without a document.
const Empty = "the file is empty"

// Decode binds a source's only document to the value that v points to. check (nil = none) is called afterwards and may
// add problems; notes is its Binder.Notes. The error is Problems, with name as the file.
func Decode(name string, source []byte, v, notes any, check func(*Binder)) error {
	source = bytes.TrimPrefix(source, mark)
	if err := undecodable(name, source); err != nil {
		return err
	}
	b := &Binder{Notes: notes, keys: map[string]Pos{}, values: map[string]Pos{}, aliases: map[*ast.AliasNode]ast.Node{}}
	if body := b.parse(source); body != nil {
		as := &anchors{last: map[string]ast.Node{}, aliases: b.aliases, sizes: map[ast.Node]int{}}
		if ast.Walk(as, body); as.excess != nil {
			b.Problem(PosOf(as.excess), "the aliases up to this one repeat more than a million values")
		} else if b.Bind(body, reflect.ValueOf(v).Elem()); check != nil {
			check(b)
		}
	}
	if len(b.problems) > 0 {
		return Problems(b.problems).Locate(name, source)
	}
	return nil
}

// parse returns the document's root, nil after a problem.
func (b *Binder) parse(source []byte) (body ast.Node) {
	tree, err := parser.ParseBytes(source, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		p, msg := Pos{1, 1}, err.Error()
		if ye, ok := errors.AsType[yaml.Error](err); ok {
			t := ye.GetToken()
			if msg = syntax(ye.GetMessage(), t); t != nil {
				p = Pos{t.Position.Line, t.Position.Column}
			}
		}
		b.Problem(p, "%s", msg)
		return nil
	}
	for _, d := range tree.Docs {
		switch {
		case d.Body == nil || d.Body.Type() == ast.DirectiveType: // such as %YAML 1.2, before the document
		case body != nil:
			b.Problem(PosOf(d.Body), "only one document per file")
		default:
			body = d.Body
		}
	}
	if _, comments := body.(*ast.CommentGroupNode); body == nil || comments {
		b.Problem(Pos{1, 1}, "%s", Empty)
		return nil
	}
	ast.Walk(rejoin{}, body)
	return body
}

// Failed reports whether any problem has been found so far.
func (b *Binder) Failed() bool { return len(b.problems) > 0 }

// Problem adds a problem.
func (b *Binder) Problem(p Pos, format string, args ...any) {
	b.problems = append(b.problems, Problem{Line: p.Line, Col: p.Col, Message: fmt.Sprintf(format, args...)})
	b.paths = append(b.paths, b.path)
}

// Has reports whether the file has a key at a path such as stages[1].rate.
func (b *Binder) Has(path string) bool {
	_, ok := b.keys[path]
	return ok
}

// FailedAt reports whether a problem was found at a path, in a part of it or at the same place in the file: what follows
// from a value that couldn't be read is not a second mistake.
func (b *Binder) FailedAt(path string) bool {
	at := b.ValueAt(path)
	for i, p := range b.problems {
		if rest, in := strings.CutPrefix(b.paths[i], path); in && (rest == "" || rest[0] == '.' || rest[0] == '[') || at == (Pos{p.Line, p.Col}) {
			return true
		}
	}
	return false
}

// Problems are the problems so far, in the order in which they were found.
func (b *Binder) Problems() Problems { return b.problems }

// KeyAt is the position of the key at a path such as stages[1].rate, or of the nearest enclosing one in the file.
func (b *Binder) KeyAt(path string) Pos { return nearest(b.keys, path) }

// ValueAt is KeyAt for the value.
func (b *Binder) ValueAt(path string) Pos { return nearest(b.values, path) }

func nearest(at map[string]Pos, path string) Pos {
	for path != "" {
		if p, ok := at[path]; ok {
			return p
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
	if p, ok := at[""]; ok {
		return p
	}
	return Pos{1, 1}
}

// at binds below a path and remembers the positions of key and value.
func (b *Binder) at(path string, key Pos, n ast.Node, bind func()) {
	outer := b.path
	b.path = path
	b.keys[path], b.values[path] = key, PosOf(n)
	bind()
	b.path = outer
}

// inside is the path of a key of the mapping that is being bound.
func (b *Binder) inside(key string) string {
	if b.path == "" {
		return key
	}
	return b.path + "." + key
}
