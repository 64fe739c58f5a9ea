package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// TestNothingProvesNothing: what was not evaluated, hit or present never passes, and the reason is given.
func TestNothingProvesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps  string
		want   judge.Status
		reason string
	}{
		"no rows":                {`{cases: [], expect: 1 == 1, clauses: [CMD-6]}`, judge.Blocked, "cases: 0 rows, but at least 1 are needed"},
		"rows of a range":        {`{cases: "${1..3}", call: {path: /echo}, expect: data.n == 3 and row <= 3}`, judge.Pass, ""},
		"no rows of a slice":     {`{cases: "${[1, 2][:0]}", expect: 1 == 1}`, judge.Blocked, "cases: 0 rows"},
		"no rows, allowed":       {`{cases: [], atLeast: 0, expect: 1 == 1}`, judge.Skipped, ""},
		"too few rows":           {`{cases: [1, 2], atLeast: 3, expect: 1 == 1}`, judge.Blocked, "2 rows, but at least 3"},
		"all of none":            {`{journal: {of: "\"brd_1\"", all: action == "x"}}`, judge.Blocked, "0 journal lines, but at least 1 needed (atLeast)"},
		"all of none, allowed":   {`{journal: {of: "\"brd_1\"", all: action == "x", atLeast: 0}}`, judge.Invalid, "nothing was checked"},
		"all of too few":         {`{boards: {all: online, atLeast: 2}}`, judge.Blocked, "1 board, but at least 2 needed (atLeast)"},
		"too few without all":    {`{journal: {of: "\"brd_1\"", atLeast: 2}, expect: count < 9}`, judge.Blocked, "journal lines, but at least 2 needed (atLeast)"},
		"if of another type":     {`{if: seed, expect: 1 == 2}`, judge.Blocked, "if: seed is 1, not true or false"},
		"if that fails":          {`{if: target.http.x == 1, expect: 1 == 2}`, judge.Blocked, "if: "},
		"if of a missing field":  {`{if: target.nope == 1, expect: 1 == 2}`, judge.Blocked, "target.nope not found"},
		"if that asks":           {`{if: target?.nope == 1, expect: 1 == 2}`, judge.Skipped, ""},
		"capture that fails":     {`{call: {path: /echo}, capture: {deep: data.name.x.y}}, {expect: deep == 1}`, judge.Blocked, "capture deep: "},
		"capture of nothing":     {`{call: {path: /echo}, capture: {deep: data.nope}}, {expect: deep == 1}`, judge.Blocked, "capture deep: data.nope: data.nope not found"},
		"nil equals nil":         {`{call: {path: /echo}, expect: data.nope == data.none}`, judge.Blocked, "both sides are missing"},
		"nil differs from nil":   {`{call: {path: /echo}, expect: not (data.nope != data.none)}`, judge.Blocked, "both sides are missing"},
		"nil in a predicate":     {`{call: {path: /echo}, expect: "all([data], .nope == data.none)"}`, judge.Blocked, "both sides are missing"},
		"nil written out":        {`{call: {path: /echo}, expect: data?.nope == nil}`, judge.Pass, ""},
		"nil of a missing field": {`{call: {path: /echo}, expect: data.nope == nil}`, judge.Blocked, "although data.nope isn't there"},
		"other than a missing":   {`{call: {path: /echo}, expect: data.nope != "open"}`, judge.Blocked, "although data.nope isn't there"},
		"never, missing field":   {`{call: {path: /echo}, expect: data.nope == "x", never: 30ms}`, judge.Blocked, "data.nope isn't there"},
		"all() of nothing":       {`{journal: {of: "\"brd_1\""}, expect: "all(lines, .action == \"pulse\")"}`, judge.Blocked, "the list is empty, so all(...) is true whatever happened"},
		"the same as itself":     {`{command: {door: dor_1}, expect: same}`, judge.Blocked, "same is null, not true or false"},
		"no boards":              {`{set: {none: []}}, {synced: {of: none}}`, judge.Blocked, "there are no boards"},
		"no doors":               {`{set: {none: []}}, {policy: {doors: none, mode: free}}`, judge.Blocked, "there are no doors"},
		"no people":              {`{set: {none: []}}, {revoke: {person: none}}`, judge.Blocked, "there are no people"},
		"a share of nobody":      {`{cohort: {name: one, share: "${0}"}}`, judge.Blocked, "contains no boards"},
		"too many at once":       {`{set: {n: 1e15}}, {call: {path: /echo, together: "${n}"}}`, judge.Blocked, "must be at most 10,000"},
		"too many times":         {`{set: {n: 1e15}}, {call: {path: /echo, times: "${n}"}}`, judge.Blocked, "must be at most 1,000,000"},
		"no times":               {`{set: {n: 0}}, {call: {path: /echo, times: "${n}"}}`, judge.Blocked, "must be at least 1"},
		"since now":              {`{journal: {of: "\"brd_1\"", since: now}, expect: count == 0}`, judge.Blocked, "nothing can have happened after now"},
		"since tomorrow":         {`{records: {place: "\"plc_1\"", since: +1d}, expect: count == 0}`, judge.Blocked, "nothing can have happened after now"},
		"a failure, unsaid":      {`{call: {path: /nowhere}, expect: ms < 1000}`, judge.Fail, "expected a success"},
		"a failure, unmatched":   {`{call: {path: /nowhere, match: {total: 1}}}`, judge.Fail, "expected a success"},
		"matches absence":        {`{call: {path: /echo, match: {data: {nope: null}}}}`, judge.Fail, "body.data has no nope"},
		"times is nothing":       {`{call: {path: /echo, times: "${target.nope}"}}`, judge.Blocked, "is not a number"},
		"outcome misspelt":       {`{set: {w: offlin}}, {command: {door: dor_1, outcome: "${w}"}}`, judge.Blocked, `"offlin" is not a valid outcome, did you mean "offline"?`},
		"code misspelt":          {`{set: {w: busi}}, {command: {door: dor_1, code: "${w}"}}`, judge.Blocked, `"busi" is not a valid code, did you mean "busy"?`},
		"result misspelt":        {`{set: {w: opend}}, {phone: {from: "0101", result: "${w}"}}`, judge.Blocked, `"opend" is not a valid result, did you mean "opened"?`},
		"reason misspelt":        {`{set: {w: revokd}}, {present: {door: dor_1, phone: "01011112222", reason: "${w}"}}`, judge.Blocked, `"revokd" is not a valid reason, did you mean "revoked"?`},
		"times is a text":        {`{call: {path: /echo, times: "${file}"}}`, judge.Blocked, "is not a number"},
		"times is a part":        {`{call: {path: /echo, times: "${1.5}"}}`, judge.Blocked, "1.5 is not a whole number"},
		"nth is negative":        {`{fault: {fault: noop, of: "\"brd_1\"", nth: "${-1}"}}`, judge.Blocked, "-1 is not a whole number"},
		"filter of nothing":      {`{records: {place: "\"plc_1\"", command: "${target.nope}"}}`, judge.Blocked, "has no value"},
		"part of nothing":        {`{log: "a${target.nope}b"}`, judge.Blocked, "target.nope has no value"},
		"never, verb fails":      {`{call: {path: /nowhere, status: 200}, expect: status == 201, never: 30ms}`, judge.Blocked, "never: the expectation could not be evaluated"},
		"never, of another type": {`{call: {path: /echo}, expect: data.n, never: 30ms}`, judge.Blocked, "never: the expectation could not be evaluated"},
		"never, not evaluated":   {`{call: {path: /echo}, expect: data.nope.x == 1, never: 30ms}`, judge.Blocked, "never: the expectation could not be evaluated"},
		"never, for no time":     {`{set: {none: 0s}}, {call: {path: /echo}, expect: data.n == 4, never: "${none}"}`, judge.Blocked, "never: 0s must be longer than 0"},
		"left behind":            {`{expect: 1 == 1, background: b}`, judge.Invalid, "no step waited for the background step b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, out := play(t, newFake(t), "steps: ["+c.steps+"]", Options{})
			if got := res.Files[0]; got.Status != c.want || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("got %s %q, want %s %q\n%s", got.Status, got.Reason, c.want, c.reason, out)
			}
			if pass := res.ExitCode() == 0; pass != (c.want == judge.Pass) {
				t.Errorf("exit %d for %s", res.ExitCode(), c.want)
			}
		})
	}
}

