package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
)

// call is a request as a client saw it.
func call(seq int64, method, path string, status int, token, answer string) history.Event {
	e := history.CallEvent(history.CallIn{Method: method, Path: path, Token: token, Request: []byte(`{"key":"k"}`), Status: status, Answer: []byte(answer)})
	e.Seq, e.At, e.WallNs = seq, seq, seq
	return e
}

// tokenUsed is a short history in which AUTH-1 is exercised.
func tokenUsed() []history.Event {
	return []history.Event{{Seq: 1, At: 1, WallNs: 1, Kind: history.Started, Text: "server"},
		call(2, "POST", "/core/v1/auth/apikey/token", 200, "", `{"success":true,"data":{"accessToken":"t","expiresIn":900,"placeId":"plc_1","scopes":["device:door"]}}`),
		call(3, "GET", "/device/v1/devices", 200, "t", `{"success":true,"data":[]}`)}
}

// TestNothingExercised: scenarios that passed while nothing happened that any guarantee is about show nothing.
func TestNothingExercised(t *testing.T) {
	t.Parallel()
	for want, events := range map[judge.Status][]history.Event{judge.Pass: tokenUsed(), judge.Invalid: tokenUsed()[:1]} {
		res := report.Result{Worlds: 1, Files: []report.FileResult{{Path: "a.yaml", Name: "a", Status: judge.Pass,
			Steps: []*report.Step{{Name: "asks", Status: judge.Pass, Asserts: true}}}}}
		res.Settle(events)
		if res.Status != want || want == judge.Invalid && !strings.Contains(res.Reason, "no guarantee was exercised") {
			t.Errorf("%d events: got %s %q, want %s", len(events), res.Status, res.Reason, want)
		}
	}
}

// TestClaimsUntried: a file is INVALID if its subject, or all that its steps claim, was never tested, or what a decisive
// step claims. Beside other evidence, a step may claim it.
func TestClaimsUntried(t *testing.T) {
	t.Parallel()
	served := func(status int) []history.Event { // a token is used once, but AUTH-2 is about refusals
		if status == 404 { // which the token's scope allows
			return append(tokenUsed(), call(4, "GET", "/device/v1/devices/dor_x", 404, "t", `{"error":"device_not_found"}`))
		}
		return append(tokenUsed(), call(4, "GET", "/space/v1/partner/gate-config", status, "t", `{"error":"scope_missing"}`))
	}
	why := map[string]string{"AUTH-2": " claims AUTH-2, but no token was refused as forged, for a missing scope, or as expired within a day of its end", "HRS-2": "line 3 claims HRS-2, but no schedule showed a closure, a holiday or hours that had changed"}
	for name, c := range map[string]struct {
		header, step []string
		status       int
		want         judge.Status
		verb         string
	}{
		"its header":            {[]string{"AUTH-2"}, nil, 404, judge.Invalid, ""},
		"its header, beside":    {[]string{"AUTH-1", "AUTH-2"}, nil, 404, judge.Invalid, ""},
		"its only step":         {nil, []string{"AUTH-2"}, 404, judge.Invalid, ""},
		"a step, beside":        {nil, []string{"AUTH-1", "AUTH-2"}, 404, judge.Pass, ""},
		"a step, not beside":    {nil, []string{"AUTH-1", "PERM-3"}, 404, judge.Invalid, ""},
		"a step, header beside": {[]string{"AUTH-1"}, []string{"AUTH-2"}, 404, judge.Pass, ""},
		"it happened":           {[]string{"AUTH-2"}, []string{"AUTH-2"}, 403, judge.Pass, ""},
		"a decisive step":       {[]string{"AUTH-1"}, []string{"HRS-2"}, 404, judge.Invalid, "link"},
		"it was seen there":     {[]string{"AUTH-1"}, []string{"AUTH-2"}, 404, judge.Pass, "link"},
	} {
		res := report.Result{Worlds: 1, Files: []report.FileResult{{Path: "a.yaml", Name: "a", Status: judge.Pass, Clauses: c.header,
			Steps: []*report.Step{{Name: "asks", Verb: c.verb, Line: 3, Clauses: c.step, Status: judge.Pass, Asserts: true}}}}}
		res.Settle(served(c.status))
		if f := res.Files[0]; f.Status != c.want || c.want == judge.Invalid && !strings.Contains(f.Reason, why[append(slices.Clone(c.step), "AUTH-2")[0]]) {
			t.Errorf("%s: got %s %q, want %s", name, f.Status, f.Reason, c.want)
		}
	}
}

