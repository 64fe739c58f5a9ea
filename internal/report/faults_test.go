package report_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/faults"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
)

// driven is a run with one file per fault, each with so many hits.
func driven(hits func(name string) int) report.Result {
	res := report.Result{Whole: true}
	for _, f := range faults.All {
		res.Files = append(res.Files, report.FileResult{Path: f.Name + ".yaml", Status: judge.Pass,
			Faults: []report.FaultUse{{Fault: f.Name, Hits: hits(f.Name), Clauses: map[string]int{"CMD-5": 2}}}})
	}
	for _, c := range judge.Clauses() {
		res.Verdicts = append(res.Verdicts, judge.Verdict{Clause: c, Status: judge.Pass, Checked: 1})
	}
	return res
}

// played is the part of a run that has these files and verdicts.
func played(res report.Result) report.Result {
	part := report.Result{Files: res.Files}
	part.SettleVerdicts(events(), res.Verdicts)
	return part
}

// TestIdleFaultIsInvalid: the complete built-in suite is INVALID if a fault did nothing in it. A selection of files,
// or a target that lacks something, is held to less.
func TestIdleFaultIsInvalid(t *testing.T) {
	t.Parallel()
	idle := func(name string) int {
		if name == "skew" {
			return 0
		}
		return 1
	}
	for name, c := range map[string]struct {
		change func(*report.Result)
		want   judge.Status
		reason string
	}{
		"no hit":      {func(*report.Result) {}, judge.Invalid, "never acted during the whole suite: skew; add a scenario in which each of these faults acts"},
		"not armed":   {func(r *report.Result) { r.Files = r.Files[:len(r.Files)-1] }, judge.Invalid, "never acted during the whole suite: skew, " + faults.All[len(faults.All)-1].Name},
		"a selection": {func(r *report.Result) { r.Whole = false }, judge.Pass, ""},
		"one skipped": {func(r *report.Result) { r.Files[0].Status = judge.Skipped }, judge.Pass, ""},
		"and a breach": {func(r *report.Result) {
			r.Verdicts[0].Status, r.Verdicts[0].FirstBad = judge.Fail, &judge.Bad{Why: "broken"}
		}, judge.Fail, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res := driven(idle)
			c.change(&res)
			res = report.Join(report.Result{Whole: res.Whole}, []report.Result{played(res)})
			if res.Status != c.want || !strings.Contains(res.Reason, c.reason) {
				t.Errorf("got %s %q, want %s %q", res.Status, res.Reason, c.want, c.reason)
			}
		})
	}
	all := driven(func(string) int { return 1 })
	if res := report.Join(report.Result{Whole: true}, []report.Result{played(all)}); res.Status != judge.Pass {
		t.Errorf("every fault hit: %s %q, want PASS", res.Status, res.Reason)
	}
}

// TestWholeSuiteProvesEverything: a clause without evidence makes the complete suite INVALID even without
// --require-clause.
func TestWholeSuiteProvesEverything(t *testing.T) {
	t.Parallel()
	for whole, want := range map[bool]judge.Status{true: judge.Invalid, false: judge.Pass} {
		all := driven(func(string) int { return 1 })
		all.Verdicts[3].Checked, all.Verdicts[3].Status = 0, judge.Skipped
		res := report.Join(report.Result{Whole: whole}, []report.Result{played(all)})
		if res.Status != want || whole && !strings.Contains(res.Reason, all.Verdicts[3].Clause+": required") {
			t.Errorf("whole %v: got %s %q, want %s", whole, res.Status, res.Reason, want)
		}
	}
}

