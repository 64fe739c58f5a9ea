package loadtest

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/near"
	"github.com/doorlab/doorlab/internal/strictyaml"
)

//go:embed plans/*.yaml
var embedded embed.FS

// Embedded lists the names of the plans that ship with the binary.
func Embedded() []string {
	entries, _ := embedded.ReadDir("plans") // embedded: cannot fail
	return each.Of(entries, func(e fs.DirEntry) string { return strings.TrimSuffix(e.Name(), ".yaml") })
}

// Source is the text of an embedded plan.
func Source(name string) (string, error) {
	text, err := embedded.ReadFile("plans/" + name + ".yaml")
	if err != nil {
		return "", fmt.Errorf("no built-in plan %q; there are %s%s", name, strings.Join(Embedded(), ", "), near.Hint(name, Embedded()))
	}
	return string(text), nil
}

// BuiltIn is an embedded plan.
func BuiltIn(name string) (Plan, error) {
	text, err := Source(name)
	if err != nil {
		return Plan{}, err
	}
	return parse("plans/"+name+".yaml", []byte(text))
}

// Load reads a plan: a file, or an embedded plan by its name ("door-commands").
// A bad plan is a *PlanError that names every problem as file:line:col.
func Load(file string) (Plan, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		name := strings.TrimSuffix(path.Base(file), ".yaml")
		if built, e := embedded.ReadFile("plans/" + name + ".yaml"); e == nil && (file == name || file == "plans/"+name+".yaml") {
			return parse("plans/"+name+".yaml", built)
		}
		hint := near.Hint(file, Embedded())
		if _, err := os.Stat(file + ".yaml"); err == nil {
			hint = ", did you mean " + file + ".yaml?"
		}
		return Plan{}, fmt.Errorf("no plan %s: neither a file nor one of %s%s", file, strings.Join(Embedded(), ", "), hint)
	}
	if err != nil {
		return Plan{}, err
	}
	return parse(file, text)
}

// PlanError is a bad plan; one line per problem, each with file:line:col if it is from a file.
type PlanError struct {
	Lines []string
	shown string // the same with the lines of the file
}

func (e *PlanError) Error() string { return cmp.Or(e.shown, strings.Join(e.Lines, "\n")) }

// parse reads a plan from its text; name is the file in error messages. The
// error is a *PlanError.
func parse(name string, text []byte) (Plan, error) {
	var p Plan
	err := strictyaml.Decode(name, text, &p, nil, func(b *strictyaml.Binder) {
		all := p.ProblemsIn(b.Has)
		if b.Failed() { // what couldn't be read isn't missing, too
			all = slices.DeleteFunc(p.values(b.Has), func(bad Problem) bool { return !b.Has(bad.key()) || b.FailedAt(bad.key()) })
		}
		for _, bad := range all {
			b.Problem(b.KeyAt(bad.key()), "%s", bad.sentence())
		}
	})
	if problems, ok := errors.AsType[strictyaml.Problems](err); ok {
		for i := range problems {
			for _, key := range []string{"vus", "users", "concurrency", "connections"} {
				if strings.HasPrefix(problems[i].Message, fmt.Sprintf("unknown key %q", key)) {
					problems[i].Message += "; a load is open: give rate, not a number of virtual users"
				}
			}
		}
		return Plan{}, &PlanError{strings.Split(problems.Short(), "\n"), problems.Error()}
	}
	p.Name = cmp.Or(p.Name, strings.TrimSuffix(path.Base(name), ".yaml"))
	return p, nil
}
