package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
)

// TestSchema: every written report fits its schema, and misfits are detected.
func TestSchema(t *testing.T) {
	t.Parallel()
	raw := must.Get(report.Schema())(t)
	doc := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(raw)))(t)
	c := jsonschema.NewCompiler()
	must.OK(t, c.AddResource("report.json", doc))
	schema := must.Get(c.Compile("report.json"))(t)
	for name, res := range map[string]report.Result{"pass": passing(), "fail": failing(), "invalid": invalid()} {
		text := render(t, "verdicts.json", res)
		var v any
		must.OK(t, json.Unmarshal([]byte(text), &v))
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, wrong := range []string{`"schema": 1`, `"status": "` + string(res.Status) + `"`} {
			var bad any
			must.OK(t, json.Unmarshal([]byte(strings.Replace(text, wrong, wrong[:strings.Index(wrong, ":")]+`: "other"`, 1)), &bad))
			if schema.Validate(bad) == nil {
				t.Errorf("%s: %s may be anything, want that the schema refuses another value", name, wrong)
			}
		}
	}
}

// TestSameFailures: every format shows each failure with its file and line, and with what was sent, answered and
// counted.
func TestSameFailures(t *testing.T) {
	t.Parallel()
	res := failing()
	for _, name := range []string{"junit.xml", "report.tap", "summary.md", "report.txt", "report.html", "verdicts.json"} {
		text := render(t, name, res)
		text = strings.NewReplacer("&#34;", `"`, "&lt;", "<", "&gt;", ">", "&#39;", "'", `\"`, `"`, `\n`, "\n").Replace(text)
		for _, want := range []string{"expected result opened, found result denied", "/core/v1/auth/apikey/token", "device_refused", "connection refused", "records", "recordId",
			"cmd_1 actuated 2 times"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
		if strings.Contains(text, "01012345678") {
			t.Errorf("%s shows a phone", name)
		}
		place := map[string]string{"junit.xml": `file="scenarios/outage_36h.yaml" line="3"`, "report.tap": "line: 3", "verdicts.json": `"line": 3`}[name]
		if place == "" {
			place = "scenarios/outage_36h.yaml:3"
		}
		if !strings.Contains(text, place) {
			t.Errorf("%s lacks the place %q", name, place)
		}
	}
}

// TestJUnitHasItsZeros: a reader finds every count, also one that is 0.
func TestJUnitHasItsZeros(t *testing.T) {
	t.Parallel()
	text := render(t, "junit.xml", report.Result{Files: []report.FileResult{{Path: "a.yaml", Status: judge.Pass}}})
	for _, tag := range regexp.MustCompile(`<testsuites? [^>]*>`).FindAllString(text, -1) {
		for _, count := range []string{"tests", "failures", "errors", "skipped"} {
			if !regexp.MustCompile(` ` + count + `="\d+"`).MatchString(tag) {
				t.Errorf("%s lacks the count %s", tag, count)
			}
		}
	}
}

// TestTAP: the plan's count equals the tests that follow, which are those of junit.xml, and no other line looks like
// a test.
func TestTAP(t *testing.T) {
	t.Parallel()
	res := failing()
	text := render(t, "report.tap", res)
	cases := strings.Count(render(t, "junit.xml", res), "<testcase ")
	if want := fmt.Sprintf("TAP version 13\n1..%d\n", cases); !strings.HasPrefix(text, want) {
		t.Errorf("got %.40q..., want %q: a test for each case of junit.xml", text, want)
	}
	known, n := regexp.MustCompile(`^(TAP version 13|1\.\.\d+|(not )?ok \d+ - .*|  .*|#.*)$`), 0
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if !known.MatchString(line) {
			t.Errorf("%q is not a line of TAP", line)
		}
		if strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "not ok ") {
			if n++; !strings.Contains(line, fmt.Sprintf("ok %d - ", n)) {
				t.Errorf("got %q as test %d, want %q in it", line, n, fmt.Sprintf("ok %d - ", n))
			}
		}
	}
	if n != cases {
		t.Errorf("got %d tests, want %d", n, cases)
	}
}

