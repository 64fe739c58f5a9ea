package report_test

import (
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
)

// TestOwnAxis: a scenario's first failure is shown on the scenario's own axis, with its own steps, faults and
// openings and none from another world.
func TestOwnAxis(t *testing.T) {
	t.Parallel()
	at := func(s float64) time.Time { return began.Add(time.Duration(s * 1e9)) }
	step := func(name string, line int, from, took float64, status judge.Status) *report.Step {
		return &report.Step{Name: name, Line: line, Started: at(from), Seconds: took, Status: status, Verb: "expect", Detail: "no"}
	}
	res := report.Result{Started: began, Seconds: 60, Files: []report.FileResult{
		{Path: "good.yaml", Name: "good", Status: judge.Pass, Started: at(0), Seconds: 30, Steps: []*report.Step{step("quiet", 2, 0, 30, judge.Pass)}},
		{Path: "bad.yaml", Name: "bad", Status: judge.Fail, Started: at(10), Seconds: 4, Armed: []report.Span{{Fault: "silent", From: at(11), To: at(13), Hits: 2}},
			Steps: []*report.Step{step("opens", 3, 10, 2, judge.Pass), step("expects", 7, 12, 1, judge.Fail), step("expects again", 9, 13, 1, judge.Fail)}},
	}}
	opening := func(s float64, seq int64) history.Event {
		return history.Event{Seq: seq, Kind: history.Actuation, Action: "pulse", WallNs: at(s).UnixNano(), At: at(s).UnixMilli()}
	}
	res.Events = []history.Event{{Kind: history.World, Text: "good.yaml"}, opening(12, 1), opening(12.1, 2), {Kind: history.World, Text: "bad.yaml"}, opening(12.5, 3),
		opening(14.1, 4), opening(14.1, 5)} // after its end
	var page strings.Builder
	must.OK(t, report.WriteHTML(&page, res))
	_, own, found := strings.Cut(page.String(), `<details class="own">`)
	if !found {
		t.Fatal("no failure has its scenario's axis")
	}
	own, rest, _ := strings.Cut(own, "</details>")
	for _, want := range []string{"PASS line 3: opens, 2 s", "FAIL line 7: expects, 1 s", "silent in bad: 2 hits", ">line 7<", "Doors opened"} {
		if !strings.Contains(own, want) {
			t.Errorf("the scenario's axis lacks %q:\n%s", want, own)
		}
	}
	if strings.Contains(own, "quiet") || !strings.Contains(own, `top:0%">2<`) || !strings.Contains(own, "per 20 ms, according") { // one opening in a bar of 4 s / 200; with the others' the axis would go further than 2
		t.Errorf("the scenario's axis has what another one did:\n%s", own)
	}
	if strings.Contains(rest, `class="own"`) {
		t.Error("the scenario's second failure has the axis, too, want it once")
	}
}
