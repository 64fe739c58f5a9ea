package doorlab

import (
	"os"
	"strings"
	"testing"
)

// TestOneControlPrefix: product code takes the path of the control API from
// control.Prefix. The judge shares nothing with what it judges, and spells it out.
func TestOneControlPrefix(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "internal/judge/") || file == "internal/control/control.go" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"/lab/v1`) {
			t.Errorf("%s: got the literal /lab/v1, want control.Prefix", file)
		}
	}
}
