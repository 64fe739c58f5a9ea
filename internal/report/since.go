package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/doorlab/doorlab/internal/amount"
	"github.com/doorlab/doorlab/internal/judge"
)

// mostSince is how many changes are named; the rest is counted.
const mostSince = 12

// Since says what has changed since an earlier run: which scenarios and guarantees have another verdict, and how many
// scenarios only one of the two has.
func Since(was, now Result) string {
	files, before := statuses(now.Files), statuses(was.Files)
	same := len(files) == len(before) && inBoth(files, before) == len(files)
	changes := append(changed(before, files), changed(ledger(was.Ledger, same), ledger(now.Ledger, same))...)
	if n := len(changes) - mostSince; n > 0 {
		changes = append(changes[:mostSince], amount.Many(n, "more change"))
	}
	for _, only := range []struct {
		here, there map[string]judge.Status
		what        string
	}{{files, before, " new"}, {before, files, " not played this time"}} {
		if n := len(only.here) - inBoth(only.here, only.there); n > 0 {
			changes = append(changes, amount.Many(n, "scenario")+only.what)
		}
	}
	if len(changes) == 0 {
		return "every verdict is the same"
	}
	return strings.Join(changes, "; ")
}

// changed are the verdicts that differ, in order of their names, of what both runs have.
func changed(was, now map[string]judge.Status) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if old, ok := was[name]; ok && old != now[name] {
			out = append(out, name+" was "+string(old)+" and is "+string(now[name]))
		}
	}
	return out
}

func inBoth(a, b map[string]judge.Status) (n int) {
	for name := range a {
		if _, ok := b[name]; ok {
			n++
		}
	}
	return n
}

// statuses are the files' verdicts; of several plays, one that isn't PASS counts.
func statuses(list []FileResult) map[string]judge.Status {
	out := map[string]judge.Status{}
	for _, f := range list {
		if s, ok := out[stem(f.Path)]; !ok || s == judge.Pass {
			out[stem(f.Path)] = f.Status
		}
	}
	return out
}

// ledger are the guarantees' verdicts. Other scenarios exercise other guarantees, so what wasn't exercised counts only if the
// two runs played the same.
func ledger(rows []judge.Row, same bool) map[string]judge.Status {
	out := map[string]judge.Status{}
	for _, r := range rows {
		if same || r.Status != judge.Skipped {
			out[r.Clause] = r.Status
		}
	}
	return out
}
