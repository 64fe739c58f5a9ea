package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSignalSentTwiceCountsOnce: as timeout(1) sends it; the shutdown stays orderly, also when the terminal is closed (SIGHUP).
func TestSignalSentTwiceCountsOnce(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	any0 := "127.0.0.1:0"
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGTERM, syscall.SIGTERM, syscall.SIGTERM, syscall.SIGHUP} {
		p := start(t, "up", "--json", "--boards", "50", "--http", any0, "--mqtt", any0, "--control", any0)
		for range 5 {
			if err := p.cmd.Process.Signal(sig); err != nil {
				break // it has ended already
			}
		}
		<-p.ended
		if code := p.cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit code %d, want 0\n%s", code, p.stderr)
		}
	}
	if left, err := filepath.Glob(filepath.Join(tmp, "doorlab-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestNoTemporaryDirectory: what is wrong with TMPDIR is told by its name.
func TestNoTemporaryDirectory(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	if code, _, errs := runQuietly(t.Context(), "up", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--control", "127.0.0.1:0"); code != codeFailure || !strings.Contains(errs, "set TMPDIR") {
		t.Errorf("got exit %d, %s, want %d and TMPDIR", code, errs, codeFailure)
	}
}
