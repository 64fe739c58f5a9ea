package engine

import (
	"regexp"
	"strings"

	"github.com/expr-lang/expr/parser"

	"github.com/doorlab/doorlab/internal/contract"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/strictyaml"
)

// Promised holds what a file's calls expect of their answers against what the service
// promises: a field that no answer of the operation has is absent whatever the target
// does. The error is Problems.
func (f *File) Promised(c *contract.Contract) error {
	b := &strictyaml.Binder{}
	for _, list := range [][]Step{f.Doc.Setup, f.Doc.Steps} {
		promised(b, c, list)
	}
	if !b.Failed() {
		return nil
	}
	return b.Problems().Locate(f.Path, f.Source)
}

func promised(b *strictyaml.Binder, c *contract.Contract, steps []Step) {
	for i := range steps {
		s := &steps[i]
		for _, in := range []*Steps{s.Verbs.Group, s.Verbs.Parallel} {
			if in != nil {
				promised(b, c, *in)
			}
		}
		if call := s.Verbs.Call; call != nil {
			for i := range s.Expect {
				call.promises(b, c, &s.Expect[i])
			}
		}
	}
}

// roots are the names of an answer's parts, as paths into its body.
var roots = map[string][]any{"body": nil, "data": {"data"}, "details": {"details"}}

// filled is a part of a path that only a run fills in.
var filled = regexp.MustCompile(`\$\{[^}]*\}`)

func (v *Call) promises(b *strictyaml.Binder, c *contract.Contract, e *Expr) {
	method := v.Method
	switch {
	case method != "":
	case v.Body != nil || v.Raw != nil:
		method = "POST"
	default:
		method = "GET"
	}
	path := filled.ReplaceAllString(v.Path.raw, "x")
	for _, text := range e.paths {
		tree, err := parser.Parse(text)
		if err != nil {
			continue
		}
		p := spotOf(tree.Node)
		if len(p) < 2 {
			continue
		}
		root, part := p[0].(string)
		in, answers := roots[root]
		if !part || !answers {
			continue
		}
		field := append(append([]any{}, in...), p[1:]...)
		if may, at, known := c.Field(method, path, field); !may && at >= len(in) {
			name, _ := field[at].(string)
			b.Problem(e.pos, "%s: no answer of %s %s has %q%s", text, method, strings.SplitN(v.Path.raw, "?", 2)[0], name, near.Hint(name, known))
		}
	}
}
