package judge

import (
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/history"
)

func TestLedgerMerges(t *testing.T) {
	t.Parallel()
	rows := Ledger([]Verdict{
		{Clause: "SYNC-1", Status: Pass, Number: "max 1.9 s of 50,000", Checked: 50000},
		{Clause: "CMD-1", Status: Fail, Number: "1 of 3 broke it", Checked: 3, FirstBad: &Bad{Why: "why"}},
		{Clause: "CMD-2", Status: Pass, Number: "4 offline", Checked: 4},
		{Clause: "CMD-3", Status: Skipped, Number: "not exercised"},
		{Clause: "OFF-1", Status: Pass, Number: "n", Checked: 1},
		{Clause: "CMD-3", Status: Pass, Number: "2 refused", Checked: 2}, // a second run
	}, []Assertion{
		{Clause: "CMD-1", Name: "open", Status: Pass},
		{Clause: "CMD-2", Name: "offline", Status: Pass},
		{Clause: "CMD-2", Name: "offline twice", Status: Pass},
		{Clause: "PERM-1", Name: "enter", Status: Pass},
		{Clause: "PERM-2", Name: "repeat", Status: Fail, Number: "got 2 permits"},
		{Clause: "HRS-1", Name: "patch", Status: Blocked},
		{Clause: "OFF-1", Name: "rate", Status: Invalid, Number: "12 of 100 per second"},
		{Clause: "NEW-1", Name: "of tomorrow", Status: Pass},
	}, Basis{Silent: true})
	if len(rows) != len(clauses)+1 || rows[0].Clause != "AUTH-1" || rows[len(rows)-1].Clause != "NEW-1" {
		t.Fatalf("got %d rows, want %d, from AUTH-1 to NEW-1", len(rows), len(clauses)+1)
	}
	want := []string{
		"SYNC-1 registrations reach every connected board within 300 s · PASS · max 1.9 s of 50,000",
		"CMD-1 200 only after execution, exactly one actuation behind it · FAIL · 1 of 3 broke it",
		"CMD-2 409 offline: never sent, no actuation · PASS · 4 offline · 2 assertions",
		"CMD-3 502 refused: no actuation · PASS · 2 refused",
		"PERM-1 a registered customer can enter by phone or link at once · INVALID · no ground truth: the checker saw nothing, 1 assertion",
		"PERM-2 repeating a create request has no further effect · FAIL · repeat: got 2 permits",
		"HRS-1 a change of opening hours applies at once · BLOCKED · patch",
		"OFF-1 synchronized permits keep working on site in an outage · INVALID · rate: 12 of 100 per second",
		"HRS-2 the public schedule shows the real opening intervals · SKIPPED · not exercised",
	}
	var got []string
	for _, r := range rows {
		r.Planted = "" // see TestLedgerNamesPlantedBugs
		got = append(got, r.String())
	}
	for _, w := range want {
		if !slices.Contains(got, w) {
			t.Errorf("the ledger lacks the line %q:\n%s", w, strings.Join(got, "\n"))
		}
	}
	var b strings.Builder
	if err := WriteLedger(&b, rows); err != nil || strings.Count(b.String(), "\n") != len(rows) {
		t.Errorf("table: %v, want one line per row\n%s", err, b.String())
	}
}

