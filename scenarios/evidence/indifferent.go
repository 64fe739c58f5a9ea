package evidence

import (
	"cmp"
	"maps"
	"slices"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
)

// Values are what a step with evidence would not have noticed, had the target broken a promise: by clause the Breach, "" if
// the step would have noticed one.
type Values struct {
	Own    map[string]string // of each clause that it claims; "" also if no Breach is known
	Outer  map[string]string // of those that a group around it claims, if a Breach is known
	Inside []any             // the steps in it
}

type valued struct {
	Values
	res  *report.Step
	line int
}

// Values notes what a step would not have noticed. In a table, one row that would have is enough.
func (w *Watch) Values(step any, line int, res *report.Step, v Values) {
	if len(v.Own) == 0 && len(v.Outer) == 0 && len(v.Inside) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.values == nil {
		w.values = map[any]*valued{}
	}
	for clause, what := range v.Own {
		if what == "" {
			v.Own[clause] = w.inside(v.Inside, clause)
		}
	}
	if was := w.values[step]; was != nil {
		noticedOnce(v.Own, was.Own)
		noticedOnce(v.Outer, was.Outer)
	}
	w.values[step] = &valued{v, res, line}
}

// noticedOnce adds what another row of the step's table would not have noticed.
func noticedOnce(now, was map[string]string) {
	for clause, what := range was {
		if _, there := now[clause]; !there || what == "" {
			now[clause] = what
		}
	}
}

// inside is what the steps in a group that claims a clause would not have noticed: "" if one of them would have, or if none
// looks at what the clause is about.
func (w *Watch) inside(steps []any, clause string) string {
	unnoticed, noticed := w.lookedAt(steps, clause)
	if noticed {
		return ""
	}
	return unnoticed
}

func (w *Watch) lookedAt(steps []any, clause string) (unnoticed string, noticed bool) {
	for _, s := range steps {
		v := w.values[s]
		if v == nil {
			continue
		}
		deeper, found := w.lookedAt(v.Inside, clause)
		what, known := v.Outer[clause]
		own, claims := v.Own[clause]
		noticed = noticed || found || claims && own == "" || known && what == ""
		unnoticed = cmp.Or(unnoticed, what, deeper)
	}
	return unnoticed, noticed
}

// indifferent are the steps that claim a clause and would not have noticed that it is broken, if no other step that claims
// it would have.
func (w *Watch) indifferent() (out []*report.Step) {
	noticed := map[string]bool{}
	for _, v := range w.values {
		for clause, what := range v.Own {
			noticed[clause] = noticed[clause] || what == ""
		}
	}
	for _, v := range w.values {
		for _, clause := range slices.Sorted(maps.Keys(v.Own)) {
			if noticed[clause] {
				continue
			}
			out = append(out, &report.Step{Name: v.res.Name, Line: v.line, Status: judge.Invalid,
				Detail: "it would have passed as well if " + v.Own[clause] + ", so it isn't evidence for " + clause + ": expect exactly what is promised"})
		}
	}
	return out
}
