package boardsim

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestFlashDirectories: a directory's name is taken as it is, not as a pattern that another one's may match.
func TestFlashDirectories(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for i, name := range []string{"g1", "g[1]", "x[1", "g?", "a*b", "a b#%20"} {
		f := flash{dir: filepath.Join(root, name), name: "boards"}
		must.OK(t, os.Mkdir(f.dir, 0o755))
		must.OK(t, os.WriteFile(f.path(i), nil, 0o600))
		if got, err := f.generations(); err != nil || !slices.Equal(got, []int{i}) {
			t.Errorf("in %q: got generations %v, %v; want [%d]", name, got, err, i)
		}
	}
}
