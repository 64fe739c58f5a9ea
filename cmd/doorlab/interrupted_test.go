package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// upTo cancels once its text has a word.
type upTo struct {
	mu     sync.Mutex
	b      bytes.Buffer
	word   string
	cancel func()
}

func (u *upTo) Write(p []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n, err := u.b.Write(p)
	if strings.Contains(u.b.String(), u.word) {
		u.cancel()
	}
	return n, err
}

func (u *upTo) String() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.b.String()
}

// TestInterruptedLoad: a load that is interrupted leaves every report, says what it
// measured, and judges what was sent.
func TestInterruptedLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plan, out := filepath.Join(dir, "long.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(plan, []byte("name: long\nrate: 20/s\nduration: 10m\nmaxLag: 10m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stderr := &upTo{word: "last second: ", cancel: cancel}
	var stdout bytes.Buffer
	code := Run(ctx, []string{"load", plan, "--boards", "2", "--out", out}, &env{in: strings.NewReader(""), out: &stdout, err: stderr, getenv: func(string) string { return "" }})
	if code != Interrupted || !strings.Contains(stderr.String(), "interrupted; the measurements so far are in "+out) {
		t.Errorf("got exit %d and %q, want %d and where the measurements are", code, stderr.String(), Interrupted)
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
