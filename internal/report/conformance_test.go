package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

func TestScore(t *testing.T) {
	t.Parallel()
	step := func(line int, status judge.Status, clauses ...string) *Step {
		return &Step{Line: line, Status: status, Clauses: clauses, Asserts: true}
	}
	table := &Step{Line: 7, Status: judge.Fail, Clauses: []string{"CMD-5"}, Asserts: true,
		Children: []*Step{step(7, judge.Pass, "CMD-5"), step(7, judge.Fail, "CMD-5"), step(7, judge.Pass, "CMD-5")}}
	charged := step(9, judge.Pass, "CMD-5")
	charged.Charges = []Charge{{Clauses: []string{"CMD-1"}, Status: judge.Fail}}
	prepares := step(11, judge.Pass, "CMD-5")
	prepares.Asserts = false
	res := Result{
		Scores: []Score{{Clause: "CMD-1", Checks: 9, Possible: 4}, {Clause: "CMD-5", Checks: 12, Possible: 6}, {Clause: "OFF-2", Checks: 3}},
		Files: []FileResult{
			{Path: "a.yaml", Steps: []*Step{step(3, judge.Pass, "CMD-1", "CMD-5"), {Line: 4, Children: []*Step{step(5, judge.Skipped, "CMD-5"), table}}, charged, prepares}},
			{Path: "b.yaml", Steps: []*Step{step(3, judge.Pass, "CMD-5")}},
		},
	}
	res.score()
	for i, want := range []string{
		"CMD-1 · 4 of 9 checks possible with a key only, 1 passed, 1 broken, 2 not run",
		"CMD-5 · 6 of 12 checks possible with a key only, 3 passed, 1 broken, 2 not run",
		"OFF-2 · 0 of 3 checks possible with a key only, 0 passed",
	} {
		if got := res.Scores[i].String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	two := joined(Result{}, []Result{res, res})
	if got, want := two.Scores[1].String(), "CMD-5 · 12 of 24 checks possible with a key only, 6 passed, 2 broken, 4 not run"; got != want {
		t.Errorf("two shards: got %q, want %q", got, want)
	}
	for name, write := range formats {
		if strings.HasSuffix(name, ".xml") || strings.HasSuffix(name, ".tap") || strings.HasSuffix(name, ".json") {
			continue
		}
		var b bytes.Buffer
		if err := write(&b, res); err != nil || !strings.Contains(b.String(), "6 of 12 checks possible") {
			t.Errorf("%s: %v, want the score in it", name, err)
		}
	}
}
