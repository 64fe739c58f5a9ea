package report_test

import (
	"encoding/xml"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
)

// twice is a file that was played twice at the same time, each in a world of its own. Both plays have a step that failed;
// the second opened twice for one command, which broke CMD-5.
func twice(t *testing.T) report.Result {
	t.Helper()
	var parts []report.Result
	for n := range 2 {
		step := &report.Step{Name: "expects", Line: 3, Status: judge.Fail, Detail: "no", Started: began, Seconds: 2}
		p := report.Result{Started: began, Seconds: 2, Files: []report.FileResult{{Path: "t4.yaml", Play: n + 1, Plays: 2, Name: fmt.Sprintf("t4 (%d of 2)", n+1),
			Status: judge.Fail, Reason: "line 3: no", Started: began, Seconds: 2, Steps: []*report.Step{step}}}}
		told := events()
		if n == 0 {
			told = slices.DeleteFunc(told, func(e history.Event) bool { return e.Seq == 9 })
		}
		p.Settle(told)
		parts = append(parts, p)
	}
	return report.Join(report.Result{Schema: report.SchemaVersion, Started: began, Seconds: 2}, parts)
}

// TestPlaysAreToldApart: every report says which play of a repeated file it is about, and each play has its own axis.
func TestPlaysAreToldApart(t *testing.T) {
	t.Parallel()
	res := twice(t)
	for _, format := range []string{"report.txt", "summary.md", "report.html", "report.tap", "verdicts.json"} {
		for _, want := range []string{"(1 of 2)", "(2 of 2)"} {
			if !strings.Contains(render(t, format, res), want) {
				t.Errorf("%s doesn't have %s", format, want)
			}
		}
	}
	var got struct {
		Suites []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Class string `xml:"classname,attr"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	must.OK(t, xml.Unmarshal([]byte(render(t, "junit.xml", res)), &got))
	for i, want := range []string{"t4 (1 of 2)", "t4 (2 of 2)"} {
		if s := got.Suites[i]; s.Name != want || s.Cases[0].Class != want {
			t.Errorf("suite %d: got %+v, want %s", i, s, want)
		}
	}
	if n := strings.Count(render(t, "report.html", res), `<details class="own">`); n != 2 {
		t.Errorf("%d failures have an axis of their own, want one for each play", n)
	}
}

// TestBreachOfAPlay: a breach belongs to the play in whose world it happened: in the run, judged again, and merged.
func TestBreachOfAPlay(t *testing.T) {
	t.Parallel()
	res := twice(t)
	dir := filepath.Join(t.TempDir(), "run")
	must.OK(t, report.WriteDir(dir, res))
	for name, r := range map[string]report.Result{"the run": res, "judged again": must.Get(report.Judge(dir))(t), "merged": report.Merge(dir)} {
		if f := report.Failures(r)[1]; !strings.HasPrefix(f.Title, "CMD-5 ") || f.Where() != "t4.yaml:3 (2 of 2)" {
			t.Errorf("%s: got %s at %s, want CMD-5 at t4.yaml:3 (2 of 2)", name, f.Title, f.Where())
		}
	}
}

// TestAxisOfAPlay: each play's own axis has its own openings, of which no two are in the same hundredth of a second.
func TestAxisOfAPlay(t *testing.T) {
	t.Parallel()
	charts := regexp.MustCompile(`(?s)id="[^"]*-openings".*?top:0%">([0-9]+)<`).FindAllStringSubmatch(render(t, "report.html", twice(t)), -1)
	if len(charts) != 2 {
		t.Fatalf("got %d plots of openings, want one for each play", len(charts))
	}
	for _, c := range charts {
		if c[1] != "2" { // the axis of one opening in a bar; that of two goes up to 4
			t.Errorf("the axis of openings goes up to %s, want 2: one opening in a bar", c[1])
		}
	}
}
