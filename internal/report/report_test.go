package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/vocab"
)

var update = flag.Bool("update", false, "rewrite golden files")

var began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// events are those of a command that moved the relay twice.
func events() []history.Event {
	const place, board, door, cmd = "plc_1", "brd_1", "dor_1", "cmd_1"
	key := history.KeyHash(place, "k")
	in := []history.Event{
		{Kind: history.Started, Text: "server"},
		{Kind: history.Door, PlaceID: place, BoardID: board, DoorID: door, Channel: 1},
		{Kind: history.Online, PlaceID: place, BoardID: board, Epoch: 1},
		{Kind: history.Label, Text: "file idempotency_keys"},
		{Kind: history.Attempt, PlaceID: place, DoorID: door, Key: key, Request: "r1", Method: "POST", Route: "/device/v1/devices/{id}/commands", Meaning: "dor_1 open"},
		{Kind: history.Intent, PlaceID: place, DoorID: door, CommandID: cmd, Key: key, Op: "open"},
		{Kind: history.Publish, PlaceID: place, BoardID: board, DoorID: door, CommandID: cmd, Key: key, Epoch: 1, NotAfterMs: 5000, Op: "open"},
		{Kind: history.Actuation, PlaceID: place, BoardID: board, DoorID: door, Channel: 1, Boot: 1, Action: "pulse", Cause: "command", CommandID: cmd},
		{Kind: history.Actuation, PlaceID: place, BoardID: board, DoorID: door, Channel: 1, Boot: 1, Action: "pulse", Cause: "command", CommandID: cmd},
		{Kind: history.Received, BoardID: board, CommandID: cmd, Result: "done"},
		{Kind: history.RecordIn, PlaceID: place, DoorID: door, CommandID: cmd, RecordID: "rec_1", Result: "opened", Reason: "api", Actor: "api:key_1", Text: "default"},
		{Kind: history.Answer, PlaceID: place, DoorID: door, Key: key, Request: "r1", Status: 200, Outcome: vocab.Reported, CommandID: cmd, BodyHash: "aa", Meaning: "dor_1 open"},
	}
	for i := range in {
		in[i].Seq, in[i].At = int64(i+1), began.UnixMilli()+int64(i*5)
		in[i].WallNs = in[i].At * 1e6
	}
	return in
}

// sample is a run with one verdict of each kind.
func sample() report.Result {
	step := func(name string, st judge.Status, detail string, at float64, clauses ...string) *report.Step {
		return &report.Step{Name: name, Verb: "command", Line: 3, Asserts: true, Status: st, Detail: detail, Clauses: clauses, Seconds: 0.25,
			At: began, Started: began.Add(time.Duration(at * float64(time.Second)))}
	}
	table := step("up to 36 h", judge.Fail, "36h: expected opened", 3, "OFF-2")
	table.Children = []*report.Step{
		step("up to 36 h [offset=36h-1s]", judge.Pass, "", 3, "OFF-2"),
		step("up to 36 h [offset=36h]", judge.Fail, "expected result opened, found result denied,\nreason <outage_limit> & more", 3.5, "OFF-2"),
	}
	table.Children[1].Boundary = "36h"
	file := func(path, name string, st judge.Status, reason string, at float64, steps ...*report.Step) report.FileResult {
		return report.FileResult{Path: path, Name: name, Description: "What it shows.", Clauses: []string{"CMD-1"}, Status: st, Reason: reason,
			Started: began.Add(time.Duration(at * float64(time.Second))), Seconds: 2, Steps: steps, Source: []byte("name: " + name + "\nsteps:\n  - name: a step\n    command: {door: shop}\n")}
	}
	res := report.Result{Seed: 7, Started: began, Seconds: 12.5, Config: map[string]any{"boards": 20},
		Target: report.Target{HTTP: "http://127.0.0.1:8080", Tokens: []string{"control-secret-token"},
			Places: []report.Place{{PlaceID: "plc_1", Name: "Store", Kind: "live", APIKey: "sacl_0123456789abcdefghijABCDEFGHIJ012345"}}},
		Files: []report.FileResult{
			file("scenarios/idempotency_keys.yaml", "One key | opens once", judge.Pass, "", 0, step("open one", judge.Pass, "1 of 1", 0, "CMD-1", "CMD-5")),
			file("scenarios/outage_36h.yaml", "37 hours", judge.Fail, "up to 36 h [offset=36h]: expected result opened, found result denied,", 3, table),
			file("scenarios/sync_blocked.yaml", "No board", judge.Blocked, "set-up: only 0 boards", 6),
			file("scenarios/sync_skipped.yaml", "Needs control", judge.Skipped, "needs a control listener", 8),
			file("scenarios/load.yaml", "Too slow", judge.Invalid, "only 20 commands/s", 10, step("load", judge.Invalid, "only 20 commands/s", 10)),
		},
		Assertions: []judge.Assertion{
			{Clause: "CMD-1", Name: "idempotency_keys: open one", Status: judge.Pass},
			{Clause: "OFF-2", Name: "outage_36h: up to 36 h [offset=36h]", Status: judge.Fail, Number: "expected result opened, found result denied,"},
		}}
	res.Settle(events())
	return res
}

