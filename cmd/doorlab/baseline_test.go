package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestCheckBaseline: check --baseline says what has changed since an earlier run.
func TestCheckBaseline(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, before := filepath.Join(dir, "one.yaml"), filepath.Join(dir, "before")
	play := func(want int, outcome string, more ...string) string {
		t.Helper()
		must.OK(t, os.WriteFile(file, []byte("setup: [{cohort: {name: one, boards: 1}}]\nsteps: [{command: {door: one, outcome: "+outcome+"}}]\n"), 0o600))
		code, out, errs := runQuietly(t.Context(), append([]string{"check", "--boards", "1", file}, more...)...)
		if code != want {
			t.Fatalf("%s: exit code %d, want %d\n%s%s", outcome, code, want, out, errs)
		}
		return out + errs
	}
	play(codeOK, "reported", "--out", before)
	for outcome, want := range map[string]string{"reported": "every verdict is the same", "refused": "one was PASS and is FAIL"} {
		code := map[string]int{"reported": codeOK, "refused": codeFailed}[outcome]
		if got := play(code, outcome, "--out", filepath.Join(dir, outcome), "--baseline", before); !strings.Contains(got, "note: compared with "+before+": "+want) {
			t.Errorf("%s: got %s, want %q in it", outcome, got, want)
		}
	}
	if got := play(codeUsage, "reported", "--baseline", dir); !strings.HasPrefix(got, "doorlab: --baseline: "+dir+" is not a run directory") {
		t.Errorf("got %s, want that it isn't a run directory", got)
	}
}
