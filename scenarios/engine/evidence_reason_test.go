package engine

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/scenarios/evidence"
)

// TestReasonsOfDecisions: why somebody was denied decides what the step is evidence for; one row with the right reason
// is enough.
func TestReasonsOfDecisions(t *testing.T) {
	t.Parallel()
	const expired, revoked, stranger = "01011110001", "01011110002", "01011110003"
	for _, tc := range []struct{ phones, clauses, want string }{
		{expired, "SYNC-2", "the decision's reason was expired, so it isn't evidence for SYNC-2"},
		{expired, "PERM-7", ""},
		{expired, "OFF-2, SYNC-2", "so it isn't evidence for OFF-2, SYNC-2"},
		{revoked, "SYNC-2", ""},
		{stranger, "OFF-1", "no_valid_grant, so it isn't evidence for OFF-1"},
		{stranger, "ENT-1", ""},
		{expired + "," + revoked, "SYNC-2", ""},
		{expired + "," + stranger, "PERM-1", "so it isn't evidence for PERM-1"},
	} {
		f := newFake(t)
		f.reasons = map[string]string{expired: "expired", revoked: "revoked"}
		rows := ""
		for p := range strings.SplitSeq(tc.phones, ",") {
			rows += fmt.Sprintf("{p: %q}, ", p)
		}
		source := fmt.Sprintf(`steps: [{call: {path: /echo}, expect: data.n == 3}, {cases: [%s], present: {phone: "${p}", door: "\"dor_1\"", result: denied}, clauses: [%s]}]`, rows, tc.clauses)
		res, out := play(t, f, source, Options{})
		if got := res.Files[0].Reason; tc.want != "" && !strings.Contains(got, tc.want) || tc.want == "" && strings.Contains(got, "the decision's reason") {
			t.Errorf("%s for %s: got %s %q, want %q\n%s", tc.phones, tc.clauses, res.Files[0].Status, got, tc.want, out)
		}
	}
}

// TestReasonsOfWaits: a wait is evidence for what its background step decided.
func TestReasonsOfWaits(t *testing.T) {
	t.Parallel()
	for clause, bad := range map[string]bool{"SYNC-2": true, "PERM-7": false} {
		f := newFake(t)
		f.reasons = map[string]string{"01011110001": "expired"}
		source := `steps: [{call: {path: /echo}, expect: data.n == 3}, {present: {phone: "01011110001", door: "\"dor_1\"", result: denied}, background: p}, {wait: p, clauses: [` + clause + `]}]`
		res, out := play(t, f, source, Options{})
		if got := res.Files[0].Reason; strings.Contains(got, "the decision's reason was expired") != bad {
			t.Errorf("%s: got %s %q, want it refused: %t\n%s", clause, res.Files[0].Status, got, bad, out)
		}
	}
}

// TestUnfit: the clauses that a decision's reason says nothing about are noted, row by row.
func TestUnfit(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.reasons = map[string]string{"01011110001": "expired", "01011110002": "revoked"}
	res, out := play(t, f, `steps: [{cases: [{p: "01011110001"}, {p: "01011110002"}], present: {phone: "${p}", door: "\"dor_1\"", result: denied}, clauses: [PERM-7, PERM-4, SYNC-2]}]`, Options{})
	rows := res.Files[0].Steps[0].Children
	want := map[string]string{"PERM-4": "the decision had another reason (line 1: expired)", "SYNC-2": "the decision had another reason (line 1: expired)"}
	if len(rows) != 2 || !maps.Equal(rows[0].Unfit, want) || rows[1].Unfit != nil {
		t.Errorf("the rows have %v and %v, want %v and none\n%s", rows[0].Unfit, rows[1].Unfit, want, out)
	}
}

// TestConstantIf: a condition that names nothing is a mistake.
func TestConstantIf(t *testing.T) {
	t.Parallel()
	for cond, bad := range map[string]bool{"false": true, "1 == 2": true, "len([1]) > 3": true, "seed == 3": false, "n == 1": false} {
		_, err := Parse("one.yaml", fmt.Appendf(nil, "vars: {n: 1}\nsteps: [{if: %q, call: {path: /echo}}, {log: \"${n}\"}]", cond))
		if got := err != nil && strings.Contains(err.Error(), "the same in every run"); got != bad {
			t.Errorf("if: %s: got %v, want it refused: %t", cond, err, bad)
		}
	}
}

