package planted

import (
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/bug"
)

// Every planted board bug is in the museum: a bug that nobody plays proves nothing.
func TestBugsAreNamed(t *testing.T) {
	t.Parallel()
	names := bug.Names()
	for _, m := range []map[string]func(Step) Step{bugs, doorBugs} {
		for name := range m {
			if !slices.Contains(names, name) {
				t.Errorf("%q isn't in internal/bug", name)
			}
		}
	}
}
