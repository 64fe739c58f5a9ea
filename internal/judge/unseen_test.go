package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/history"
)

// TestUnseen: a verdict names the cases of its promise that nobody saw, and only those.
func TestUnseen(t *testing.T) {
	t.Parallel()
	unseen := func(events []history.Event) map[string]string {
		out := map[string]string{}
		for _, v := range Judge(NewView(events)) {
			out[v.Clause] = strings.Join(v.Unseen, ", ")
		}
		return out
	}
	whole := unseen(everything().events)
	for clause, want := range map[string]string{
		"AUTH-2": "a forged token", "AUTH-4": "a test key at another place", "AUTH-5": "a revoked key that is refused", "PERM-1": "",
		"PERM-3": "a revocation that is cleared", "PERM-4": "", "PERM-5": "a permit longer than a door's own maximum",
		"PERM-6": "a new permit without doorIds, a registration that keeps doors, a registration that replaces doors",
		"PERM-7": "a permit that is expired", "ENT-2": "a closed window", "ENT-3": "an opening that ends as a command for the door does",
		"CMD-7": "", "OFF-2": "", "OFF-4": "", "IMP-1": "", "LEG-1": "a command that succeeds",
	} {
		if whole[clause] != want {
			t.Errorf("%s of the whole history: %q is unseen, want %q", clause, whole[clause], want)
		}
	}
	route := func(method, route string) func([]history.Event) []history.Event {
		return without(func(e *history.Event) bool { return e.Method == method && e.Route == route })
	}
	for name, c := range map[string]struct {
		clause string
		but    func([]history.Event) []history.Event
		want   string
	}{
		"no expired token":    {"AUTH-2", without(func(e *history.Event) bool { return e.Code == "token_expired" }), "an expired token"},
		"no missing scope":    {"AUTH-2", without(func(e *history.Event) bool { return e.Code == "scope_missing" }), "a missing scope"},
		"nobody called":       {"PERM-1", route("POST", phoneRoute), "an opening by phone"},
		"no link was pressed": {"PERM-1", route("POST", linkRoute), "an opening by link"},
		"only a page":         {"PERM-4", route("POST", linkRoute), "a dead link that is pressed"},
		"no page was read":    {"PERM-4", route("GET", "/entry"), "the page of a dead link"},
		"no dead link":        {"ENT-3", route("POST", linkRoute), "a link"},
		"no call":             {"ENT-3", route("POST", phoneRoute), "a phone call"},
		"no hold ended":       {"CMD-7", without(func(e *history.Event) bool { return e.Cause == "hold_end" }), "a hold that ends by itself"},
		"no hold was locked":  {"CMD-7", without(func(e *history.Event) bool { return e.Cause == "command" && e.Action == "lock" }), "a hold that is locked"},
		"nobody came after":   {"OFF-2", without(func(e *history.Event) bool { return decided(e) && e.OutageAgeMs > limitMs }), "somebody kept out within 36 h after the limit"},
		"nobody came just before": {"OFF-2", without(func(e *history.Event) bool {
			return decided(e) && e.OutageAgeMs >= limitMs-1000 && e.OutageAgeMs <= limitMs
		}), "somebody let in during the last second"},
		"no command": {"LEG-1", without(func(e *history.Event) bool {
			return e.Method != "GET" && strings.HasPrefix(e.Route, legacyDoors) && e.Status == 200
		}), "a command that succeeds"},
		"no lists": {"LEG-1", without(func(e *history.Event) bool {
			return e.Method == "GET" && (e.Route == legacyDoors || e.Route == legacyBoards)
		}), "a list of doors or boards"},
	} {
		if got := unseen(c.but(everything().events))[c.clause]; !slices.Contains(strings.Split(got, ", "), c.want) {
			t.Errorf("%s: %s lacks %q, want %q among them", name, c.clause, got, c.want)
		}
	}
}

// TestUnseenChangesNoPass: what nobody saw is told beside a PASS. Only the whole suite has to show every case, and what one
// history shows, the others needn't.
func TestUnseenChangesNoPass(t *testing.T) {
	t.Parallel()
	pass := func(unseen ...string) []Verdict {
		return []Verdict{{Clause: "AUTH-2", Status: Pass, Number: "1 call", Checked: 1, Unseen: unseen}}
	}
	skipped := []Verdict{{Clause: "AUTH-2", Status: Skipped, Number: notExercised, Unseen: []string{"a", "b", "c"}}}
	row := func(basis Basis, worlds ...[]Verdict) Row {
		rows := Ledger(Combine(worlds...), nil, basis)
		return rows[slices.IndexFunc(rows, func(r Row) bool { return r.Clause == "AUTH-2" })]
	}
	for name, c := range map[string]struct {
		row    Row
		status Status
		said   string
	}{
		"one file":           {row(Basis{}, pass("a", "b")), Pass, "1 call · not seen: a, b"},
		"several":            {row(Basis{}, skipped, pass("a", "b"), pass("b", "c")), Pass, "2 call · not seen: b"},
		"all seen":           {row(Basis{Cases: true}, pass("a"), pass("b")), Pass, "2 call"},
		"required":           {row(Basis{Require: []string{"AUTH-2"}}, pass("a")), Pass, "1 call · not seen: a"},
		"the whole suite":    {row(Basis{Cases: true}, pass("a", "b")), Invalid, "nobody saw a, or b · 1 call"},
		"not even a verdict": {row(Basis{}, skipped), Skipped, notExercised},
	} {
		if c.row.Planted = ""; c.row.Status != c.status || c.row.Told() != c.said {
			t.Errorf("%s: %s %q, want %s %q", name, c.row.Status, c.row.Told(), c.status, c.said)
		}
	}
}