// TestFaultsMustHit: a fault that affected nothing before it was cleared or the file ended makes the file INVALID.
func TestFaultsMustHit(t *testing.T) {
	t.Parallel()
	const fault = `{fault: {fault: offline, of: "\"brd_1\""%s}}`
	for name, c := range map[string]struct {
		more, after string
		hits        int
		want        judge.Status
	}{
		"hit, cleared":       {"", ", {clear: offline}, {call: {path: /echo}}", 4, judge.Pass},
		"hit, left":          {"", ", {call: {path: /echo}}", 1, judge.Pass},
		"no hit, cleared":    {"", ", {clear: offline}", 0, judge.Invalid},
		"no hit, left":       {"", "", 0, judge.Invalid},
		"no hit, allowed":    {", hits: 0", ", {clear: offline}, {call: {path: /echo}}", 0, judge.Pass},
		"too few":            {", hits: 5", ", {clear: all}", 4, judge.Invalid},
		"no hit and a false": {"", ", {expect: 1 == 2}", 0, judge.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.hits = c.hits
			res, out := play(t, f, "steps: ["+strings.Replace(fault, "%s", c.more, 1)+c.after+"]", Options{})
			if got := res.Files[0].Status; got != c.want {
				t.Errorf("got %s, want %s\n%s", got, c.want, out)
			}
			if c.want == judge.Invalid && !strings.Contains(res.Files[0].Reason, "fault offline acted") {
				t.Errorf("the reason doesn't say that fault offline had no effect: %q", res.Files[0].Reason)
			}
		})
	}
}

