package report

import (
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestSince: another verdict is named, scenarios of one run alone are counted, and many changes are cut.
func TestSince(t *testing.T) {
	t.Parallel()
	run := func(ledger judge.Status, files ...FileResult) Result {
		return Result{Files: files, Ledger: []judge.Row{{Clause: "OFF-2", Status: ledger}}}
	}
	file := func(name string, s judge.Status) FileResult {
		return FileResult{Path: "scenarios/" + name + ".yaml", Status: s}
	}
	var many, better []FileResult
	for _, n := range "abcdefghijklmnop" {
		many, better = append(many, file(string(n), judge.Fail)), append(better, file(string(n), judge.Pass))
	}
	for _, c := range []struct {
		was, now Result
		want     string
	}{
		{run(judge.Pass, file("a", judge.Pass)), run(judge.Pass, file("a", judge.Pass)), "every verdict is the same"},
		{run(judge.Pass, file("a", judge.Pass)), run(judge.Fail, file("a", judge.Invalid)), "a was PASS and is INVALID; OFF-2 was PASS and is FAIL"},
		{run(judge.Pass, file("a", judge.Pass), file("b", judge.Fail)), run(judge.Pass, file("a", judge.Pass), file("c", judge.Fail), file("d", judge.Pass)),
			"2 scenarios new; 1 scenario not played this time"},
		{run(judge.Skipped, file("a", judge.Pass)), run(judge.Pass, file("a", judge.Pass)), "OFF-2 was SKIPPED and is PASS"},
		{run(judge.Skipped, file("a", judge.Pass)), run(judge.Pass, file("a", judge.Pass), file("b", judge.Pass)), "1 scenario new"},
		{run(judge.Pass, file("a", judge.Pass), file("a", judge.Fail)), run(judge.Pass, file("a", judge.Fail), file("a", judge.Pass)), "every verdict is the same"},
		{run(judge.Pass, many...), run(judge.Pass, better...), "a was FAIL and is PASS; b was FAIL and is PASS; c was FAIL and is PASS; d was FAIL and is PASS; " +
			"e was FAIL and is PASS; f was FAIL and is PASS; g was FAIL and is PASS; h was FAIL and is PASS; i was FAIL and is PASS; j was FAIL and is PASS; " +
			"k was FAIL and is PASS; l was FAIL and is PASS; 4 more changes"},
	} {
		if got := Since(c.was, c.now); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
