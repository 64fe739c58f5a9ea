package engine

import (
	"slices"

	"github.com/doorlab/doorlab/internal/judge"
)

// proof is what a step found about a clause.
type proof struct {
	step *StepResult
	judge.Assertion
}

// proofs are the steps' contributions to the ledger: a table's rows one by one, a parent only if it went wrong in a way
// that none of its children shows.
func proofs(steps []*StepResult, file string) (out []proof) {
	for _, s := range steps {
		out = append(out, proofs(s.Children, file)...)
		leaves := slices.ContainsFunc(s.Children, func(c *StepResult) bool { return len(c.Clauses) > 0 })
		if (!leaves || s.Own()) && s.Detail != "in the background" {
			out = append(out, own(s, file)...)
		}
	}
	return out
}

// own is what a step itself found: its expectations with clauses of their own, and the rest.
func own(s *StepResult, file string) (out []proof) {
	name, charged := file+": "+s.Name, map[string]bool{}
	for _, ch := range s.Charges {
		for _, c := range ch.Clauses {
			charged[c] = true
			out = append(out, proof{s, judge.Assertion{Clause: c, Name: name + ": " + ch.Name, Status: ch.Status, Number: firstLine(ch.Detail)}})
		}
	}
	status := s.Status
	if s.Spared {
		status = judge.Pass
	}
	if status == judge.Pass && !s.Asserts {
		return out // it could not have failed
	}
	number := s.Boundary
	if status != judge.Pass {
		number = firstLine(s.Detail)
	}
	for _, c := range s.Clauses {
		if !charged[c] {
			out = append(out, proof{s, judge.Assertion{Clause: c, Name: name, Status: status, Number: number}})
		}
	}
	return out
}
