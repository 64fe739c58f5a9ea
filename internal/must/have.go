package must

import (
	"os"
	"os/exec"
	"testing"
)

// Have returns the path of a program that a test runs, and of which Debian's package has the name pkg; programs of the
// administrator are found, too. Without it the test is skipped, and fails in the gate (CI is set): nothing is skipped there.
func Have(t testing.TB, program, pkg string) string {
	t.Helper()
	for _, path := range []string{program, "/usr/sbin/" + program} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	const why = "%s is not installed: apt-get install %s"
	if os.Getenv("CI") != "" {
		t.Fatalf(why, program, pkg)
	}
	t.Skipf(why, program, pkg)
	return ""
}
