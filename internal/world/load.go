package world

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Load reads and resolves a world file. A seed other than 0 overrides the
// file's. The error says file:line:column where it can.
func Load(path string, seed int64) (*World, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, b, seed)
}

// Parse is Load of bytes; name is for messages.
func Parse(name string, b []byte, seed int64) (*World, error) {
	var w World
	dec := yaml.NewDecoder(bytes.NewReader(b), yaml.Strict())
	if err := dec.Decode(&w); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: the file is empty; a world has places", name)
		}
		var ye yaml.Error
		if errors.As(err, &ye) && ye.GetToken() != nil {
			pos := ye.GetToken().Position
			return nil, fmt.Errorf("%s:%d:%d: %s", name, pos.Line, pos.Column, ye.GetMessage())
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if seed != 0 {
		w.Seed = seed
	}
	if w.Seed == 0 {
		w.Seed = 1
	}
	if err := w.Resolve(); err != nil {
		return nil, located(name, b, err)
	}
	return &w, nil
}

// located gives each problem the place in the file of its field, or of the
// nearest thing around it that the file has.
func located(name string, b []byte, err error) error {
	var list problems
	file, errParse := parser.ParseBytes(b, 0)
	if !errors.As(err, &list) || errParse != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	lines := make([]string, 0, len(list))
	for _, p := range list {
		field, _, _ := strings.Cut(p, ": ")
		lines = append(lines, name+position(file, field)+": "+p)
	}
	return errors.New(strings.Join(lines, "\n"))
}

// position is ":line:column" of a field, "" when nothing of it is there.
func position(file *ast.File, field string) string {
	for field != "" {
		if path, err := yaml.PathString("$." + field); err == nil {
			if node, err := path.FilterFile(file); err == nil && node != nil {
				at := start(node)
				return fmt.Sprintf(":%d:%d", at.Line, at.Column)
			}
		}
		field = field[:max(0, strings.LastIndexAny(field, ".["))]
	}
	return ""
}

// start is where a node begins: a mapping's own token is the first colon.
func start(n ast.Node) *token.Position {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return n.Values[0].Key.GetToken().Position
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken().Position
	}
	return n.GetToken().Position
}

// LiveBoards counts the boards of live places, TestBoards those of test places.
func (w *World) LiveBoards() int { return w.count(Live) }

// TestBoards counts the boards of test places.
func (w *World) TestBoards() int { return w.count(Test) }

func (w *World) count(kind string) (n int) {
	for _, p := range w.Places {
		if p.Kind == kind {
			n += len(p.Boards)
		}
	}
	return n
}

// Only is the world's places of one kind, boards and all.
func (w *World) Only(kind string) *World {
	out := &World{Seed: w.Seed}
	for _, p := range w.Places {
		if p.Kind == kind {
			out.Places = append(out.Places, p)
		}
	}
	return out
}

// Slice keeps every n-th board, from the i-th (1-based) on: one process's share of a fleet.
func (w *World) Slice(i, n int) *World {
	if n <= 1 {
		return w
	}
	out := &World{Seed: w.Seed}
	k := 0
	for _, p := range w.Places {
		q := p
		q.Boards = nil
		for _, b := range p.Boards {
			if k%n == i-1 {
				q.Boards = append(q.Boards, b)
			}
			k++
		}
		out.Places = append(out.Places, q)
	}
	return out
}
