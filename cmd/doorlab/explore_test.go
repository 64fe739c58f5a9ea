package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The model and the product agree: what explore finds in a clean build is a bug of one of them.
func TestExplore(t *testing.T) {
	t.Parallel()
	n := "10"
	if testing.Short() {
		n = "6"
	}
	code, out, errs := runQuietly(t.Context(), "explore", "--seed", "11", "--sequences", n, "--failures", "3", "--out", t.TempDir())
	if code != codeOK || !strings.Contains(out, n+" sequences") {
		t.Errorf("exit code %d\n%s\n%s", code, out, errs)
	}
}

// TestExploreShort: sequences of one operation, after which every list is empty, can be judged, too.
func TestExploreShort(t *testing.T) {
	t.Parallel()
	if code, out, errs := runQuietly(t.Context(), "explore", "--seed", "1", "--sequences", "8", "--length", "1", "--out", t.TempDir()); code != codeOK {
		t.Errorf("got exit %d, want 0\n%s%s", code, out, errs)
	}
}

// What explore finds in a build with a bug fails there with check, and passes without the bug.
func TestExploreFindsAndShrinks(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a binary and plays some hundred sequences; run without -short")
	}
	t.Parallel()
	dir, bin := t.TempDir(), buildPlanted(t)
	planted := func(bug string, args ...string) (int, string) {
		cmd := exec.Command(bin, args...)
		cmd.Env = append(os.Environ(), "DOORLAB_BUG="+bug)
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	code, out := planted("board-acts-twice", "explore", "--seed", "1", "--sequences", "50", "--out", dir)
	files, _ := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if code != codeFailed || len(files) != 1 {
		t.Fatalf("exit code %d, files %v; want %d and one\n%s", code, files, codeFailed, out)
	}
	source, _ := os.ReadFile(files[0])
	if n := strings.Count(string(source), "\n  - "); n > 40 {
		t.Errorf("%d steps are left, want at most 40:\n%s", n, source)
	}
	check := []string{"check", "--boards", "2", "--out", filepath.Join(dir, "run"), files[0]}
	if code, out := planted("board-acts-twice", check...); code != codeFailed {
		t.Errorf("with the bug: exit code %d, want %d\n%s", code, codeFailed, out)
	}
	if code, out := planted("", check...); code != codeOK {
		t.Errorf("without the bug: exit code %d, want 0\n%s", code, out)
	}
}

func TestExploreInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, _ := runQuietly(ctx, "explore", "--sequences", "5", "--out", t.TempDir()); code != codeInterrupted {
		t.Errorf("exit code %d, want %d", code, codeInterrupted)
	}
}

func TestExploreFlags(t *testing.T) {
	t.Parallel()
	for _, args := range []string{"--seed 0", "--for -1s", "--for 0s", "--sequences -1", "--parallel 0", "--parallel 9223372036854775807",
		"--length 0", "--length 9223372036854775807", "--failures 0", "x"} {
		code, _, errs := runQuietly(t.Context(), append([]string{"explore"}, strings.Fields(args)...)...)
		if code != codeUsage {
			t.Errorf("%s: exit code %d (%s), want %d", args, code, errs, codeUsage)
		}
	}
}
