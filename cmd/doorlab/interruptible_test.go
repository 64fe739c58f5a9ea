package main

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestReadingIsInterruptible: a file may be a pipe that nobody writes to.
func TestReadingIsInterruptible(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	must.OK(t, err)
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	pipe := fmt.Sprintf("/dev/fd/%d", r.Fd())
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{
		{"check", pipe}, {"check", "list", pipe}, {"check", "lint", pipe}, {"check", "terms_values", "--world", pipe, "--out", t.TempDir()},
		{"load", pipe}, {"load", "door-commands", "--world", pipe, "--out", t.TempDir()},
		{"up", "--world", pipe}, {"serve", "--world", pipe}, {"boards", "--world", pipe}, {"router", "--world", pipe}, {"world", "lint", pipe},
	} {
		if code, _, errs := runQuietly(interrupted, args...); code != codeInterrupted || errs != "doorlab: interrupted\n" {
			t.Errorf("%v: got exit %d and %q, want %d and that it was interrupted", args, code, errs, codeInterrupted)
		}
	}
}
