package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/capture"
	"github.com/doorlab/doorlab/internal/must"
)

// TestInterruptedLoad: a load that is interrupted leaves every report, says what it
// measured, and judges what was sent.
func TestInterruptedLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plan, out := filepath.Join(dir, "long.yaml"), filepath.Join(dir, "out")
	must.OK(t, os.WriteFile(plan, []byte("name: long\nrate: 20/s\nduration: 10m\nmaxLag: 10m\n"), 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stderr := &capture.Text{}
	go func() { <-stderr.Says("last second: "); cancel() }()
	var stdout bytes.Buffer
	code := run(ctx, []string{"load", plan, "--boards", "2", "--out", out}, &env{in: strings.NewReader(""), out: &stdout, err: stderr, getenv: func(string) string { return "" }})
	if code != codeInterrupted || !strings.Contains(stderr.String(), "interrupted; the measurements so far are in "+out) {
		t.Errorf("got exit %d and %q, want %d and where the measurements are", code, stderr.String(), codeInterrupted)
	}
	for _, name := range []string{"report.html", "report.txt", "report.tap", "junit.xml", "summary.md", "result.json", "results.bin", "history.ndjson"} {
		raw, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || len(raw) == 0 {
			t.Errorf("%s: %d bytes, %v, want the report of what was measured", name, len(raw), err)
		}
	}
	if text := stdout.String(); !strings.Contains(text, "interrupted after ") || !strings.Contains(text, "CMD-1  200 only after execution") {
		t.Errorf("stdout lacks the interruption or the guarantees:\n%s", text)
	}
}

// TestInterruptedEarly: a load that was interrupted before its first request has no measurements to point to.
func TestInterruptedEarly(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stderr := &capture.Text{}
	go func() { <-stderr.Says("ready, starts at "); cancel() }()
	args := []string{"load", "door-commands", "--boards", "2", "--out", filepath.Join(t.TempDir(), "out"), "--start-at", time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}
	code := run(ctx, args, &env{in: strings.NewReader(""), out: &bytes.Buffer{}, err: stderr, getenv: func(string) string { return "" }})
	if code != codeInterrupted || !strings.Contains(stderr.String(), "interrupted before anything was sent") || strings.Contains(stderr.String(), "measurements") {
		t.Errorf("got exit %d and %q, want %d and no measurements", code, stderr.String(), codeInterrupted)
	}
}
