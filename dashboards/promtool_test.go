package dashboards

import (
	"os"
	"os/exec"
	"testing"
)

// TestPromtool: Prometheus's own tool reads the configuration and runs the rules' unit tests (Debian package
// prometheus).
func TestPromtool(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("promtool is missing; apt-get install prometheus")
		}
		t.Skip("promtool is missing: the rules are not checked by Prometheus' own tool; apt-get install prometheus")
	}
	for _, args := range [][]string{
		{"check", "config", "--lint-fatal", "prometheus.yml"},
		{"check", "rules", "--lint-fatal", "rules.yml"},
		{"test", "rules", "rules_test.yml"},
	} {
		c := exec.Command(tool, args...)
		c.Dir = "prometheus"
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("promtool %q: %v\n%s", args, err, out)
		}
	}
}