var writers = map[string]func(io.Writer, report.Result) error{
	"report.txt": report.WriteTable, "report.tap": report.WriteTAP, "junit.xml": report.WriteJUnit, "verdicts.json": report.WriteJSON,
	"summary.md": report.WriteSummary, "report.html": report.WriteHTML,
}

func render(t *testing.T, name string, res report.Result) string {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, writers[name](&b, res))
	return b.String()
}

func TestGolden(t *testing.T) {
	t.Parallel()
	res := sample()
	for name := range writers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, path := render(t, name, res), filepath.Join("testdata", name)
			if *update {
				must.OK(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want := must.Get(os.ReadFile(path))(t)
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("%s (-want +got):\n%s", path, d)
			}
		})
	}
}

// TestJUnitCounts: the totals a CI system reads agree with the contents of the file.
func TestJUnitCounts(t *testing.T) {
	t.Parallel()
	type testcase struct {
		F *struct{} `xml:"failure"`
		E *struct{} `xml:"error"`
		S *struct{} `xml:"skipped"`
	}
	type suite struct {
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Skipped  int        `xml:"skipped,attr"`
		Cases    []testcase `xml:"testcase"`
	}
	var all struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Suites   []suite  `xml:"testsuite"`
	}
	res := sample()
	res.Files[1].Reason += "\x00 ]]> \x1b[31m" // characters that a terminal would choke on
	res.Files[1].Steps[0].Children[1].Detail += "\x00 ]]> \x1b[31m"
	text := render(t, "junit.xml", res)
	must.OK(t, xml.Unmarshal([]byte(text), &all))
	var sum suite
	for _, s := range all.Suites {
		got := suite{Name: s.Name, Tests: len(s.Cases)}
		for _, c := range s.Cases {
			if c.F != nil {
				got.Failures++
			}
			if c.E != nil {
				got.Errors++
			}
			if c.S != nil {
				got.Skipped++
			}
		}
		if got.Tests != s.Tests || got.Failures != s.Failures || got.Errors != s.Errors || got.Skipped != s.Skipped || s.Tests == 0 {
			t.Errorf("%s: says %d/%d/%d/%d (tests/failures/errors/skipped), want what it has: %+v", s.Name, s.Tests, s.Failures, s.Errors, s.Skipped, got)
		}
		sum.Tests, sum.Failures, sum.Errors, sum.Skipped = sum.Tests+got.Tests, sum.Failures+got.Failures, sum.Errors+got.Errors, sum.Skipped+got.Skipped
	}
	if all.Tests != sum.Tests || all.Failures != sum.Failures || all.Errors != sum.Errors || all.Skipped != sum.Skipped {
		t.Errorf("the whole says %d/%d/%d/%d, want those of the suites, %+v", all.Tests, all.Failures, all.Errors, all.Skipped, sum)
	}
	if len(all.Suites) != len(res.Files)+2 || all.Failures < 3 || all.Errors != 2 {
		t.Errorf("got %d suites, %d failures, %d errors, want %d, at least 3 and 2", len(all.Suites), all.Failures, all.Errors, len(res.Files)+2)
	}
}

