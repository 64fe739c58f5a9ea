package main

import (
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
)

// TestSignalSentTwiceCountsOnce: as timeout(1) sends it; the shutdown stays orderly, also when the terminal is closed (SIGHUP).
func TestSignalSentTwiceCountsOnce(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	any0 := "127.0.0.1:0"
	hup := make(chan os.Signal, 1) // whoever started this test may ignore SIGHUP (nohup): what is heard here isn't ignored by what is started here
	signal.Notify(hup, syscall.SIGHUP)
	defer signal.Stop(hup)
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

// TestNohup: what was started with nohup stays when its terminal is closed.
func TestNohup(t *testing.T) {
	nohup, err := exec.LookPath("nohup")
	if err != nil {
		t.Fatalf("nohup is part of coreutils: %v", err)
	}
	any0 := "127.0.0.1:0"
	cmd := command(nil, "up", "--json", "--boards", "5", "--http", any0, "--mqtt", any0, "--control", any0)
	cmd.Args = append([]string{nohup, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = nohup
	p := startCmd(t, cmd)
	must.OK(t, p.cmd.Process.Signal(syscall.SIGHUP))
	for range 300 { // longer than a server that ends goes on listening
		if status, _ := clienttest.Get(t, p.server().HTTP+"/livez"); status != http.StatusOK {
			t.Fatalf("after SIGHUP it answers %d, want 200", status)
		}
	}
	must.OK(t, p.cmd.Process.Signal(syscall.SIGTERM))
	<-p.ended
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d, want 0\n%s", code, p.stderr)
	}
}

// TestNoTemporaryDirectory: what is wrong with TMPDIR is told by its name.
func TestNoTemporaryDirectory(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
	if code, _, errs := runQuietly(t.Context(), "up", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--control", "127.0.0.1:0"); code != codeFailure || !strings.Contains(errs, "set TMPDIR") {
		t.Errorf("got exit %d, %s, want %d and TMPDIR", code, errs, codeFailure)
	}
}
