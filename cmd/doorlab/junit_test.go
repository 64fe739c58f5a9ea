package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestJUnitHelper compiles examples/junit5 and runs its test, where a JDK and JUnit
// (Debian's junit5) are installed. With a JDK alone the helper is compiled: it needs no library.
func TestJUnitHelper(t *testing.T) {
	t.Parallel()
	javac, err := exec.LookPath("javac")
	if err != nil {
		t.Skip("needs a JDK, which is too big for the gate")
	}
	classes := t.TempDir()
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = "../../examples/junit5"
		cmd.Env = append(os.Environ(), "DOORLAB="+filepath.Join(releaseDir(t), "doorlab"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	run(javac, "--release", "11", "-Werror", "-Xlint:all,-options", "-d", classes, "Lab.java")
	var jars []string
	for _, name := range []string{"junit-jupiter-api", "junit-jupiter-engine", "junit-platform-console", "junit-platform-launcher", "junit-platform-engine",
		"junit-platform-commons", "junit-platform-reporting", "opentest4j", "apiguardian-api", "picocli", "opentest4j-reporting-events"} {
		if jar := filepath.Join("/usr/share/java", name+".jar"); exists(jar) {
			jars = append(jars, jar)
		}
	}
	if len(jars) < 10 {
		t.Log("junit5 isn't installed: the helper was compiled, its test wasn't run")
		return
	}
	path := strings.Join(append(jars, classes), ":")
	run(javac, "--release", "11", "-cp", path, "-d", classes, "OutageTest.java")
	out := run("java", "-cp", path, "org.junit.platform.console.ConsoleLauncher", "--select-class", "OutageTest", "--disable-banner", "--details", "tree")
	if !strings.Contains(out, "aDoorInAnOutage()") || !strings.Contains(out, "1 tests successful") {
		t.Errorf("want one test that passed:\n%s", out)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
