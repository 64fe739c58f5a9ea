package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/judge"
)

// Suite is a scenario, the guarantees, or the run as a whole, in the form that test reporting tools expect. JUnit and TAP
// are two ways to write it.
type Suite struct {
	Name       string
	File       string // "" = none
	Status     judge.Status
	Why        string
	Started    time.Time
	Seconds    float64
	Properties [][2]string
	Cases      []Case
}

// Case is one test of a suite.
type Case struct {
	Name    string
	File    string
	Line    int // 0 = none
	Seconds float64
	Status  judge.Status
	Why     string // in one line or more
	Text    string // for a failure: everything about it
}

// suites are a run's suites: one per scenario file, one for the guarantees, and one for what belongs to neither, so that
// no verdict is missing. A scenario's cases are the steps that can fail because of what the target does, and every step
// that didn't pass; steps that only prepare are not test cases.
func suites(res Result) (out []Suite) {
	texts := map[*Step]string{}
	whole := Case{Name: "the run counts", Status: judge.Pass}
	for _, f := range Failures(res) {
		if f.Step != nil {
			texts[f.Step] = f.Text()
		}
		if f.ofRun() {
			whole.Status, whole.Why = f.Status, f.Why
		}
	}
	out = each.Of(res.Files, func(f FileResult) Suite { return fileSuite(f, texts) })
	return append(out, Ledger(res.Ledger, res.Started),
		Suite{Name: "run", Status: res.Status, Why: res.Reason, Started: res.Started, Cases: []Case{whole}})
}

func fileSuite(f FileResult, texts map[*Step]string) Suite {
	s := Suite{Name: f.label(), File: f.Path, Status: f.Status, Why: f.Reason, Started: f.Started, Seconds: f.Seconds}
	if f.Description != "" {
		s.Properties = append(s.Properties, [2]string{"description", f.Description})
	}
	s.Properties = append(s.Properties, each.Of(f.Clauses, func(c string) [2]string { return [2]string{"clause", c} })...)
	bad := false
	for i, l := range named(f.Steps, "") {
		st := l.step
		if st.Status == judge.Pass && !st.Asserts {
			continue
		}
		bad = bad || st.Status != judge.Pass && st.Status != judge.Skipped
		s.Cases = append(s.Cases, Case{Name: fmt.Sprintf("%02d %s", i+1, l.name), File: f.Path, Line: st.Line, Seconds: st.Seconds,
			Status: st.Status, Why: st.Detail, Text: texts[st]})
	}
	// A skipped or blocked file gets a case, too, so that its verdict is never lost.
	if status, why := f.own(); len(s.Cases) == 0 || status != judge.Pass && status != judge.Skipped && !bad {
		s.Cases = append(s.Cases, Case{Name: cmp.Or(f.Name, stem(f.Path)), File: f.Path, Seconds: f.Seconds, Status: status, Why: why})
	}
	s.Cases = append(s.Cases, each.Of(f.Broken, func(b Broken) Case {
		return Case{Name: b.Clause + " " + judge.Promise(b.Clause), File: f.Path, Line: b.Line, Status: judge.Fail, Why: b.Why}
	})...)
	return s
}

// Ledger is the suite of the guarantees.
func Ledger(rows []judge.Row, at time.Time) Suite {
	return Suite{Name: "guarantees", Status: judge.Pass, Started: at, Cases: each.Of(rows, func(r judge.Row) Case {
		c := Case{Name: r.Clause + " " + r.Promise, Status: r.Status, Why: r.Told()}
		if r.FirstBad != nil {
			c.Text = r.FirstBad.String()
		}
		return c
	})}
}

// leaf is a step that did something, named by its path through the file.
type leaf struct {
	name string
	step *Step
}

// named are the leaves, named together with the steps around them.
func named(steps []*Step, around string) (out []leaf) {
	for _, s := range steps {
		name := s.Name
		if around != "" && !strings.HasPrefix(name, around) { // a table row's name has it already
			name = around + " › " + name
		}
		if len(s.Children) > 0 {
			out = append(out, named(s.Children, name)...)
		}
		if len(s.Children) == 0 && s.Detail != InBackground || s.Own() {
			out = append(out, leaf{name, s})
		}
	}
	return out
}
