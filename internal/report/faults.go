package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/judge"
)

// FaultUse is a row of the matrix of faults and clauses.
type FaultUse struct {
	Fault   string         `json:"fault"`
	Hits    int            `json:"hits"`              // how often it acted
	Clauses map[string]int `json:"clauses,omitempty"` // assertions that were made while it was in force, by clause
}

// Shown lists the clauses with their counts, in report order.
func (u FaultUse) Shown() string {
	shown := each.If(judge.Clauses(), func(c string) bool { return u.Clauses[c] > 0 })
	return strings.Join(each.Of(shown, func(c string) string { return fmt.Sprintf("%s (%d)", c, u.Clauses[c]) }), ", ")
}

// faultTable is the matrix as text, a line per fault.
func faultTable(uses []FaultUse) string {
	if len(uses) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nfaults: hits, and the guarantees with assertions while they were in force\n")
	for _, u := range uses {
		fmt.Fprintf(&b, "%-12s %6d  %s\n", u.Fault, u.Hits, u.Shown())
	}
	return b.String()
}

// columns are the clauses that were asserted while any fault was in force, in report order.
func columns(uses []FaultUse) []string {
	return each.If(judge.Clauses(), func(c string) bool {
		return slices.ContainsFunc(uses, func(u FaultUse) bool { return u.Clauses[c] > 0 })
	})
}

// faultUses adds up the files' faults, in the order of docs/faults.md. For the whole suite, faults that no file armed
// are included.
func (res *Result) faultUses() (out []FaultUse) {
	sum := map[string]*FaultUse{}
	for _, f := range res.Files {
		for _, u := range f.Faults {
			all := each.Made(sum, u.Fault, func() *FaultUse { return &FaultUse{Fault: u.Fault, Clauses: map[string]int{}} })
			all.Hits += u.Hits
			for c, n := range u.Clauses {
				all.Clauses[c] += n
			}
		}
	}
	for _, f := range faults.All {
		switch u := sum[f.Name]; {
		case u != nil:
			out = append(out, *u)
		case res.complete():
			out = append(out, FaultUse{Fault: f.Name})
		}
		delete(sum, f.Name)
	}
	older := slices.Sorted(maps.Keys(sum)) // from a run by an older build
	return append(out, each.Of(older, func(name string) FaultUse { return *sum[name] })...)
}

// complete reports whether every file of the built-in suite was played. A target that can't play some of them has to
// show less.
func (res *Result) complete() bool {
	return res.Whole && !slices.ContainsFunc(res.Files, func(f FileResult) bool { return f.Status == judge.Skipped })
}

// required are the clauses that must be proven: for a complete suite, all of them.
func (res *Result) required() []string {
	if res.complete() {
		return append(slices.Clone(res.Require), "all")
	}
	return res.Require
}

// unhit lists the faults that never acted in a complete suite.
func (res *Result) unhit() (names []string) {
	if !res.complete() {
		return nil
	}
	return each.Of(each.If(res.Faults, func(u FaultUse) bool { return u.Hits == 0 }), func(u FaultUse) string { return u.Fault })
}
