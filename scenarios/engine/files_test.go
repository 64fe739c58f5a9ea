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

// TestLoadSkipsRuns: a folder's files don't include the copies in run directories below it, but those of a run directory
// that is named itself.
func TestLoadSkipsRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{"mine.yaml", "sub/other.yml", "sub/config.json", "runs/one/scenarios/mine.yaml", "runs/one/config.json", "runs/one/verdicts.json"} {
		path = filepath.Join(dir, path)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must.OK(t, os.WriteFile(path, []byte("steps: [{call: {path: /echo}}]"), 0o644))
	}
	for from, want := range map[string][]string{".": {"mine.yaml", "sub/other.yml"}, "runs": nil, "runs/one": {"runs/one/scenarios/mine.yaml"}} {
		var got []string
		files, err := Load(filepath.Join(dir, from))
		for _, f := range files {
			got = append(got, filepath.ToSlash(strings.TrimPrefix(f.Path, dir+string(filepath.Separator))))
		}
		if d := cmp.Diff(want, got); d != "" || (err == nil) != (want != nil) {
			t.Errorf("%s: got %v; -want +got:\n%s", from, err, d)
		}
	}
}
