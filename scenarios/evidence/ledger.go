package evidence

import (
	"slices"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
)

// What did the steps that ran contribute?

// Checked reports whether any step that was played could have failed because of what the target did. A step with
// children counts if its own expectations could have failed.
func Checked(steps []*report.Step) bool {
	return slices.ContainsFunc(steps, func(s *report.Step) bool {
		return s.Asserts && s.Status == judge.Pass && (len(s.Children) == 0 || s.Expects) || Checked(s.Children)
	})
}

// Proof is what a step found about a clause.
type Proof struct {
	Step *report.Step
	judge.Assertion
}

// Proofs are the contributions of a file's steps to the ledger: a table's rows one by one, a parent only if it went
// wrong in a way that none of its children shows.
func Proofs(steps []*report.Step, file string) (out []Proof) {
	for _, s := range steps {
		out = append(out, Proofs(s.Children, file)...)
		leaves := slices.ContainsFunc(s.Children, func(c *report.Step) bool { return len(c.Clauses) > 0 })
		if (!leaves || s.Own()) && s.Detail != report.InBackground {
			out = append(out, own(s, file)...)
		}
	}
	return out
}

// own is what a step itself found: its expectations with clauses of their own, and the rest.
func own(s *report.Step, file string) (out []Proof) {
	name, charged := file+": "+s.Name, map[string]bool{}
	for _, ch := range s.Charges {
		for _, c := range ch.Clauses {
			charged[c] = true
			if ch.Status == judge.Pass && !s.Asserts {
				continue // it could not have failed
			}
			out = append(out, Proof{s, judge.Assertion{Clause: c, Name: name + ": " + ch.Name, Status: ch.Status, Number: report.FirstLine(ch.Detail)}})
		}
	}
	status, detail := s.Status, s.Detail
	if s.Rest.Status != "" {
		status, detail = s.Rest.Status, s.Rest.Detail
	}
	if status == judge.Pass && !s.Asserts {
		return out // it could not have failed
	}
	number := s.Boundary
	if status != judge.Pass {
		number = report.FirstLine(detail)
	}
	for _, c := range s.Clauses {
		if !charged[c] {
			out = append(out, Proof{s, judge.Assertion{Clause: c, Name: name, Status: status, Number: number}})
		}
	}
	return out
}
