package planted

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/bug"
)

// Every planted value bug is in the museum: a bug that nobody plays proves nothing.
func TestBugsAreNamed(t *testing.T) {
	t.Parallel()
	names := bug.Names()
	for name := range edges() {
		if !slices.Contains(names, name) {
			t.Errorf("%q isn't in internal/bug", name)
		}
	}
}
