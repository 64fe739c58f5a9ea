package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// onceCalm runs `check` or `load` with --out and repeats it, up to 5 times, while it is INVALID: this machine was too busy
// with the tests beside it, so that the clocks of several processes were known too coarsely, or the generator fell behind.
// That says nothing of what the test is about. For tests that don't want INVALID.
func onceCalm(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	for again := 4; ; again-- {
		code, out, errs = runQuietly(t.Context(), args...)
		if again == 0 || code != codeInvalid {
			return code, out, errs
		}
		t.Logf("%s played again: it was INVALID, as on a busy machine\n%s", args[0], out[strings.LastIndex(out, "\nINVALID")+1:])
		if i := slices.Index(args, "--out"); i >= 0 {
			if err := os.RemoveAll(args[i+1]); err != nil {
				t.Error(err)
			}
		}
	}
}
