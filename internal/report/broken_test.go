package report_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
)

// passed is a file whose only step passed.
func passed(path string, at time.Time) report.FileResult {
	return report.FileResult{Path: path, Name: path, Clauses: []string{"CMD-1"}, Status: judge.Pass, Started: at, Seconds: 1, Steps: []*report.Step{
		{Name: "open", Verb: "command", Line: 4, Asserts: true, Status: judge.Pass, Clauses: []string{"CMD-1"}, Started: at, Seconds: 1}}}
}

// once is the history of events, but the relay moved once.
func once() []history.Event {
	out := events()
	for i := range out {
		if out[i].Kind == history.Received {
			out[i].Result = "ok"
		}
	}
	i := slices.IndexFunc(out, func(e history.Event) bool { return e.Kind == history.Actuation })
	return slices.Delete(out, i, i+1)
}

// later is a history that began so much later.
func later(list []history.Event, by time.Duration) []history.Event {
	for i := range list {
		list[i].At += by.Milliseconds()
		list[i].WallNs += by.Nanoseconds()
	}
	return list
}

const movedTwice = "cmd_1 actuated 2 times"

// TestBrokenInItsWorld: a file whose steps passed is FAIL if a checker found a guarantee broken in its world, everywhere that
// its verdict is told. A later judgement that finds nothing gives it back.
func TestBrokenInItsWorld(t *testing.T) {
	t.Parallel()
	res := report.Result{Started: began, Files: []report.FileResult{passed("a.yaml", began)}}
	res.Settle(events())
	f := res.Files[0]
	if f.Status != judge.Fail || !strings.Contains(f.Reason, movedTwice) || len(f.Broken) == 0 || f.Broken[0].Line != 4 {
		t.Errorf("got %s %q, broken %+v, want FAIL with the checker's sentence, at line 4", f.Status, f.Reason, f.Broken)
	}
	for name, want := range map[string]string{
		"report.txt":    "FAIL     a ",
		"summary.md":    "| ❌ | `a` a.yaml | 1.0 s | CMD-1: 1 of 1 broke it: " + movedTwice,
		"verdicts.json": `"broken": [`,
		"report.tap":    "a: CMD-1 ",
	} {
		if text := render(t, name, res); !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", name, want, text)
		}
	}
	suite, _, _ := strings.Cut(render(t, "junit.xml", res), "</testsuite>")
	if !strings.Contains(suite, `name="a"`) || !strings.Contains(suite, "<failure ") || !strings.Contains(suite, movedTwice) || !strings.Contains(suite, `line="4"`) {
		t.Errorf("the file's suite has no failure with %q:\n%s", movedTwice, suite)
	}
	for _, failure := range report.Failures(res) {
		if failure.Bad == nil {
			t.Errorf("got the failure %q, want only the guarantees, which say it", failure.Title)
		}
	}
	if got := res.ExitCode(); got != 4 {
		t.Errorf("got exit code %d, want 4", got)
	}
	if res.Settle(once()); res.Files[0].Status != judge.Pass || res.Files[0].Reason != "" || res.Files[0].Broken != nil {
		t.Errorf("judged again without the breach: got %+v, want PASS", res.Files[0])
	}
}

// TestBrokenInOneWorld: a breach belongs to the file of its world, in a joined result and in one that is read and judged
// again.
func TestBrokenInOneWorld(t *testing.T) {
	t.Parallel()
	var parts []report.Result
	for i, list := range [][]history.Event{once(), later(events(), 10*time.Second)} {
		p := report.Result{Files: []report.FileResult{passed([]string{"a.yaml", "b.yaml"}[i], began.Add(time.Duration(i)*10*time.Second))}}
		p.Settle(list)
		parts = append(parts, p)
	}
	res := report.Join(report.Result{Started: began}, parts)
	dir := t.TempDir()
	must.OK(t, report.WriteDir(dir, res))
	again := must.Get(report.Judge(dir))(t)
	for name, r := range map[string]report.Result{"joined": res, "judged again": again} {
		a, b := r.Files[0], r.Files[1]
		if a.Status != judge.Pass || b.Status != judge.Fail || !strings.Contains(b.Reason, movedTwice) {
			t.Errorf("%s: got %s and %s %q, want PASS and FAIL", name, a.Status, b.Status, b.Reason)
		}
		if !strings.Contains(report.Line(r), "2 scenarios (1 pass, 1 fail)") {
			t.Errorf("%s: got %q, want 1 pass, 1 fail", name, report.Line(r))
		}
	}
}

// TestBrokenOnASharedTarget: there a breach belongs to the file that was being played, and to none if it came before the
// first or if somebody else gave the command.
func TestBrokenOnASharedTarget(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at     time.Duration // of the breach
		others bool
		want   []judge.Status
	}{
		"while the first was played":         {500 * time.Millisecond, false, []judge.Status{judge.Fail, judge.Pass}},
		"while the first was put away":       {5 * time.Second, false, []judge.Status{judge.Fail, judge.Pass}},
		"while the second was played":        {10100 * time.Millisecond, false, []judge.Status{judge.Pass, judge.Fail}},
		"before the first":                   {-5 * time.Second, false, []judge.Status{judge.Pass, judge.Pass}},
		"somebody else's during the second ": {10100 * time.Millisecond, true, []judge.Status{judge.Pass, judge.Pass}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := later(events(), c.at)
			if c.others {
				list = slices.DeleteFunc(list, func(e history.Event) bool { return e.Kind == history.Attempt || e.Kind == history.Answer })
			}
			start := began.Add(-10 * time.Second)
			list = append([]history.Event{{Kind: history.Begun, At: start.UnixMilli(), WallNs: start.UnixNano()}}, list...)
			res := report.Result{Started: began, Files: []report.FileResult{passed("a.yaml", began), passed("b.yaml", began.Add(10*time.Second))}}
			res.Settle(list)
			if res.Status != judge.Fail {
				t.Errorf("the run: got %s, want FAIL", res.Status)
			}
			for i, want := range c.want {
				if f := res.Files[i]; (f.Status == judge.Fail) != (want == judge.Fail) {
					t.Errorf("%s: got %s %q, want %s", f.Path, f.Status, f.Reason, want)
				}
			}
		})
	}
}
