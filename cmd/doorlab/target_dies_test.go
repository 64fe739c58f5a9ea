package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/capture"
	"github.com/doorlab/doorlab/internal/must"
)

// TestTargetKilledDuringARun: a target that is killed during a check or a load gives the exit code of one that is unreachable,
// whatever the steps and the thresholds made of it.
func TestTargetKilledDuringARun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	scenario, plan := filepath.Join(dir, "s.yaml"), filepath.Join(dir, "p.yaml")
	must.OK(t, os.WriteFile(scenario, []byte(`
setup:
  - cohort: {name: one, boards: 1}
steps:
  - command: {door: one, outcome: reported}
  - pause: 2s
  - command: {door: one, outcome: reported}
`), 0o600))
	must.OK(t, os.WriteFile(plan, []byte("name: dies\nrate: 20/s\nduration: 6s\nmaxLag: 1m\nthresholds: {errors: 0}\n"), 0o600))
	for name, c := range map[string]struct {
		args  []string
		keys  bool // without a control API
		alive string
	}{
		"check with a key": {[]string{"check", scenario}, true, "RUN "},
		"load with a key":  {[]string{"load", plan}, true, "last second: "},
		"load":             {[]string{"load", plan}, false, "last second: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const any0 = "127.0.0.1:0"
			p := start(t, "up", "--json", "--boards", "4", "--http", any0, "--mqtt", any0, "--control", any0)
			ready := p.server()
			args := append(c.args, "--target", ready.HTTP, "--out", filepath.Join(dir, name))
			if c.keys {
				args = append(args, "--key", *ready.Places[1].APIKey)
			} else {
				args = append(args, "--control", ready.Control, "--control-token", ready.ControlToken)
			}
			stderr, stdout := &capture.Text{}, &bytes.Buffer{}
			go func() { <-stderr.Says(c.alive); p.kill() }()
			code := run(t.Context(), args, &env{in: strings.NewReader(""), out: stdout, err: stderr, getenv: func(string) string { return "" }})
			if code != codeUnreachable || !strings.Contains(stderr.String(), "doorlab: the target is gone: "+ready.HTTP+" stopped answering during the run") {
				t.Errorf("got exit code %d and %q, want %d and that the target is gone\n%s", code, stderr, codeUnreachable, stdout)
			}
			if text := stdout.String(); !strings.Contains(text, "BLOCKED") {
				t.Errorf("stdout lacks BLOCKED:\n%s", text)
			}
		})
	}
}
