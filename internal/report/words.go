package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/judge"
)

// Thing is what the run's files are called.
func (res Result) Thing() string { return cmp.Or(res.Unit, "scenario") }

// Things is their heading.
func (res Result) Things() string {
	name := res.Thing()
	return strings.ToUpper(name[:1]) + name[1:] + "s"
}

// sentence describes a run's result for people.
func sentence(res Result) string {
	n := map[judge.Status]int{}
	for _, f := range res.Files {
		n[f.Status]++
	}
	var parts []string
	for _, k := range []struct {
		status    judge.Status
		one, more string
	}{{judge.Fail, "failed", "failed"}, {judge.Blocked, "was blocked before it could test anything", "were blocked before they could test anything"},
		{judge.Invalid, "was invalid", "were invalid"}, {judge.Skipped, "was skipped", "were skipped"}, {judge.Pass, "passed", "passed"}} {
		switch count := n[k.status]; {
		case count == 1:
			parts = append(parts, "1 "+k.one)
		case count > 1:
			parts = append(parts, amount.Number(count)+" "+k.more)
		}
	}
	rows := map[judge.Status]int{}
	for _, r := range res.Ledger {
		rows[r.Status]++
	}
	out := ""
	if len(parts) > 0 {
		out = fmt.Sprintf("%s: %s. ", amount.Many(len(res.Files), res.Thing()), strings.Join(parts, ", "))
	}
	out += amount.Many(len(res.Ledger), "guarantee") + ": "
	if broken := rows[judge.Fail]; broken > 0 {
		out += fmt.Sprintf("%d broken, ", broken)
	}
	out += fmt.Sprintf("%d passed", rows[judge.Pass])
	idle := rows[judge.Skipped]
	if open := len(res.Ledger) - rows[judge.Fail] - rows[judge.Pass] - idle; open > 0 {
		out += fmt.Sprintf(", %d not proven", open)
	}
	if idle > 0 {
		out += fmt.Sprintf(", %d not exercised", idle)
	}
	return out + "."
}
