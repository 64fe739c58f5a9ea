package report_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
)

// TestDirectoryOfAnotherRun: a directory has one run, whichever command wrote it, and what no run wrote stays.
func TestDirectoryOfAnotherRun(t *testing.T) {
	t.Parallel()
	left := func(dir string) (names []string) {
		for _, e := range must.Get(os.ReadDir(dir))(t) {
			names = append(names, e.Name())
		}
		return names
	}
	put := func(dir string, names ...string) string {
		for _, name := range names {
			path := filepath.Join(dir, name)
			must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must.OK(t, os.WriteFile(path, nil, 0o600))
		}
		return dir
	}
	check := put(shardDir(t, 1, func(*report.Result) {}), "mine.txt")
	must.OK(t, report.MakeDir(check))
	if got := left(check); !slices.Equal(got, []string{"mine.txt"}) {
		t.Errorf("a load in a check's directory finds %v, want only mine.txt", got)
	}
	load := put(t.TempDir(), "mine.txt", "result.json", "results.bin", "report.html", "history.ndjson")
	must.OK(t, report.ClearDir(load))
	if got := left(load); !slices.Equal(got, []string{"mine.txt"}) {
		t.Errorf("a check in a load's directory finds %v, want only mine.txt", got)
	}
	own := put(t.TempDir(), "config.json", "scenarios/mine.yaml")
	must.OK(t, report.MakeDir(own))
	if got := left(own); !slices.Equal(got, []string{"config.json", "scenarios"}) {
		t.Errorf("a load in somebody's own directory finds %v, want config.json and scenarios", got)
	}
}
