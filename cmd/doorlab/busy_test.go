package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// onceCalm runs `check` or `load` with --out and repeats it, up to 5 times, where this machine was too busy with the tests
// beside it for a verdict: the clocks of several processes were known too coarsely, or the generator fell behind. The
// product answers that with INVALID, which says nothing of what the test is about.
func onceCalm(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	for again := 4; ; again-- {
		code, out, errs = runQuietly(t.Context(), args...)
		if again == 0 || code != codeInvalid || !tooBusy(out) {
			return code, out, errs
		}
		t.Logf("%s played again: this machine was too busy", args[0])
		if i := slices.Index(args, "--out"); i >= 0 {
			if err := os.RemoveAll(args[i+1]); err != nil {
				t.Error(err)
			}
		}
	}
}

// tooBusy reports whether a report says that the machine was the reason of INVALID.
func tooBusy(report string) bool {
	return strings.Contains(report, "the clocks of server and boards are known to ±") || strings.Contains(report, "the generator ")
}
