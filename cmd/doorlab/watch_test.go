package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// TestWatch: check --watch plays a file again after each change, also after one that can't be read, until it is interrupted.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "one.yaml")
	scenario := func(outcome string) string {
		return "setup: [{cohort: {name: one, boards: 1}}]\nsteps: [{command: {door: one, outcome: " + outcome + "}}]\n"
	}
	must.OK(t, os.WriteFile(file, []byte(scenario("reported")), 0o600))
	p := start(t, "check", "--watch", "--quiet", "--boards", "1", "--out", filepath.Join(dir, "out"), file)
	if !strings.HasPrefix(string(p.ready), "PASS") {
		t.Errorf("got %q, want PASS", p.ready)
	}
	for i, text := range []string{"", "steps: 5\n", scenario("refused")} {
		if text != "" {
			must.OK(t, os.WriteFile(file, []byte(text), 0o600))
		}
		for until := time.Now().Add(patience); strings.Count(p.stderr.String(), "watching 1 file") <= i; pause(t.Context()) {
			if time.Now().After(until) {
				t.Fatalf("%q: nothing was played:\n%s", text, p.stderr)
			}
		}
	}
	if got := p.stderr.String(); !strings.Contains(got, "one.yaml:1:8: expected a list") {
		t.Errorf("got %s, want the mistake named", got)
	}
	must.OK(t, p.cmd.Process.Signal(syscall.SIGINT))
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); code != codeInterrupted {
		t.Errorf("exit code %d, want %d", code, codeInterrupted)
	}
}

// TestLook: of a directory, only scenario files are watched; what isn't there is nothing to watch.
func TestLook(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written(t, dir, map[string]string{"a.yaml": "1", "b.yml": "2", "c.txt": "3", "world": "4"})
	got := slices.Sorted(maps.Keys(look([]string{dir, filepath.Join(dir, "world"), "", "idempotency_keys"})))
	want := []string{filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.yml"), filepath.Join(dir, "world")}
	if !slices.Equal(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	code, _, errs := runQuietly(t.Context(), "check", "--watch", "idempotency_keys")
	if want := "doorlab: --watch needs files or directories to watch"; code != codeUsage || !strings.HasPrefix(errs, want) {
		t.Errorf("got %d %s, want %d %s", code, fmt.Sprintf("%.80q", errs), codeUsage, want)
	}
}
