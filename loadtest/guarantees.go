package loadtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
)

// Guarantees is what the run's history proves, besides the thresholds.
type Guarantees struct {
	Rows      []judge.Row      `json:"rows,omitempty"`      // of the clauses about which a checker saw something; SKIPPED: their situation never arose
	Verdicts  []judge.Verdict  `json:"verdicts,omitempty"`  // that the rows stand on, without their timelines: what a merge joins
	History   *history.Summary `json:"history,omitempty"`   // of history.ndjson, which was judged
	NotJudged string           `json:"notJudged,omitempty"` // why there are no rows
	Basis     string           `json:"basis,omitempty"`     // what the rows stand on, where it isn't the whole target
	Foreign   judge.Foreign    `json:"foreign,omitzero"`    // what others did on the target meanwhile
	Clocks    history.Clocks   `json:"clocks,omitempty"`    // of the target's processes, against the generator's
	Unordered int              `json:"unordered,omitempty"` // pairs of events closer than their clocks are known
}

// breached are the clauses that were broken.
func (g *Guarantees) breached() (rows []judge.Row) {
	if g == nil {
		return nil
	}
	return each.If(g.Rows, func(r judge.Row) bool { return r.Status == judge.Fail })
}

// settle adds the checkers' verdicts.
func (g *Guarantees) settle(verdicts []judge.Verdict) {
	g.Rows = slices.DeleteFunc(judge.Ledger(verdicts, nil, judge.Basis{}), func(r judge.Row) bool { return r.Status == judge.Skipped && r.Judged+r.Real == 0 })
	for _, v := range verdicts {
		if v.FirstBad = nil; v.Status != judge.Skipped {
			g.Verdicts = append(g.Verdicts, v)
		}
	}
}

// judged returns the verdicts again, with the first breach.
func (g *Guarantees) judged() (out []judge.Verdict) {
	for _, v := range g.Verdicts {
		for _, r := range g.Rows {
			if r.Clause == v.Clause {
				v.FirstBad = r.FirstBad
			}
		}
		out = append(out, v)
	}
	return out
}

// joinGuarantees makes one ledger of what each generator's own history showed.
func (res *Result) joinGuarantees(parts []Result) {
	g := &Guarantees{}
	var all [][]judge.Verdict
	for i, p := range parts {
		switch {
		case p.Guarantees == nil:
		case p.Guarantees.NotJudged != "":
			g.NotJudged = cmp.Or(g.NotJudged, p.Guarantees.NotJudged)
			res.Notes = append(res.Notes, p.name(i)+": guarantees "+p.Guarantees.NotJudged)
		default:
			all = append(all, p.Guarantees.judged())
			for _, told := range p.Guarantees.Notes() {
				res.Notes = append(res.Notes, p.name(i)+": "+told)
			}
		}
	}
	if len(all) > 0 {
		g.NotJudged = ""
		g.settle(judge.Combine(all...))
	} else if g.NotJudged == "" {
		return
	}
	res.Guarantees = g
	res.judgeGuarantees()
}

func (res *Result) judgeGuarantees() {
	for _, row := range res.Guarantees.breached() {
		res.Reasons = append(res.Reasons, row.Clause+": "+row.Number)
		res.Verdict = Fail
	}
	for _, row := range res.Guarantees.Rows {
		if row.Status == judge.Invalid && res.Verdict == Pass {
			res.doubt(row.Clause + ": " + row.Number)
		}
	}
}

// clients has one client per control listener.
func clients(t Target) (out []client.Client) {
	for i, base := range t.Control {
		out = append(out, client.Client{Base: base, Token: t.Token(i), HTTP: client.Trusting(t.TLS)})
	}
	return out
}

// text is the part of the report for a terminal.
func (g *Guarantees) text() string {
	if g == nil {
		return ""
	}
	var b strings.Builder
	if g.NotJudged != "" {
		fmt.Fprintf(&b, "guarantees  %s\n", g.NotJudged)
		return b.String()
	}
	var tried []judge.Row
	var rest []string
	for _, r := range g.Rows {
		if r.Status == judge.Skipped {
			rest = append(rest, r.Clause)
		} else {
			tried = append(tried, r)
		}
	}
	if len(tried) > 0 {
		fmt.Fprintf(&b, "guarantees that the run exercised (%d broken):\n", len(g.breached()))
	}
	_ = judge.WriteLedger(&b, tried) // into memory
	if len(rest) > 0 {
		fmt.Fprintf(&b, "touched, but not exercised: %s\n", strings.Join(rest, " "))
	}
	for _, told := range g.Notes() {
		fmt.Fprintf(&b, "note: %s\n", told)
	}
	for _, row := range g.breached() {
		if row.FirstBad != nil {
			fmt.Fprintf(&b, "\n%s %s\n%s", row.Clause, row.Promise, row.FirstBad)
		}
	}
	return b.String()
}

// Notes are what readers of the rows need to know.
func (g *Guarantees) Notes() []string {
	return slices.DeleteFunc([]string{g.Basis, g.Foreign.String(), g.Clocks.Told(g.Unordered)}, func(n string) bool { return n == "" })
}
