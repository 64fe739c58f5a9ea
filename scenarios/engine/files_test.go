package engine

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/doorlab/doorlab/internal/must"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		must.OK(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(path))(t)
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

// TestErrors: all problems in a file are reported at once, each with line, caret and the nearest valid name.
func TestErrors(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("testdata/errors/*.yaml")
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			t.Parallel()
			_, err := Load(f)
			var ps Problems
			if !errors.As(err, &ps) {
				t.Fatalf("got %v, want a list of problems", err)
			}
			golden(t, strings.TrimSuffix(f, ".yaml")+".txt", ps.Error()+"\n")
		})
	}
}
