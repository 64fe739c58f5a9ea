package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/scenarios"
)

// TestCellsHaveTheVerdictsOfOneServer plays files of the suite against each cell, its boards and clocks, through
// the router, and in one server with all places. DOORLAB_CELLS=all (make cells-test) takes the whole suite, and
// DOORLAB_CELLS=one,two the files of these names: what failed on a busy machine is played again by itself.
func TestCellsHaveTheVerdictsOfOneServer(t *testing.T) {
	t.Parallel()
	files := []string{"auth_addresses", "commands_sim_delay", "docs_published", "imports_rows", "permits_states"}
	places := 5
	if asked := os.Getenv("DOORLAB_CELLS"); asked == "all" {
		files, places = allFiles(t), 18
	} else if asked != "" {
		files, places = strings.Split(asked, ","), 18
	}
	c := startCells(t, cellsWorld(places), "virtual")
	var args []string
	for _, f := range files {
		args = append(args, filepath.Join("../../scenarios", f+".yaml"))
	}
	var one map[string]report.FileResult
	var got [cellCount]map[string]report.FileResult
	var wg sync.WaitGroup
	sideBySide := func(f func()) {
		if places < 18 {
			wg.Go(f)
		} else { // the loads of the whole suite need the machine for themselves
			f()
		}
	}
	sideBySide(func() { one = playFiles(t, append([]string{"--world", c.file}, args...)) })
	for i, cell := range c.cells {
		sideBySide(func() {
			got[i] = playFiles(t, append([]string{"--target", c.front.HTTP, "--control", cell.ready.Control, "--control", cell.fleet.Control, "--control-token", "t"}, args...))
		})
	}
	wg.Wait()
	if len(one) != len(files) {
		t.Fatalf("one server played %d files, want %d", len(one), len(files))
	}
	for _, path := range args {
		want, played := one[path], 0
		for i := range got {
			have := got[i][path]
			if have.Status == judge.Skipped && want.Status != judge.Skipped { // too small a share of the places for this file
				continue
			}
			if played++; have.Status == want.Status {
				t.Logf("%s: cell %d and one server %s", path, i+1, have.Status)
			} else {
				t.Errorf("%s: cell %d %s (%s), one server %s (%s)", path, i+1, have.Status, have.Reason, want.Status, want.Reason)
			}
		}
		if reason := got[0][path].Reason; played == 0 && reason == "needs server and boards in one process" {
			t.Logf("%s: no cell has them in one process; one server %s", path, want.Status)
		} else if played == 0 {
			t.Errorf("%s: every cell skipped it (%s), one server %s", path, reason, want.Status)
		}
	}
}

func allFiles(t *testing.T) (names []string) {
	t.Helper()
	found := must.Get(fs.Glob(scenarios.Files, "*.yaml"))(t)
	for _, f := range found {
		names = append(names, strings.TrimSuffix(f, ".yaml"))
	}
	return names
}

// playFiles checks files and returns the result of each by its path. The run as a whole
// must pass, too; where the machine was too busy to know the clocks of its processes, which
// says nothing of cells, it is played again.
func playFiles(t *testing.T, args []string) map[string]report.FileResult {
	t.Helper()
	var r report.Result
	dir := t.TempDir()
	code, out, errs := onceCalm(t, append([]string{"check", "--out", dir}, args...)...)
	b, err := os.ReadFile(filepath.Join(dir, "verdicts.json"))
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil || code != codeOK {
		t.Errorf("check %v: exit code %d, %s %s, %v; want it to pass\n%s\n%s", args, code, r.Status, r.Reason, err, out, errs)
	}
	files := map[string]report.FileResult{}
	for _, f := range r.Files {
		files[f.Path] = f
	}
	return files
}