// TestFaultsInForce: a fault that had an effect counts as evidence for the steps that ran while it was armed; an
// instant fault counts until the file ends.
func TestFaultsInForce(t *testing.T) {
	t.Parallel()
	const on, check = `{fault: {fault: %s, of: "\"brd_1\"", hits: 0}}`, `{call: {path: /echo}, clauses: [%s]}`
	steps := []string{strings.Replace(check, "%s", "HRS-1", 1), strings.Replace(on, "%s", "slow", 1), strings.Replace(check, "%s", "HRS-2", 1), `{clear: slow}`,
		strings.Replace(on, "%s", "reboot", 1), `{clear: reboot}`, strings.Replace(check, "%s", "IMP-1", 1)}
	for hits, want := range map[int]string{2: "slow 2 HRS-2 (1); reboot 2 IMP-1 (1); ", 0: "slow 0 ; reboot 0 ; "} {
		f := newFake(t)
		f.hits = hits
		res, out := play(t, f, "steps: ["+strings.Join(steps, ", ")+"]", Options{})
		got := ""
		for _, u := range res.Files[0].Faults {
			got += fmt.Sprintf("%s %d %s; ", u.Fault, u.Hits, u.Shown())
		}
		if got != want {
			t.Errorf("%d hits: got %q, want %q\n%s", hits, got, want, out)
		}
	}
}

// TestWholeSuiteDrivesEveryFault: files that claim to be the whole suite don't pass if they drive only one fault and
// claim one clause.
func TestWholeSuiteDrivesEveryFault(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.hits = 1
	res, out := play(t, f, `steps: [{fault: {fault: slow, of: "\"brd_1\""}}, {call: {path: /echo}, clauses: [HRS-1]}]`, Options{Whole: true})
	if res.Status != judge.Invalid || res.ExitCode() != 6 || res.Faults[0].Fault != "silent" || res.Faults[0].Hits != 0 {
		t.Errorf("got %s %q, faults %v, want INVALID and each fault listed\n%s", res.Status, res.Reason, res.Faults, out)
	}
}

// TestBackgroundsOfOneName: two background steps with one name are a mistake, because the first one's result would be
// lost.
func TestBackgroundsOfOneName(t *testing.T) {
	t.Parallel()
	_, err := Parse("one.yaml", []byte("steps:\n  - {expect: 1 == 2, background: b}\n  - {expect: 1 == 1, background: b}\n  - wait: b\n"))
	if err == nil || !strings.Contains(err.Error(), `one.yaml:3:5: a second background "b"`) {
		t.Errorf("got %v, want a problem at line 3", err)
	}
}

// TestUnreadDocuments: if the target's documents can't be read, its answers were never checked.
func TestUnreadDocuments(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.docs = "<html>"
	res, _ := play(t, f, `steps: [{expect: 1 == 1}]`, Options{})
	if res.Status != judge.Blocked || res.ExitCode() != 4 || !strings.Contains(res.Reason, "/space/v1/openapi.json is not an OpenAPI document") {
		t.Errorf("got %s exit %d %q, want BLOCKED exit 4 and the documents named", res.Status, res.ExitCode(), res.Reason)
	}
}

