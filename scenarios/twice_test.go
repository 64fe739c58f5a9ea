package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/scenarios/engine"
)

// underLoad is a run of which only the sets are the same: latencies are drawn, and
// commands overtake each other. It is gentle and long, because a generator that is 2%
// late makes a run INVALID.
const underLoad = `
name: load
clauses: [CMD-1]
setup:
  - cohort: {name: mute, boards: 2}
  - fault: {fault: silent, of: mute, hits: 0}
  - fault: {fault: refuse, of: mute, commands: [close], params: {code: jammed}, hits: 0}
steps:
  - load: {rate: 20/s, duration: 8s, commands: {open: 70%, hold: 20%, close: 10%}, legacy: 20%, maxLag: 10s, thresholds: {errors: 0}}
    clauses: [CMD-1]
`

// TestTheSameRunTwice: with one seed, every file has the same verdict, every
// clause the same status, and every board the same journal, in order; under load
// the journals have the same lines.
func TestTheSameRunTwice(t *testing.T) {
	t.Parallel()
	var files []*engine.File
	for _, f := range load(t) {
		if slices.Contains([]string{"entry_grants", "holds_reboot", "idempotency_outcomes", "outage_36h", "outage_policy", "permits_rules"}, f.Base()) {
			files = append(files, f)
		}
	}
	extra := must.Get(engine.Parse("load.yaml", []byte(underLoad)))(t)
	files = append(files, extra)
	first, second := passing(t, files), passing(t, files)
	for i, f := range first.Files {
		if f.Status != second.Files[i].Status {
			t.Errorf("%s: got %s, then %s (%s)", f.Path, f.Status, second.Files[i].Status, second.Files[i].Reason)
		}
	}
	for i, r := range first.Ledger {
		if r.Status != second.Ledger[i].Status {
			t.Errorf("%s: got %s, then %s (%s)", r.Clause, r.Status, second.Ledger[i].Status, second.Ledger[i].Number)
		}
	}
	a, b := journals(first.Events), journals(second.Events)
	if len(a) < 2*len(files) || len(a) != len(b) {
		t.Errorf("got journals of %d boards, then of %d, want the same, and at least %d", len(a), len(b), 2*len(files))
	}
	for board, lines := range a {
		again := b[board]
		if strings.HasPrefix(board, "load.yaml ") {
			slices.Sort(lines)
			slices.Sort(again)
		}
		if d := cmp.Diff(lines, again); d != "" {
			t.Errorf("the journal of %s (-first +second):\n%s", board, d)
		}
	}
}

// passing plays files again while they are INVALID: a machine that is too busy for its load generator says nothing of the
// seed.
func passing(t *testing.T, files []*engine.File) (res engine.Result) {
	t.Helper()
	for range 3 {
		switch res = suite(t, files, engine.Options{Parallel: 4}); res.Status {
		case judge.Pass:
			return res
		case judge.Invalid:
			t.Logf("again: %s", reasons(res))
		default:
			t.Fatalf("not all files passed: %s", reasons(res))
		}
	}
	t.Fatalf("invalid three times: %s", reasons(res))
	return res
}

// journals are the lines of each board's channels in each file, without what is
// new in every run: ids and times.
func journals(events []history.Event) map[string][]string {
	out, file := map[string][]string{}, ""
	for _, e := range events {
		switch e.Kind {
		case history.World:
			file = e.Text
		case history.Actuation:
			name := fmt.Sprintf("%s %s channel %d", file, e.BoardID, e.Channel)
			out[name] = append(out[name], fmt.Sprintf("%s by %s, boot %d, in an outage: %v", e.Action, e.Cause, e.Boot, e.OutageAgeMs != 0))
		}
	}
	return out
}
