package engine

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/doorlab/doorlab/internal/strictyaml"
)

// Arguments of the built-in functions that are written down are checked before anything runs: a mistyped moment would
// otherwise look like an expectation that the target doesn't meet.

// calls collects the calls of the built-in functions.
type calls struct{ found []*ast.CallNode }

// Visit implements ast.Visitor.
func (c *calls) Visit(n *ast.Node) {
	if call, ok := (*n).(*ast.CallNode); ok {
		c.found = append(c.found, call)
	}
}

// taken are the functions that take text, with an example of it.
var taken = map[string]string{"at": "cut+36h", "label": "cut", "seconds": "36h", "phone": "ann", "uid": "ann", "clock_change": "Europe/Berlin"}

// arguments reports what is wrong with the arguments that are written down, and notes the labels among them.
func (e *Expr) arguments(b *strictyaml.Binder, tree ast.Node) {
	all := &calls{}
	ast.Walk(&tree, all)
	for _, call := range all.found {
		name, ok := call.Callee.(*ast.IdentifierNode)
		if !ok || taken[name.Value] == "" || len(call.Arguments) == 0 {
			continue
		}
		arg := call.Arguments[0]
		pos := Pos{Line: e.pos.Line, Col: e.pos.Col + arg.Location().From}
		text, isText := arg.(*ast.StringNode)
		switch {
		case !isText && constant(arg):
			b.Problem(pos, "%s takes text, as in %s(%q)", name.Value, name.Value, taken[name.Value])
		case !isText:
		case name.Value == "seconds":
			if _, err := duration(text.Value); err != nil {
				b.Problem(pos, "%s", err)
			}
		case name.Value == "at" || name.Value == "label":
			usesMoment(b, text.Value, pos)
		case name.Value == "clock_change" && len(call.Arguments) == 2:
			if way, ok := call.Arguments[1].(*ast.StringNode); ok && checkWay(way.Value) != nil {
				b.Problem(Pos{Line: e.pos.Line, Col: e.pos.Col + way.Location().From}, "%s", checkWay(way.Value))
			}
		}
	}
}

// usesMoment checks a moment that is written down; a label in it must be marked somewhere in the file.
func usesMoment(b *strictyaml.Binder, text string, pos Pos) {
	label, _, err := splitMoment(text)
	if err != nil {
		b.Problem(pos, "%s", err)
	} else if label != "now" && !absolute.MatchString(label) {
		notes(b).use(use{kind: "label", name: label, pos: pos})
	}
}

func checkWay(way string) error {
	if way != "forward" && way != "back" {
		return fmt.Errorf("%q is not a valid direction, write forward or back", way)
	}
	return nil
}

// unmarked is a moment whose mark hasn't been set: a mistake in the file, not of the target.
type unmarked struct{ label string }

func (u *unmarked) Error() string {
	return fmt.Sprintf("the moment %q has not been marked yet", u.label)
}

var wantsText = regexp.MustCompile(`^reflect: Call using (.+) as type string`)

// plainCall is plainly for what the expression library says about a call.
func plainCall(message, src string) string {
	switch m := wantsText.FindStringSubmatch(message); {
	case m != nil:
		return kindOf(m[1]) + " can't be an argument here, only text"
	case message == "invalid operation: int(string)" && strings.Contains(src, ".."):
		return "text can't be the end of a range, only a whole number"
	}
	return plainly(message)
}