// TestPageStandsAlone: the page loads nothing from elsewhere, links nowhere and has no inline event handlers.
func TestPageStandsAlone(t *testing.T) {
	t.Parallel()
	page := render(t, "report.html", sample())
	for _, bad := range []string{`\bsrc\s*=`, `<link\b`, `<script\b[^>]*src`, `fetch\(`, `XMLHttp`, `url\(`, `@import`, `<iframe\b`, `\bon[a-z]+\s*=\s*"`, `href\s*=\s*"http`} {
		if m := regexp.MustCompile(bad).FindString(page); m != "" {
			t.Errorf("the page has %s, want nothing of the kind", m)
		}
	}
	for _, want := range []string{"CMD-1", "cmd_1 actuated 2 times", `aria-label="timeline"`, "&lt;outage_limit&gt; &amp; more", "at 36h", `default-src 'none'`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, c := range judge.Clauses() { // coverage: each clause has its row
		if !strings.Contains(page, `<tr id="`+c+`"`) {
			t.Errorf("the page has no row for %s", c)
		}
	}
}

// TestDirectoryIsJudgedAgain: judging a run directory again gives the same verdicts.
func TestDirectoryIsJudgedAgain(t *testing.T) {
	t.Parallel()
	dir, res := filepath.Join(t.TempDir(), "run"), sample()
	must.OK(t, report.WriteDir(dir, res))
	for _, name := range []string{"config.json", "history.ndjson", "verdicts.json", "junit.xml", "report.txt", "report.tap", "report.html", "summary.md", "scenarios/outage_36h.yaml"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("the run directory lacks a file: %v", err)
		}
	}
	again := must.Get(report.Judge(dir))(t)
	if d := cmp.Diff(res.Ledger, again.Ledger); d != "" {
		t.Errorf("ledger (-first +again):\n%s", d)
	}
	if d := cmp.Diff(res.Verdicts, again.Verdicts); d != "" {
		t.Errorf("verdicts (-first +again):\n%s", d)
	}
	if res.Status != again.Status || again.Status != judge.Fail || again.ExitCode() != 4 || again.Told() != len(res.Events) {
		t.Errorf("status %s then %s, exit %d, %d events then %d; want FAIL twice, 4, and the same number", res.Status, again.Status, again.ExitCode(), len(res.Events), again.Told())
	}
	if _, err := report.Judge(t.TempDir()); err == nil {
		t.Error("an empty directory was judged")
	}
}

// TestAnotherHistoryIsRefused: verdicts belong to the events they were written with. An emptied, shortened or
// exchanged file is refused.
func TestAnotherHistoryIsRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	must.OK(t, report.WriteDir(dir, sample()))
	path := filepath.Join(dir, "history.ndjson")
	whole := must.Get(os.ReadFile(path))(t)
	var other bytes.Buffer
	must.OK(t, history.Write(&other, nil))
	for name, raw := range map[string][]byte{"emptied": nil, "half": whole[:len(whole)/2], "another run's": other.Bytes()} {
		must.OK(t, os.WriteFile(path, raw, 0o644))
		if _, err := report.Judge(dir); err == nil {
			t.Errorf("%s: judged, want an error", name)
		}
	}
}

// TestSecretsStayOut: no file in a run directory contains the target's keys or tokens.
func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	dir, res := t.TempDir(), sample()
	must.OK(t, report.WriteDir(dir, res))
	must.OK(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, secret := range []string{res.Target.Tokens[0], res.Target.Places[0].APIKey} {
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s contains a secret", filepath.Base(path))
			}
		}
		return err
	}))
}