// A PASS needs evidence: a clause with a checker passes by what the checker saw, not by assertions. A required clause
// must be proven completely.
func TestLedgerWantsEvidence(t *testing.T) {
	t.Parallel()
	asserted := func(clause string) []Assertion { return []Assertion{{Clause: clause, Name: "step", Status: Pass}} }
	nothing := Judge(NewView(nil))
	one := func(clause string, missing ...string) []Verdict {
		return []Verdict{{Clause: clause, Status: Pass, Number: "1 seen", Checked: 1, Missing: missing}}
	}
	for name, c := range map[string]struct {
		clause   string
		verdicts []Verdict
		basis    Basis
		want     Status
		number   string
	}{
		"seen":                           {"CMD-1", one("CMD-1"), Basis{}, Pass, "1 seen · 1 assertion"},
		"an empty history":               {"CMD-1", nothing, Basis{Silent: true}, Invalid, "no ground truth: the checker saw nothing, 1 assertion"},
		"asserted only":                  {"CMD-1", nothing, Basis{}, Skipped, "asserted only, 1 assertion"},
		"no checker":                     {"HRS-9", nothing, Basis{}, Pass, "1 assertion"},
		"a kind of evidence is missing":  {"CMD-6", one("CMD-6", "server died"), Basis{}, Pass, "1 seen · 1 assertion"},
		"... and it is required":         {"CMD-6", one("CMD-6", "server died", "board died"), Basis{Require: []string{"CMD-6"}}, Invalid, "no server died, no board died · 1 seen · 1 assertion"},
		"required, without ground truth": {"CMD-1", nothing, Basis{Require: []string{"all"}}, Invalid, "required, but asserted only, 1 assertion"},
		"required and whole":             {"CMD-6", one("CMD-6"), Basis{Require: []string{"all"}}, Pass, "1 seen · 1 assertion"},
	} {
		rows := Ledger(c.verdicts, asserted(c.clause), c.basis)
		r := rows[slices.IndexFunc(rows, func(r Row) bool { return r.Clause == c.clause })]
		if r.Status != c.want || r.Number != c.number {
			t.Errorf("%s: %s %q, want %s %q", name, r.Status, r.Number, c.want, c.number)
		}
	}
	for _, r := range Ledger(nothing, nil, Basis{Require: []string{"all"}}) {
		if r.Status != Invalid {
			t.Errorf("%s: %s, want INVALID: it was required and nothing happened", r.Clause, r.Status)
		}
	}
}

func TestEveryCheckerHasAPromise(t *testing.T) {
	t.Parallel()
	ids := Clauses()
	for _, c := range checkers() {
		if !slices.Contains(ids, c.Clause) || c.Judge(NewView(nil)).Clause != c.Clause {
			t.Errorf("checker %s is unknown, or judges a different clause", c.Clause)
		}
	}
	for _, id := range ids {
		if Promise(id) == "" || Promise("NEW-1") != "" {
			t.Errorf("%s has no promise, or an unknown clause has one", id)
		}
	}
}

// TestExercised: that a promise was required is no evidence for it.
func TestExercised(t *testing.T) {
	t.Parallel()
	for status, want := range map[Status]bool{Pass: true, Fail: true, Blocked: true, Invalid: true, Skipped: false} {
		if r := (Row{Status: status, Number: "1 case"}); r.Exercised() != want {
			t.Errorf("%s: got exercised %v, want %v", status, !want, want)
		}
	}
	row := Row{Clause: "OFF-2", Status: Skipped, Number: notExercised}
	row.stand(Basis{Require: []string{"OFF-2"}})
	if row.Status != Invalid || row.Exercised() {
		t.Errorf("required without evidence: got %s, exercised %v, want INVALID and not exercised", row.Status, row.Exercised())
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 50000: "50,000", 1234567: "1,234,567"} {
		if got := amount.Number(n); got != want {
			t.Errorf("%d is written as %s, want %s", n, got, want)
		}
	}
	for ms, want := range map[int64]string{0: "0.00 s", 1900: "1.90 s", 300_000: "300.0 s", limitMs: "36.000 h"} {
		if got := secs(ms); got != want {
			t.Errorf("%d ms are written as %s, want %s", ms, got, want)
		}
	}
}

func TestKeyHashIsBoundToThePlace(t *testing.T) {
	t.Parallel()
	a, b := history.KeyHash("plc_a", "k"), history.KeyHash("plc_b", "k")
	if a == b || len(a) != 16 || history.KeyHash("plc_a", "") != "" {
		t.Errorf("one key hashes to %q and %q at two places, want two different hashes of 16 characters, and none for no key", a, b)
	}
}

