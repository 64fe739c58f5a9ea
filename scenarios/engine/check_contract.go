package engine

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/doorlab/doorlab/internal/contract"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/strictyaml"
	"github.com/doorlab/doorlab/scenarios/expression"
)

// Promised checks a file's requests, and what it expects of their answers, against the service's documents: a field that no
// answer of the operation has is absent whatever the target does, and a path that there isn't can't succeed. The error is
// Problems.
func (f *File) Promised(c *contract.Contract) error {
	b := &strictyaml.Binder{}
	eachStep(func(s *Step) {
		s.exists(b, c)
		if method, path := s.Verbs.operation(); path != "" {
			for i := range s.Expect {
				s.Expect[i].promised(b, c, method, path, s.Verbs.Call != nil)
			}
		}
	}, f.Doc.Setup, f.Doc.Steps)
	if !b.Failed() {
		return nil
	}
	return b.Problems().Locate(f.Path, f.Source)
}

// exists checks that a call that has to succeed goes to a path that there is.
func (s *Step) exists(b *strictyaml.Binder, c *contract.Contract) {
	v := s.Verbs.Call
	if v == nil || v.Status != nil || v.Error.set() || v.Match != nil || s.saysStatus() {
		return
	}
	path, _, _ := strings.Cut(filled.ReplaceAllString(v.Path.raw, "\x00"), "?")
	for segment := range strings.SplitSeq(path, "/") {
		if segment != "\x00" && strings.Contains(segment, "\x00") {
			return // only a run can tell
		}
	}
	if why, status := c.Missing(v.method(), strings.ReplaceAll(path, "\x00", contract.Any)); why != "" {
		b.Problem(v.Path.pos, "%s (to expect that, add status: %d)", why, status)
	}
}

const permitsPath = "/space/v1/partner/entry-permits"

// roots are the names of an answer's parts, or of a list's elements, as paths into its body.
var roots = map[string][]any{"body": nil, "data": {"data"}, "details": {"details"},
	"records": {"data"}, "events": {"data"}, "first": {"data", 0}, "last": {"data", 0}}

// filled is a part of a path that is only known during a run.
var filled = regexp.MustCompile(`\$\{[^}]*\}`)

// operation is the request of a verb, "" if it isn't known before the run or is more than one request.
func (v *Verbs) operation() (method, path string) {
	switch {
	case v.Call != nil:
		return v.Call.method(), v.Call.Path.raw
	case v.Permit != nil:
		return "POST", permitsPath
	case v.Revoke != nil:
		return "POST", permitsPath + "/revoke"
	case v.Command != nil && !v.Command.Legacy:
		return "POST", "/device/v1/devices/${door}/commands"
	case v.Command != nil:
		return "POST", "/device/v1/doors/${door}/" + cmp.Or(v.Command.Command.raw, "open")
	case v.Records != nil:
		return "GET", "/space/v1/partner/entry-logs"
	case v.Events != nil:
		return "GET", "/core/v1/places/${place}/events"
	case v.Hours != nil:
		return "PATCH", "/core/v1/places/${place}"
	case v.Netloss != nil:
		return "PUT", "/device/v1/boards/${board}/netloss"
	case v.Policy != nil && v.Policy.Remove:
		return "DELETE", "/device/v1/doors/${door}/policies"
	case v.Policy != nil:
		return "POST", "/device/v1/doors/${door}/policies"
	}
	return "", ""
}

// promised checks the parts of an answer that an expectation names. whole: also outside data and details, where a
// replay has the form of the path that was used first.
func (e *Expr) promised(b *strictyaml.Binder, c *contract.Contract, method, asked string, whole bool) {
	for _, a := range e.unpromised(c, method, asked, whole) {
		b.Problem(e.Pos, "%s: %s", a.path, a.why)
	}
}

// absent is a part of an answer that an expectation names and that no answer of the operation has.
type absent struct{ path, why string }

func (e *Expr) unpromised(c *contract.Contract, method, asked string, whole bool) (out []absent) {
	path := filled.ReplaceAllString(asked, "x")
	for _, text := range e.Paths {
		p := expression.PathOf(text)
		if len(p) < 2 {
			continue
		}
		root, part := p[0].(string)
		in, answers := roots[root]
		if !part || !answers || in == nil && !whole {
			continue
		}
		field := append(append([]any{}, in...), p[1:]...)
		if may, at, known := c.Field(method, path, field); !may && at >= len(in) {
			name, _ := field[at].(string)
			out = append(out, absent{text, fmt.Sprintf("no answer of %s %s has %q%s", method, strings.SplitN(asked, "?", 2)[0], name, near.Hint(name, known))})
		}
	}
	return out
}

// unpromised are the parts that the step's expectation names and that no answer of the target has.
func (x *frame) unpromised(e *Expr) []absent {
	v := &x.step.asked().Verbs
	method, path := v.operation()
	if path == "" {
		return nil
	}
	return e.unpromised(x.run.api.promise, method, path, v.Call != nil)
}
