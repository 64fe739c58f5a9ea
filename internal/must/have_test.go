package must

import (
	"os"
	"path/filepath"
	"testing"
)

// lost remembers how a test ended instead of ending.
type lost struct {
	testing.TB
	fatal, skipped bool
}

func (l *lost) Helper()               {}
func (l *lost) Fatalf(string, ...any) { l.fatal = true }
func (l *lost) Skipf(string, ...any)  { l.skipped = l.skipped || !l.fatal }

func TestHave(t *testing.T) {
	dir := t.TempDir()
	OK(t, os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\n"), 0o700))
	t.Setenv("PATH", dir)
	for _, c := range []struct {
		program, ci    string
		fatal, skipped bool
	}{
		{"tool", "1", false, false},
		{"tool", "", false, false},
		{"no-such-tool", "1", true, false},
		{"no-such-tool", "", false, true},
	} {
		t.Setenv("CI", c.ci)
		l := &lost{TB: t}
		path := Have(l, c.program, "package")
		if l.fatal != c.fatal || l.skipped != c.skipped || (path != "") != (c.program == "tool") {
			t.Errorf("%s with CI=%q: path %q, fatal %v, skipped %v; want fatal %v, skipped %v", c.program, c.ci, path, l.fatal, l.skipped, c.fatal, c.skipped)
		}
	}
}