// TestPlainNumbers: one item is written in the singular, and nothing is written about items that don't occur.
func TestPlainNumbers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"1 token exchanges, at most 1 from one address in 60 s (limit 30), 0 refused":                                                                     "1 token exchange, at most 1 from one address in 60 s (limit 30), 0 refused",
		"1 on-site decisions of connected boards and 1 checks of links, calls and content, all equal to the reference":                                    "1 on-site decision of connected boards and 1 check of links, calls and content, all equal to the reference",
		"1 decisions during outages, all as the reference model decides, 1 opened; oldest outage 36h0m0s":                                                 "1 decision during an outage, as the reference model decides, 1 opened; oldest outage 36 h",
		"2 decisions during outages, all as the reference model decides, 2 opened; oldest outage 35h59m59.5s":                                             "2 decisions during outages, all as the reference model decides, 2 opened; oldest outage 35 h 59 m 59.5 s",
		"2 decisions during outages, all as the reference model decides, 2 opened; oldest outage 16ms; 3 unknown":                                         "2 decisions during outages, all as the reference model decides, 2 opened; oldest outage 16 ms; 3 unknown",
		"7 denied after 36 h (0 with a lost clock); oldest opening 1h0m10s (limit 36 h)":                                                                  "7 denied after 36 h (0 with a lost clock); oldest opening 1 h 10 s (limit 36 h)",
		"11 decisions during outages, each based on what the board knew before":                                                                           "11 decisions during outages, each based on what the board knew before",
		"0 permits registered, longest 0.00 s (limit 720 h); 3 periods refused":                                                                           "0 permits registered; 3 periods refused",
		"slowest of 13,781 updates: 0.29 s (limit 300 s), 0 not due yet":                                                                                  "slowest of 13,781 updates: 0.29 s (limit 300 s)",
		"slowest of 1 updates: 0.29 s (limit 300 s), 19 not due yet":                                                                                      "slowest of 1 update: 0.29 s (limit 300 s), 19 not due yet",
		"75 holds: 0 ran out, at most 0.00 s off, 50 ended by a command, 25 replaced, cut off or still held":                                              "75 holds: 0 ran out, 50 ended by a command, 25 replaced, cut off or still held",
		"1 holds: 1 ran out, at most 0.00 s off, 0 ended by a command, 0 replaced, cut off or still held":                                                 "1 hold: 1 ran out, at most 0.00 s off, 0 ended by a command",
		"10 holds: 10 ran out, at most 0.10 s off, 0 ended by a command, 10 replaced, cut off or still held":                                              "10 holds: 10 ran out, at most 0.10 s off, 0 ended by a command, 10 replaced, cut off or still held",
		"slowest start of 0: 0.00 s after it was sent; 2 with unknown outcome (0 acted, 2 didn't)":                                                        "2 with unknown outcome (0 acted, 2 didn't)",
		"3 decisions during outages, all as the reference model decides, 0 opened; oldest outage 0s; 3 unknown":                                           "3 decisions during outages, all as the reference model decides, 0 opened; 3 unknown",
		"2 denied after 36 h (2 with a lost clock); oldest opening 0s (limit 36 h); decisions one second before 36 h: 0, at 36 h: 0, one second after: 0": "2 denied after 36 h (2 with a lost clock); nobody was let in; decisions one second before 36 h: 0, at 36 h: 0, one second after: 0",
		"3,149 permits registered, longest 720.000 h (limit 720 h); 20 periods refused":                                                                   "3,149 permits registered, longest 720 h (limit 720 h); 20 periods refused",
		"4 channels in 0 outages, changed at most 0.00 s late":                                                                                            "4 channels in 0 outages",
		"1,001 calls with tokens of 1 revoked keys, none served too late":                                                                                 "1,001 calls with tokens of 1 revoked key, none served too late",
		"21 commands, each at its own place; 1 ids of other places refused":                                                                               "21 commands, each at its own place; 1 id of other places refused",
	} {
		if got := plain(in); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestAssertionsOfARow: the list of assertions has as many as the evidence says, and tells of the steps that made none.
func TestAssertionsOfARow(t *testing.T) {
	t.Parallel()
	of := func(all ...Status) (out []Assertion) {
		for _, s := range all {
			out = append(out, Assertion{Clause: "CMD-1", Status: s})
		}
		return out
	}
	for want, made := range map[string][]Assertion{
		"":                                nil,
		"1 assertion":                     of(Pass),
		"2 assertions, 1 step skipped":    of(Pass, Skipped, Fail),
		"1 step blocked, 2 steps skipped": of(Skipped, Blocked, Skipped),
	} {
		rows := Ledger(nil, made, Basis{})
		row := rows[slices.IndexFunc(rows, func(r Row) bool { return r.Clause == "CMD-1" })]
		if got := row.Asserted(); got != want {
			t.Errorf("%v: got %q, want %q", made, got, want)
		}
	}
}