// TestPlainClaims: a step that only says that something succeeds shows none of the guarantees that no checker saw, even
// beside another that it shows. A step that looks at a detail may. CMD-4 and ENT-2 are exceptions: whatever succeeds came in time, and no
// window stopped it.
func TestPlainClaims(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		claims []string
		plain  []bool // of each step that claims them
		want   string
	}{
		"a detail":                {[]string{"AUTH-1", "HRS-2"}, []bool{false}, ""},
		"only a success":          {[]string{"AUTH-1", "HRS-2"}, []bool{true}, "line 3 claims HRS-2 and expects no more than a success, but no schedule showed"},
		"another step's detail":   {[]string{"AUTH-1", "HRS-2"}, []bool{true, false}, ""},
		"what came up":            {[]string{"AUTH-1"}, []bool{true}, ""},
		"a command in good time":  {[]string{"AUTH-1", "CMD-4"}, []bool{true}, ""},
		"in spite of a window":    {[]string{"AUTH-1", "ENT-2"}, []bool{true}, ""},
		"two that are only plain": {[]string{"AUTH-1", "CMD-5"}, []bool{true, true}, "line 3 claims CMD-5"},
	} {
		var steps []*report.Step
		for i, plain := range c.plain {
			steps = append(steps, &report.Step{Name: "asks", Line: 3 + i, Clauses: c.claims, Status: judge.Pass, Asserts: true, Plain: plain})
		}
		res := report.Result{Worlds: 1, Files: []report.FileResult{{Path: "a.yaml", Name: "a", Status: judge.Pass, Steps: steps}}}
		res.Settle(tokenUsed())
		if f := res.Files[0]; (f.Status == judge.Pass) != (c.want == "") || !strings.Contains(f.Reason, c.want) {
			t.Errorf("%s: got %s %q, want %q", name, f.Status, f.Reason, c.want)
		}
	}
}

// TestRandomClaims: what the steps of a file made up at random claim isn't held against it.
func TestRandomClaims(t *testing.T) {
	t.Parallel()
	for random, want := range map[bool]judge.Status{true: judge.Pass, false: judge.Invalid} {
		res := report.Result{Worlds: 1, Random: random, Files: []report.FileResult{{Path: "a.yaml", Name: "a", Status: judge.Pass,
			Steps: []*report.Step{{Name: "asks", Status: judge.Pass, Asserts: true, Clauses: []string{"AUTH-2"}}}}}}
		res.Settle(tokenUsed())
		if res.Files[0].Status != want {
			t.Errorf("random %v: got %s %q, want %s", random, res.Files[0].Status, res.Files[0].Reason, want)
		}
	}
}

// TestReason: whatever keeps a run from PASS, the result says what it was; a broken guarantee comes first.
func TestReason(t *testing.T) {
	t.Parallel()
	for _, status := range []judge.Status{judge.Fail, judge.Blocked, judge.Invalid} {
		res := report.Result{Worlds: 1, Files: []report.FileResult{
			{Path: "fine.yaml", Status: judge.Pass}, {Path: "dir/bad.yaml", Status: status, Reason: "step 1: no\nmore"}}}
		res.Settle([]history.Event{{Seq: 1, At: 1, Kind: history.Started, Text: "server"}})
		if res.Status != status || res.Reason != "bad: step 1: no" {
			t.Errorf("a scenario is %s: %s, reason %q, want %q", status, res.Status, res.Reason, "bad: step 1: no")
		}
		res.Reason = ""
		res.Assertions = []judge.Assertion{{Clause: "PERM-1", Name: "x", Status: judge.Fail}}
		if res.Settle(res.Events); !strings.HasPrefix(res.Reason, "PERM-1: ") {
			t.Errorf("PERM-1 is broken, and a scenario is %s: reason %q, want the guarantee", status, res.Reason)
		}
	}
}