// TestJSON: the verdicts are one JSON object with a row for every clause.
func TestJSON(t *testing.T) {
	t.Parallel()
	var got struct {
		Status string
		Seed   int64
		Ledger []struct{ Clause, Status, Number string }
		Files  []struct{ Name, Status string }
	}
	must.OK(t, json.Unmarshal([]byte(render(t, "verdicts.json", sample())), &got))
	if got.Status != "FAIL" || got.Seed != 7 || len(got.Ledger) != len(judge.Clauses()) || len(got.Files) != 5 {
		t.Errorf("verdicts.json holds %+v, want FAIL, seed 7, a row for each of %d clauses and 5 files", got, len(judge.Clauses()))
	}
}

// TestExitCodes: the worst verdict decides.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	for st, want := range map[judge.Status]int{judge.Pass: 0, judge.Skipped: 0, judge.Fail: 4, judge.Blocked: 4, judge.Invalid: 6} {
		res := report.Result{Files: []report.FileResult{{Status: judge.Pass}, {Status: st}}}
		res.Settle(nil)
		if got := res.ExitCode(); got != want {
			t.Errorf("%s: exit %d, want %d", st, got, want)
		}
	}
	none := report.Result{Files: []report.FileResult{{Status: judge.Skipped}}}
	none.Settle(nil)
	if got := none.ExitCode(); got != 6 {
		t.Errorf("every file was skipped: exit %d, want 6", got)
	}
}

// TestParentsFail: a step that failed for a reason that none of its substeps shows is a test case of its own, and no
// file's failure is lost.
func TestParentsFail(t *testing.T) {
	t.Parallel()
	child := &report.Step{Name: "child", Status: judge.Pass}
	parent := &report.Step{Name: "parent", Status: judge.Fail, Detail: "its own expectation", Children: []*report.Step{child}}
	file := report.FileResult{Path: "a.yaml", Name: "a", Status: judge.Fail, Reason: "parent", Steps: []*report.Step{parent}}
	lost := report.FileResult{Path: "b.yaml", Name: "b", Status: judge.Blocked, Reason: "no step shows it", Steps: []*report.Step{child}}
	shown := &report.Step{Name: "shown", Status: judge.Pass, Asserts: true}
	hollow := report.FileResult{Path: "c.yaml", Name: "c", Status: judge.Invalid, Reason: "though its steps passed", Steps: []*report.Step{shown}}
	res := report.Result{Files: []report.FileResult{file, lost, hollow}}
	res.Settle(nil)
	got := render(t, "junit.xml", res)
	for _, want := range []string{`name="02 parent"`, `<failure message="its own expectation"`, `<error message="no step shows it"`, `<error message="though its steps passed"`} {
		if !strings.Contains(got, want) {
			t.Errorf("junit.xml lacks %s:\n%s", want, got)
		}
	}
}

// TestJudgedAgain: findings of the earlier judgement are replaced; failures that the run itself saw stay.
func TestJudgedAgain(t *testing.T) {
	t.Parallel()
	bad := report.Result{Files: []report.FileResult{{Path: "a.yaml", Status: judge.Pass}}}
	bad.Settle(events())
	if bad.Status != judge.Fail || bad.Reason == "" {
		t.Fatalf("the sample history is %s %q, want FAIL with a reason", bad.Status, bad.Reason)
	}
	if bad.Settle(nil); bad.Status != judge.Pass || bad.Reason != "" {
		t.Errorf("judged again without the breach: %s %q, want PASS without a reason", bad.Status, bad.Reason)
	}
	bad.Trouble = "the history could not be fetched"
	if bad.Settle(nil); bad.Status != judge.Blocked || bad.Reason != bad.Trouble {
		t.Errorf("with trouble: %s %q, want BLOCKED and the trouble", bad.Status, bad.Reason)
	}
}