// TestBarsInSummary: a bar is escaped where it would end a table's cell, and only there.
func TestBarsInSummary(t *testing.T) {
	t.Parallel()
	res := report.Result{Files: []report.FileResult{{Path: "a.yaml", Name: "c || d", Status: judge.Fail, Steps: []*report.Step{
		{Name: "a || b", Line: 4, Status: judge.Fail, Detail: "no"}}}}}
	res.Settle(nil)
	text := render(t, "summary.md", res)
	for _, want := range []string{"<b>a || b</b>", `c \|\| d`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// TestPreparationIsNoTest: a step that the target can't make fail isn't a test case until it goes wrong, and a case
// says how it was reached.
func TestPreparationIsNoTest(t *testing.T) {
	t.Parallel()
	inner := &report.Step{Name: "open", Line: 4, Status: "PASS", Asserts: true}
	res := report.Result{Files: []report.FileResult{{Path: "a.yaml", Status: "PASS", Steps: []*report.Step{
		{Name: "cohort", Line: 2, Status: "PASS"}, {Name: "at night", Line: 3, Status: "PASS", Children: []*report.Step{inner}}}}}}
	res.Settle(nil)
	var got struct {
		Suites []struct {
			Cases []struct {
				Name string `xml:"name,attr"`
				Line int    `xml:"line,attr"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	must.OK(t, xml.Unmarshal([]byte(render(t, "junit.xml", res)), &got))
	if c := got.Suites[0].Cases; len(c) != 1 || c[0].Name != "02 at night › open" || c[0].Line != 4 {
		t.Errorf("got the cases %+v, want the one that asserts, with its way and line 4", c)
	}
}

// TestTerminal: each scenario appears once, clauses that nothing exercised share one line, failures have a location,
// and colours change no word.
func TestTerminal(t *testing.T) {
	t.Parallel()
	res := failing()
	var plain, colored strings.Builder
	must.OK(t, errors.Join(report.WriteBrief(&plain, res, report.Plain), report.WriteBrief(&colored, res, report.Colored)))
	for _, f := range res.Files {
		name := strings.TrimSuffix(filepath.Base(f.Path), ".yaml")
		if n := len(regexp.MustCompile(`(?m)^[A-Z]+ +`+name+` `).FindAllString(plain.String(), -1)); n != 1 {
			t.Errorf("%s stands there %d times, want once:\n%s", name, n, plain.String())
		}
	}
	if n := strings.Count(plain.String(), "not exercised"); n != 1 || !strings.Contains(plain.String(), "\n32 guarantees not exercised (report.html lists them)\n") {
		t.Errorf("got %d lines of what wasn't exercised, want one with its number", n)
	}
	for _, said := range []string{"expected result opened", "1 of 1 broke it: cmd_1 actuated 2 times", "set-up: only 0 boards", "only 20 commands/s"} {
		of := 1
		if strings.HasPrefix(said, "1 of 1") {
			of = 2 // guarantees are broken by it
		}
		if n := strings.Count(plain.String(), said); n != of {
			t.Errorf("%q stands there %d times, want %d", said, n, of)
		}
	}
	if !strings.Contains(plain.String(), "at scenarios/outage_36h.yaml:3\n") {
		t.Errorf("the failure's location is missing:\n%s", plain.String())
	}
	if got := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(colored.String(), ""); got != plain.String() || colored.String() == plain.String() {
		t.Errorf("without its colours the text differs (-plain +colored):\n%s", cmp.Diff(plain.String(), got))
	}
}

// TestBreachStands: a breach is shown with the step that was running when it happened; if there were several, with
// the one about that guarantee.
func TestBreachStands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		clause string // of the background step
		from   float64
		want   int
	}{
		"the one about it": {"CMD-1", 0, 4},
		"the latest":       {"SYNC-1", 0, 6},
		"not yet played":   {"CMD-1", 1, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from := began.Add(time.Duration(c.from * float64(time.Second)))
			res := report.Result{Started: began, Seconds: 2, Files: []report.FileResult{{Path: "a.yaml", Status: judge.Pass, Started: began, Seconds: 2, Steps: []*report.Step{
				{Name: "load", Line: 4, Status: judge.Pass, Clauses: []string{c.clause}, Started: from, Seconds: 1},
				{Name: "group", Line: 5, Status: judge.Pass, Started: began, Seconds: 1, Children: []*report.Step{
					{Name: "meanwhile", Line: 6, Status: judge.Pass, Started: began, Seconds: 1}}},
				{Name: "later", Line: 7, Status: judge.Pass, Started: began.Add(time.Second), Seconds: 1},
			}}}}
			res.Settle(events())
			if got := report.Failures(res)[0]; !strings.HasPrefix(got.Title, "CMD-1 ") || got.Line != c.want {
				t.Errorf("got %s at %s, want CMD-1 at line %d", got.Title, got.Where(), c.want)
			}
		})
	}
}

// TestVerdictOfTheWhole: what keeps a run from PASS and belongs to no scenario and no guarantee is a case of its own in
// JUnit and TAP, where CI looks, whatever else failed.
func TestVerdictOfTheWhole(t *testing.T) {
	t.Parallel()
	settled := func(change func(*report.Result)) report.Result {
		res := report.Result{Files: []report.FileResult{{Path: "a.yaml", Name: "a", Status: judge.Pass}}}
		change(&res)
		res.Settle(tokenUsed())
		return res
	}
	failed := shardDir(t, 1, func(r *report.Result) { r.Files[0].Status, r.Files[0].Reason = judge.Fail, "a door moved twice" })
	for name, c := range map[string]struct {
		res    report.Result
		status judge.Status
		want   string
	}{
		"sound":                      {settled(func(*report.Result) {}), judge.Pass, ""},
		"a shard is missing":         {report.Merge(shardDir(t, 1, func(*report.Result) {})), judge.Invalid, "shard 2/2 is missing"},
		"and a scenario failed, too": {report.Merge(failed), judge.Invalid, "shard 2/2 is missing"},
		"trouble":                    {settled(func(r *report.Result) { r.Trouble = "the history ended early" }), judge.Blocked, "the history ended early"},
		"a fault never acted":        {report.Join(report.Result{Whole: true}, []report.Result{played(driven(func(string) int { return 0 }))}), judge.Invalid, "never acted during the whole suite: "},
		"nothing was exercised":      {report.Join(report.Result{}, []report.Result{played(report.Result{Files: []report.FileResult{{Path: "a.yaml", Status: judge.Pass}}})}), judge.Invalid, "no guarantee was exercised: "},
		"a scenario that is named run": {settled(func(r *report.Result) {
			r.Files[0] = report.FileResult{Path: "run.yaml", Name: "run", Status: judge.Blocked, Reason: "no boards"}
		}), judge.Pass, ""},
		"unreachable, judged again": {settled(func(r *report.Result) {
			r.Unreached, r.Reason, r.Require = true, "connection refused", []string{"CMD-1"}
		}), judge.Blocked, "connection refused"},
		"unreachable": {report.Result{Status: judge.Blocked, Unreached: true, Reason: "connection refused"}, judge.Blocked, "connection refused"},
	} {
		junit, tap := render(t, "junit.xml", c.res), render(t, "report.tap", c.res)
		line := "- run: the run counts"
		if c.status == judge.Pass {
			if !regexp.MustCompile(`(?m)^ok \d+ ` + line + `$`).MatchString(tap) {
				t.Errorf("%s: got\n%s, want a case of the run that passed", name, tap)
			}
			continue
		}
		if want := fmt.Sprintf(`<error message="%s[^"]*" type="%s">`, c.want, c.status); !regexp.MustCompile(want).MatchString(junit) {
			t.Errorf("%s: junit.xml has no %s:\n%s", name, want, junit)
		}
		if !regexp.MustCompile(`(?m)^not ok \d+ `+line+`$`).MatchString(tap) || !strings.Contains(tap, c.want) {
			t.Errorf("%s: report.tap has no line \"not ok %s\", or not %q:\n%s", name, line, c.want, tap)
		}
	}
}

// TestTitleOfACall: the title of a failed call says what was called; the name of its step, by which test reports know it
// again, stays as the file has it.
func TestTitleOfACall(t *testing.T) {
	t.Parallel()
	asked := []report.Exchange{{Method: "GET", URL: "/permits/pmt_1"}, {Method: "GET", URL: "/permits/pmt_2"}}
	for want, s := range map[string]report.Step{
		"call GET /permits/pmt_2":         {Name: "call GET /permits/${id}", Exchanges: asked},
		"call GET /permits/pmt_2 [row=1]": {Name: "call GET /permits/${row} [row=1]", Exchanges: asked},
		"call GET /permits":               {Name: "call GET /permits", Exchanges: asked},
		"call GET /permits/${id}":         {Name: "call GET /permits/${id}"},
		"the permit of ${id}":             {Name: "the permit of ${id}", Exchanges: asked},
	} {
		s.Verb, s.Status = "call", judge.Fail
		res := report.Result{Files: []report.FileResult{{Path: "a.yaml", Status: judge.Fail, Steps: []*report.Step{{Name: "a group", Verb: "group", Status: judge.Fail, Children: []*report.Step{&s}}}}}}
		if got := report.Failures(res)[0].Title; got != "a group › "+want {
			t.Errorf("%s: got title %q, want %q", s.Name, got, want)
		}
		if junit := render(t, "junit.xml", res); !strings.Contains(junit, s.Name) {
			t.Errorf("junit.xml lacks the name %q", s.Name)
		}
	}
}

// TestPlantedOnTerminal: the terminal tells of planted bugs after a run of the whole suite, the text report after each,
// and names what wasn't exercised if it is little.
func TestPlantedOnTerminal(t *testing.T) {
	t.Parallel()
	res := report.Result{Status: judge.Pass, Ledger: []judge.Row{{Clause: "CMD-1", Status: judge.Pass, Number: "3 commands", Planted: "its checks catch 2 of 2 planted bugs"},
		{Clause: "CMD-2", Status: judge.Skipped, Number: "not exercised"}}}
	for _, res.Whole = range []bool{false, true} {
		var brief, text strings.Builder
		must.OK(t, errors.Join(report.WriteBrief(&brief, res, report.Plain), report.WriteTable(&text, res)))
		if strings.Contains(brief.String(), "planted") != res.Whole || !strings.Contains(text.String(), "planted") {
			t.Errorf("the whole suite: %v; planted bugs on the terminal: %v, in report.txt: %v", res.Whole, !res.Whole, strings.Contains(text.String(), "planted"))
		}
		if !strings.Contains(brief.String(), "\nnot exercised: CMD-2\n") {
			t.Errorf("the terminal doesn't name what wasn't exercised:\n%s", brief.String())
		}
	}
}
