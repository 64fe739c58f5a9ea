package engine

import (
	"fmt"

	"github.com/doorlab/doorlab/internal/strictyaml"
)

// Arguments of the built-in functions that are written down are checked before anything runs: a mistyped moment would
// otherwise look like an expectation that the target doesn't meet.

// taken are the functions that take text, with an example of it.
var taken = map[string]string{"at": "cut+36h", "label": "cut", "seconds": "36h", "phone": "ann", "uid": "ann", "clock_change": "Europe/Berlin"}

// arguments reports what is wrong with the arguments that are written down, and notes the labels among them.
func (e *Expr) arguments(b *strictyaml.Binder) {
	for _, call := range e.Calls() {
		if taken[call.Name] == "" || len(call.Args) == 0 {
			continue
		}
		switch arg := call.Args[0]; {
		case !arg.IsText && arg.Literal:
			b.Problem(arg.Pos, "%s takes text, as in %s(%q)", call.Name, call.Name, taken[call.Name])
		case !arg.IsText:
		case call.Name == "seconds":
			if _, err := duration(arg.Text); err != nil {
				b.Problem(arg.Pos, "%s", err)
			}
		case call.Name == "at" || call.Name == "label":
			usesMoment(b, arg.Text, arg.Pos)
		case call.Name == "clock_change" && len(call.Args) == 2:
			if way := call.Args[1]; way.IsText && checkWay(way.Text) != nil {
				b.Problem(way.Pos, "%s", checkWay(way.Text))
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
