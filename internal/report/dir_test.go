package report_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
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
	before := put(t.TempDir(), "mine.txt", "config.json", "scenarios/mine.yaml", "result.json", "results.bin", "report.html", "history.ndjson", "clocks.json", "metrics.prom")
	must.OK(t, report.MakeDir(before))
	if got := left(before); !slices.Equal(got, []string{"config.json", "mine.txt", "scenarios"}) {
		t.Errorf("a load in a load's directory finds %v, want only what no load wrote", got)
	}
	own := put(t.TempDir(), "config.json", "scenarios/mine.yaml")
	must.OK(t, report.MakeDir(own))
	if got := left(own); !slices.Equal(got, []string{"config.json", "scenarios"}) {
		t.Errorf("a load in somebody's own directory finds %v, want config.json and scenarios", got)
	}
}

// TestNothingRan: files that a run didn't get to weren't skipped for what they need.
func TestNothingRan(t *testing.T) {
	t.Parallel()
	late := report.FileResult{Status: judge.Skipped, Reason: report.NotRun + "interrupted"}
	other := report.FileResult{Status: judge.Skipped, Reason: "needs a control listener"}
	for want, files := range map[string][]report.FileResult{
		"no file was run, so nothing was tested":                                                 {late, late},
		"every file was skipped, so nothing was tested; the report says what each of them needs": {late, other},
	} {
		res := report.Result{Files: files}
		res.Settle(nil)
		if res.Status != judge.Skipped || res.Reason != want {
			t.Errorf("got %s, %s; want SKIPPED, %s", res.Status, res.Reason, want)
		}
	}
}
