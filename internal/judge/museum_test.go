package judge

import (
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// Every clause has planted bugs, and all of them are caught. A PASS thus says how much its checkers and scenarios are
// known to notice.
func TestEveryClauseHasPlantedBugs(t *testing.T) {
	t.Parallel()
	for _, c := range Clauses() {
		caught, planted := Planted(c)
		if planted == 0 || caught < planted {
			t.Errorf("%s: %d of %d planted bugs are caught, want all of at least one; run `make museum`", c, caught, planted)
		}
	}
	most := 0
	for _, e := range Museum() {
		if e.By != "test" {
			most++
		}
		for _, c := range e.Clauses {
			if Promise(c) == "" {
				t.Errorf("%s breaks %q, want a clause", e.Name, c)
			}
		}
	}
	if len(Museum()) < 100 || most < 80 {
		t.Errorf("%d planted bugs, %d caught by check or load; want at least 100 and 80", len(Museum()), most)
	}
}

// A PASS says how many of the clause's planted bugs were caught; no other status does.
func TestLedgerNamesPlantedBugs(t *testing.T) {
	t.Parallel()
	rows := Ledger(nil, []Assertion{{Clause: "CMD-7", Name: "a", Status: Pass}, {Clause: "CMD-8", Name: "b", Status: Fail}}, Basis{})
	var text strings.Builder
	must.OK(t, WriteLedger(&text, rows))
	for _, r := range rows {
		if want := r.Status == Pass; (r.Planted != "") != want {
			t.Errorf("%s %s: planted bugs %q, want them exactly with a PASS", r.Clause, r.Status, r.Planted)
		}
		if r.Planted != "" && !strings.Contains(text.String(), r.Planted) {
			t.Errorf("the ledger doesn't say %q:\n%s", r.Planted, text.String())
		}
	}
}
