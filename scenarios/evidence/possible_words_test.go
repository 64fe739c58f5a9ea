package evidence

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestCodesAreTheContracts: every error code in docs/errors.md is a word that answers have.
func TestCodesAreTheContracts(t *testing.T) {
	t.Parallel()
	page := string(must.Get(os.ReadFile("../../docs/errors.md"))(t))
	rows := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(page, -1)
	if len(rows) < 30 {
		t.Fatalf("docs/errors.md lists %d codes, want at least 30", len(rows))
	}
	for _, row := range rows {
		if !slices.Contains(codes, row[1]) {
			t.Errorf("%s is in docs/errors.md, but not among the codes", row[1])
		}
	}
}
