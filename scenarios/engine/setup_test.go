package engine

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
)

// TestSetUpIsEvidenceForNothing: whatever goes wrong in the set-up, also in a step that it has started, makes the file
// BLOCKED and breaks no guarantee; and what goes well proves none.
func TestSetUpIsEvidenceForNothing(t *testing.T) {
	t.Parallel()
	const bad = `{call: {path: /nowhere}, clauses: [CMD-1]`
	for name, c := range map[string]struct {
		setup string
		want  judge.Status
	}{
		"a failure":                      {bad + `}`, judge.Blocked},
		"a failure that it survives":     {bad + `, continue: true}`, judge.Blocked},
		"a failure in the background":    {bad + `, background: b}, {call: {path: /nowhere}}`, judge.Blocked},
		"an expectation of its own":      {`{call: {path: /echo}, expect: [{that: data.n == 4, clauses: [CMD-1]}], continue: true}`, judge.Blocked},
		"it passes":                      {`{call: {path: /echo}, expect: data.n == 3, clauses: [CMD-1]}`, judge.Pass},
		"it passes, with one of its own": {`{call: {path: /echo}, expect: [{that: data.n == 3, clauses: [CMD-1]}]}`, judge.Pass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			res, out := play(t, newFake(t), `{setup: [`+c.setup+`], steps: [{call: {path: /echo}, expect: data.n == 3, clauses: [HRS-1]}]}`, Options{})
			row := slices.IndexFunc(res.Ledger, func(r judge.Row) bool { return r.Clause == "CMD-1" })
			if got := res.Files[0]; got.Status != c.want || len(res.Ledger[row].Assertions) > 0 {
				t.Errorf("got %s %q and CMD-1 with %v, want %s and nothing\n%s", got.Status, got.Reason, res.Ledger[row].Assertions, c.want, out)
			}
		})
	}
}