// TestFaultMatrix: hits and assertions are added up over files, and every report shows them.
func TestFaultMatrix(t *testing.T) {
	t.Parallel()
	use := func(fault string, hits int, clauses map[string]int) []report.FaultUse {
		return []report.FaultUse{{Fault: fault, Hits: hits, Clauses: clauses}}
	}
	res := report.Result{Files: []report.FileResult{
		{Path: "a.yaml", Status: judge.Pass, Faults: use("reorder", 2, map[string]int{"CMD-1": 1, "ENT-4": 7})},
		{Path: "b.yaml", Status: judge.Pass, Faults: use("silent", 4, map[string]int{"CMD-4": 3})},
		{Path: "c.yaml", Status: judge.Pass, Faults: use("reorder", 3, map[string]int{"CMD-1": 4})},
	}}
	res.Settle(nil)
	want := append(use("silent", 4, map[string]int{"CMD-4": 3}), use("reorder", 5, map[string]int{"CMD-1": 5, "ENT-4": 7})...)
	var got struct{ Faults []report.FaultUse }
	must.OK(t, json.Unmarshal([]byte(render(t, "verdicts.json", res)), &got))
	if d := cmp.Diff(want, got.Faults); d != "" {
		t.Errorf("verdicts.json (-want +got):\n%s", d)
	}
	for name, line := range map[string]string{
		"report.txt": "reorder           5  ENT-4 (7), CMD-1 (5)", "summary.md": "| `reorder` | 5 | ENT-4 (7), CMD-1 (5) |",
		// The columns are the clauses of all faults, in report order: ENT-4, CMD-1, CMD-4.
		"report.html": `<td><code>reorder</code></td><td class="n">5</td><td class="n">7</td><td class="n">5</td><td class="n"></td>`,
	} {
		if text := render(t, name, res); !strings.Contains(text, line) {
			t.Errorf("%s lacks %q:\n%s", name, line, text)
		}
	}
}

// If a file claims a guarantee of which the checker saw nothing, it asserted something else. A single step may claim
// one beside what was seen.
func TestAClaimOfWhatNeverHappened(t *testing.T) {
	t.Parallel()
	told := []history.Event{{Kind: history.Online, PlaceID: "plc_1", BoardID: "brd_1", At: 1, Epoch: 1}}
	for name, tc := range map[string]struct {
		file, step []string
		bad        string
	}{
		"the file's":                            {file: []string{"OFF-2"}, step: []string{"OFF-2"}, bad: "OFF-2"},
		"one of two":                            {file: []string{"OWN-1", "CMD-5"}, step: []string{"OWN-1", "CMD-5"}, bad: "CMD-5"},
		"a step's":                              {step: []string{"HRS-2"}, bad: "HRS-2"},
		"a step's beside one without a checker": {step: []string{"OWN-1", "HRS-2"}},
		"a situation's beside one":              {step: []string{"OWN-1", "OFF-1"}, bad: "OFF-1"},
		"no checker":                            {file: []string{"OWN-1"}, step: []string{"OWN-1"}},
	} {
		res := report.Result{Files: []report.FileResult{{Path: "x.yaml", Status: judge.Pass, Clauses: tc.file,
			Steps: []*report.Step{{Name: "nothing moved", Status: judge.Pass, Asserts: true, Clauses: tc.step}}}}}
		res.Settle(told)
		got := res.Files[0]
		if tc.bad == "" && got.Status != judge.Pass || tc.bad != "" && (got.Status != judge.Invalid || !strings.Contains(got.Reason, "it claims "+tc.bad+", but ")) {
			t.Errorf("%s: %s %q, want it INVALID for %q", name, got.Status, got.Reason, tc.bad)
		}
	}
}

// TestUnfitClaims: a clause that a step claims beside others counts only if what happened somewhere has to do with it.
func TestUnfitClaims(t *testing.T) {
	t.Parallel()
	const why = "the decision had another reason (line 7: let in)"
	let := &report.Step{Name: "let in", Line: 7, Status: judge.Pass, Asserts: true, Clauses: []string{"OWN-1"}, Unfit: map[string]string{"OWN-2": why}}
	other := &report.Step{Name: "another", Line: 9, Status: judge.Pass, Asserts: true, Clauses: []string{"OWN-2"}}
	rows := &report.Step{Name: "rows", Line: 7, Status: judge.Pass, Asserts: true, Clauses: []string{"OWN-1", "OWN-2"}, Children: []*report.Step{let}}
	for name, tc := range map[string]struct {
		steps []*report.Step
		want  string
	}{
		"nowhere else": {[]*report.Step{let}, "it claims OWN-2, but only where " + why},
		"of its rows":  {[]*report.Step{rows}, "it claims OWN-2, but only where " + why},
		"elsewhere":    {[]*report.Step{let, other}, ""},
	} {
		res := report.Result{Files: []report.FileResult{{Path: "x.yaml", Status: judge.Pass, Steps: tc.steps}}}
		res.Settle(nil)
		if got := res.Files[0]; got.Reason != tc.want || (got.Status == judge.Pass) != (tc.want == "") {
			t.Errorf("%s: %s %q, want %q", name, got.Status, got.Reason, tc.want)
		}
	}
}
