package loadtest

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path"
	"sort"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/doorlab/doorlab/internal/near"
)

//go:embed plans/*.yaml
var embedded embed.FS

// Embedded lists the names of the plans that ship with the binary.
func Embedded() []string {
	entries, _ := embedded.ReadDir("plans") // embedded: cannot fail
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".yaml"))
	}
	return names
}

// Load reads a plan: a file, or an embedded plan by its name ("door-commands").
// A bad plan is a *PlanError that names every problem as file:line:col.
func Load(file string) (Plan, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		name := strings.TrimSuffix(path.Base(file), ".yaml")
		if built, e := embedded.ReadFile("plans/" + name + ".yaml"); e == nil && (file == name || file == "plans/"+name+".yaml") {
			return Parse("plans/"+name+".yaml", built)
		}
		return Plan{}, fmt.Errorf("no plan %s: neither a file nor one of %s%s", file, strings.Join(Embedded(), ", "), near.Hint(file, Embedded()))
	}
	if err != nil {
		return Plan{}, err
	}
	return Parse(file, text)
}

// PlanError is a bad plan; one line a problem, each with file:line:col.
type PlanError struct{ Lines []string }

func (e *PlanError) Error() string { return strings.Join(e.Lines, "\n") }

// Parse reads a plan from its text; name is the file in error messages.
func Parse(name string, text []byte) (Plan, error) {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return Plan{}, syntaxError(name, err)
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return Plan{}, &PlanError{Lines: []string{name + ":1:1: the plan is empty"}}
	}
	s := newShape()
	s.at["$"] = position{1, 1}
	s.node(file.Docs[0].Body, planType, "$")
	var p Plan
	if len(s.problems) == 0 {
		if err := yaml.UnmarshalWithOptions(text, &p, yaml.Strict()); err != nil {
			return Plan{}, syntaxError(name, err)
		}
		s.problems = p.Problems()
	}
	if len(s.problems) > 0 {
		return Plan{}, &PlanError{Lines: s.lines(name)}
	}
	if p.Name == "" {
		p.Name = strings.TrimSuffix(path.Base(name), ".yaml")
	}
	return p, nil
}

func syntaxError(name string, err error) error {
	var located yaml.Error
	if errors.As(err, &located) && located.GetToken() != nil {
		at := located.GetToken().Position
		return &PlanError{Lines: []string{fmt.Sprintf("%s:%d:%d: %s", name, at.Line, at.Column, located.GetMessage())}}
	}
	return &PlanError{Lines: []string{fmt.Sprintf("%s:1:1: %v", name, err)}}
}

// lines renders the problems in the order of the file.
func (s *shape) lines(name string) []string {
	type line struct {
		at   position
		text string
	}
	var all []line
	for _, p := range s.problems {
		at := s.position(p.Path)
		all = append(all, line{at, fmt.Sprintf("%s:%d:%d: %s", name, at.line, at.col, p.Message)})
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i].at, all[j].at
		return a.line < b.line || a.line == b.line && a.col < b.col
	})
	out := make([]string, len(all))
	for i, l := range all {
		out[i] = l.text
	}
	return out
}

// position finds the closest place in the file for a path: its own, else its parent's.
func (s *shape) position(p string) position {
	for p != "" {
		if at, ok := s.at[p]; ok {
			return at
		}
		i := strings.LastIndexAny(p, ".[")
		if i < 0 {
			break
		}
		p = p[:i]
	}
	return position{1, 1}
}

func positionOf(n ast.Node) position {
	if t := n.GetToken(); t != nil && t.Position != nil {
		return position{t.Position.Line, t.Position.Column}
	}
	return position{1, 1}
}