// TestHiddenNames: a name of the file that the step's result hides is pointed out where it does harm.
func TestHiddenNames(t *testing.T) {
	t.Parallel()
	for source, hidden := range map[string]bool{
		`vars: {data: {n: 4}}
steps: [{call: {path: /echo}, expect: data.n == 4}]`: true,
		`vars: {mine: {n: 4}}
steps: [{call: {path: /echo}, expect: data.n == mine.n}]`: false,
	} {
		res, _ := play(t, newFake(t), source, Options{})
		if got := strings.Contains(res.Files[0].Steps[0].Detail, "hides the file's own data"); got != hidden || res.Files[0].Status != judge.Fail {
			t.Errorf("%s: got %s %q, want the hidden name pointed out: %t", source, res.Files[0].Status, res.Files[0].Steps[0].Detail, hidden)
		}
	}
}

// TestHiddenNamesAlways: what compares a part of the answer with itself, because the file's own value of that name is hidden, says so.
func TestHiddenNamesAlways(t *testing.T) {
	t.Parallel()
	const first = `steps: [{call: {path: /echo}, capture: {%s: data}}, {call: {path: /echo}, expect: it.data == %s}]`
	for name, want := range map[string]judge.Status{"data": judge.Invalid, "was": judge.Pass} {
		res, out := play(t, newFake(t), fmt.Sprintf(first, name, name), Options{})
		last := res.Files[0].Steps[len(res.Files[0].Steps)-1]
		if got := strings.Contains(last.Detail, "hides the file's own data"); got != (want == judge.Invalid) || res.Files[0].Status != want {
			t.Errorf("%s: got %s, want %s and the hidden name pointed out only then\n%s", name, res.Files[0].Status, want, out)
		}
	}
}

// TestAnsweredOnly: that a call was answered doesn't show whether the door opened.
func TestAnsweredOnly(t *testing.T) {
	t.Parallel()
	for expect, want := range map[string]judge.Status{"answered: true": judge.Invalid, "answered: true, result: denied": judge.Pass} {
		f := newFake(t)
		source := `steps: [{call: {path: /echo}, expect: data.n == 3}, {phone: {from: "01012340001", to: "0212345678", ` + expect + `}, clauses: [ENT-1]}]`
		res, out := play(t, f, source, Options{})
		if got := res.Files[0]; strings.Contains(got.Reason, "opposite answer") != (want == judge.Invalid) {
			t.Errorf("%s: got %s %q, want %s\n%s", expect, got.Status, got.Reason, want, out)
		}
	}
}

// TestApart: commands apart have keys of their own; the words that contradict it are found before the run.
func TestApart(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]string{
		`{door: "\"dor_1\"", apart: true}`:                   "give times or together",
		`{door: "\"dor_1\"", apart: true, times: 2, key: k}`: "and no key",
		`{door: "\"dor_1\"", apart: true, together: 3}`:      "",
	} {
		problem(t, "steps: [{command: "+step+"}]", want)
	}
}

// TestReasonsOfLinks: a link's refusal names the rule, and its success or death says the rest.
func TestReasonsOfLinks(t *testing.T) {
	t.Parallel()
	x := &frame{step: &Step{Verbs: Verbs{Link: &Link{}}}}
	x.step.Verbs.Link.Door.raw = "one"
	for want, out := range map[vocab.Reason]fields{
		vocab.Expired:     {"status": 409, "error": "entry_denied", "details": map[string]any{"rule": "expired"}},
		vocab.LinkInvalid: {"status": 404, "error": "link_invalid", "details": nil},
		evidence.LetIn:    {"status": 200, "error": nil, "details": nil},
		"":                {"status": 503, "error": "store_offline", "details": map[string]any{"reason": "offline"}},
	} {
		if got := x.reason(out); got != want {
			t.Errorf("%v: got %q, want %q", out, got, want)
		}
	}
}
