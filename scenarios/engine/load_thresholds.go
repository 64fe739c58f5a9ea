package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/strictyaml"
	"github.com/doorlab/doorlab/loadtest"
)

// Thresholds are what must hold of a load or of one of its stages.
type Thresholds map[string]Threshold

// Threshold is a limit, as in any load plan; written as {that: limit, clauses: [...]}, it alone is evidence for those
// clauses, as such an expectation is.
type Threshold struct {
	That    string    `json:"that" jsonschema:"required"`
	Clauses ClauseIDs `json:"clauses" jsonschema:"required"`
}

// LoadStage is a stage whose thresholds can name clauses.
type LoadStage struct {
	loadtest.Stage
	Thresholds Thresholds `json:"thresholds,omitempty" jsonschema:"description=what must hold for the requests that are due in this stage; {that: 0, clauses: [...]} is evidence for its own clauses only"`
}

// BindShort takes a limit without clauses.
func (t *Threshold) BindShort(_ *strictyaml.Binder, text string, _ Pos) { t.That = text }

// JSONSchemaExtend allows a limit without clauses.
func (Threshold) JSONSchemaExtend(s *jsonschema.Schema) {
	long := *s
	for name, description := range map[string]string{"that": "The limit", "clauses": "The guarantees that it is evidence for"} {
		if p, ok := long.Properties.Get(name); ok {
			p.Description = description
		}
	}
	if p, ok := long.Properties.Get("that"); ok {
		p.Type, p.AnyOf = "", anyOf("string", "number").AnyOf
	}
	*s = jsonschema.Schema{AnyOf: append(anyOf("string", "number").AnyOf, &long)}
}

// JSONSchemaExtend keeps the thresholds as they are here: a plan's own are without clauses.
func (LoadStage) JSONSchemaExtend(*jsonschema.Schema) {}

// limits are the thresholds as a plan has them.
func (t Thresholds) limits() map[string]string {
	if t == nil {
		return nil
	}
	out := make(map[string]string, len(t))
	for name, limit := range t {
		out[name] = limit.That
	}
	return out
}

// plain gives the plan the limits of what was written.
func (l *LoadPlan) plain() {
	l.Plan.Thresholds = l.Thresholds.limits()
	l.Plan.Stages = nil
	for _, s := range l.Stages {
		s.Stage.Thresholds = s.Thresholds.limits()
		l.Plan.Stages = append(l.Plan.Stages, s.Stage)
	}
}

// claims are the thresholds' own clauses, by the name that a result gives each threshold.
func (l *LoadPlan) claims() map[string]ClauseIDs {
	out := map[string]ClauseIDs{}
	note := func(prefix string, limits Thresholds) {
		for name, limit := range limits {
			if len(limit.Clauses) > 0 {
				out[prefix+name] = limit.Clauses
			}
		}
	}
	note("", l.Thresholds)
	for i, s := range l.Stages {
		note(s.Called(i)+": ", s.Thresholds)
	}
	return out
}

// charged lists the clauses of thresholds and expectations.
func (s *Step) charged() (out []string) {
	for _, e := range s.Expect {
		out = append(out, e.clauses...)
	}
	if l := s.Verbs.Load; l != nil {
		claims := l.claims()
		for _, name := range slices.Sorted(maps.Keys(claims)) {
			out = append(out, claims[name]...)
		}
	}
	return out
}

// charge notes what thresholds with clauses of their own showed about these. What else failed the load, or is in doubt, is
// the step's; if there is nothing else, the error is nil, and the expectations are looked at, too.
func (l *LoadPlan) charge(x *frame, res loadtest.Result) error {
	claims, broken := l.claims(), false
	why := strings.Join(res.Reasons, "; ")
	rest := res.Breaches > 0
	var moot error
	for _, t := range res.Thresholds {
		status, found := res.Shows(t)
		own := claims[t.Name]
		if len(own) == 0 {
			rest = rest || status == judge.Fail
			continue
		}
		x.res.Charges = append(x.res.Charges, report.Charge{Clauses: own, Name: t.Name + ": " + t.Limit, Status: status, Detail: found})
		switch status {
		case judge.Fail:
			broken = true
		case judge.Invalid:
			moot = &invalid{text: fmt.Sprintf("%s: %s claims %s, but %s", t.Name, t.Limit, strings.Join(own, ", "), found)}
		}
	}
	switch {
	case res.Verdict == loadtest.Fail && (rest || !broken):
		return failed("%s", why)
	case !broken:
		return moot
	}
	x.owed = failed("%s", why)
	if len(res.Doubts) > 0 {
		x.unsure = &invalid{text: strings.Join(res.Doubts, "; ")}
	}
	return nil
}
