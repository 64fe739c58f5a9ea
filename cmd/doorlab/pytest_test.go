package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestPytestHelper: examples/pytest works with unittest, and with pytest where it is installed.
func TestPytestHelper(t *testing.T) {
	t.Parallel()
	must.Have(t, "python3", "python3")
	run := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "python3", args...)
		cmd.Dir = "../../examples/pytest"
		cmd.Env = append(os.Environ(), "DOORLAB="+filepath.Join(releaseDir(t), "doorlab"), "PYTHONDONTWRITEBYTECODE=1")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := run("-m", "unittest", "-v", "test_outage"); err != nil || !strings.Contains(out, "Ran 1 test") {
		t.Errorf("unittest: %v\n%s", err, out)
	}
	if _, err := run("-c", "import pytest"); err != nil {
		t.Log("pytest isn't installed: the same test ran with unittest alone")
		return
	}
	if out, err := run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not WithoutPytest"); err != nil || !strings.Contains(out, "1 passed") {
		t.Errorf("pytest: %v\n%s", err, out)
	}
}
