package dashboards

import (
	"os/exec"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestPromtool: Prometheus's own tool reads the configuration and runs the rules' unit tests (Debian package
// prometheus).
func TestPromtool(t *testing.T) {
	t.Parallel()
	tool := must.Have(t, "promtool", "prometheus")
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