// TestOwnClauses: a failure is charged to the clauses of the expectation that failed, and to no others.
func TestOwnClauses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ steps, want string }{
		"one of two":        {`{clauses: [HRS-1], call: {path: /echo}, expect: [{that: status == 200, clauses: [HRS-2]}, {that: status == 201, clauses: [IMP-1]}]}`, "HRS-1 PASS, HRS-2 PASS, IMP-1 FAIL"},
		"the later one":     {`{call: {path: /echo}, expect: [{that: status == 201, clauses: [HRS-2]}, {that: status == 200, clauses: [IMP-1]}]}`, "HRS-2 FAIL, IMP-1 PASS"},
		"the step's own":    {`{clauses: [HRS-1], call: {path: /echo}, expect: [status == 201, {that: status == 200, clauses: [HRS-2]}]}`, "HRS-1 FAIL, HRS-2 PASS"},
		"an idle one":       {`{clauses: [HRS-1], call: {path: /echo}, expect: [status == 201, {that: 1 == 1, clauses: [HRS-2]}]}`, "HRS-1 FAIL"},
		"both":              {`{clauses: [HRS-1], call: {path: /echo}, expect: [{that: status == 201, clauses: [HRS-2]}, status == 201]}`, "HRS-1 FAIL, HRS-2 FAIL"},
		"only the other's":  {`{clauses: [HRS-1], call: {path: /echo}, expect: [{that: status == 201, clauses: [HRS-2]}, status == 200]}`, "HRS-1 PASS, HRS-2 FAIL"},
		"the same":          {`{clauses: [HRS-1], expect: [{that: 1 == 2, clauses: [HRS-1]}]}`, "HRS-1 FAIL"},
		"the verb":          {`{call: {path: /nowhere, status: 200}, clauses: [HRS-1], expect: [{that: 1 == 1, clauses: [HRS-2]}]}`, "HRS-1 FAIL"},
		"a parent's own":    {`{group: [{call: {path: /echo}, expect: status == 200, clauses: [HRS-2]}], expect: 1 == 2, clauses: [HRS-1]}`, "HRS-1 FAIL, HRS-2 PASS"},
		"a child, not both": {`{group: [{expect: 1 == 2, clauses: [HRS-2]}], clauses: [HRS-1]}`, "HRS-2 FAIL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, out := play(t, newFake(t), "steps: ["+c.steps+"]", Options{})
			var got []string
			for _, r := range res.Ledger { // the row may be SKIPPED: no checker saw anything
				if charged := judge.Pass; len(r.Assertions) > 0 {
					for _, a := range r.Assertions {
						if a.Status == judge.Fail {
							charged = judge.Fail
						}
					}
					got = append(got, r.Clause+" "+string(charged))
				}
			}
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("got %s, want %s\n%s", s, c.want, out)
			}
		})
	}
}

// TestTwins: two files with the same name share neither phones nor references.
func TestTwins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, sub := range []string{"a", "b", "c"} {
		name := "same.yaml"
		if sub == "c" {
			name = "other.yaml"
		}
		must.OK(t, os.MkdirAll(filepath.Join(dir, sub), 0o755))
		must.OK(t, os.WriteFile(filepath.Join(dir, sub, name), []byte("steps: [{call: {path: /echo}, expect: status == 200}]"), 0o644))
	}
	files, err := Load(dir)
	if err != nil || len(files) != 3 {
		t.Fatalf("got %d files, %v, want 3 and no error", len(files), err)
	}
	if again := must.Get(Load(filepath.Join(dir, "a", "same.yaml"), dir, filepath.Join(dir, "b")))(t); len(again) != 3 {
		t.Errorf("got %d files of a folder and two of them, want 3", len(again))
	}
	a, b := &fileRun{run: &run{seed: 1}, file: files[0]}, &fileRun{run: &run{seed: 1}, file: files[1]}
	if a.phone("ann") == b.phone("ann") || a.uid("ann") == b.uid("ann") {
		t.Errorf("both files use %s and %s, want different ones", a.phone("ann"), a.uid("ann"))
	}
	once, again := files[2].Again(1, 2), files[2].Again(2, 2)
	a, b = &fileRun{run: &run{seed: 1, target: Target{Marks: []history.Position{{}}}}, file: once}, &fileRun{run: &run{seed: 1, target: Target{Marks: []history.Position{{}}}}, file: again}
	if a.phone("ann") == b.phone("ann") || a.uid("ann") == b.uid("ann") {
		t.Errorf("both runs on a shared target use %s and %s, want different ones", a.phone("ann"), a.uid("ann"))
	}
	if got := notPlayed(again, ""); got.Play != 2 || got.Plays != 2 {
		t.Errorf("the second of two plays is told as %d of %d", got.Play, got.Plays)
	}
	if got := files[2].Base(); got != "other" {
		t.Errorf("a name of its own became %q, want other", got)
	}
}

// TestNothingWhereSomethingWasDue: a list that should have had elements and has none is a failure of the target, not a
// step that looked at nothing.
func TestNothingWhereSomethingWasDue(t *testing.T) {
	t.Parallel()
	playsAs(t, nil, map[string]judge.Status{
		`{journal: {of: "\"brd_1\"", all: "true"}}`:                                      judge.Blocked,
		`{journal: {of: "\"brd_1\"", all: "boot == 1"}, expect: count == 2}`:             judge.Fail,
		`{journal: {of: "\"brd_1\"", all: "boot == 1"}, expect: count <= 2}`:             judge.Blocked,
		`{journal: {of: "\"brd_1\"", all: "boot == 1"}, expect: first.boot == 1}`:        judge.Blocked,
		`{journal: {of: "\"brd_1\"", all: "boot == 1"}, expect: count > 0, never: 20ms}`: judge.Blocked,
	})
}
