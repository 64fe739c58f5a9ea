package report

import (
	"fmt"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/judge"
)

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
	}{{judge.Fail, "failed", "failed"}, {judge.Blocked, "was blocked before it could show anything", "were blocked before they could show anything"},
		{judge.Invalid, "doesn't count", "don't count"}, {judge.Skipped, "was skipped", "were skipped"}, {judge.Pass, "passed", "passed"}} {
		switch count := n[k.status]; {
		case count == 1:
			parts = append(parts, "1 "+k.one)
		case count > 1:
			parts = append(parts, amount.Number(count)+" "+k.more)
		}
	}
	kept, broken := 0, 0
	for _, r := range res.Ledger {
		switch r.Status {
		case judge.Fail:
			broken++
		case judge.Pass:
			kept++
		}
	}
	out := ""
	if len(parts) > 0 {
		out = fmt.Sprintf("%s: %s. ", amount.Many(len(res.Files), "scenario"), strings.Join(parts, ", "))
	}
	out += amount.Many(len(res.Ledger), "guarantee") + ": "
	if broken > 0 {
		out += fmt.Sprintf("%d broken, ", broken)
	}
	out += fmt.Sprintf("%d held", kept)
	if idle := len(res.Ledger) - kept - broken; idle > 0 {
		out += fmt.Sprintf(", %d not exercised", idle)
	}
	return out + "."
}
