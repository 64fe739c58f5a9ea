package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
)

// ofRun reads what a run found out.
func ofRun(t *testing.T, dir string) (r report.Result) {
	t.Helper()
	raw := must.Get(os.ReadFile(filepath.Join(dir, "verdicts.json")))(t)
	must.OK(t, json.Unmarshal(raw, &r))
	return r
}

// Shards of a suite, merged, say what one run of the suite says; and a merge never
// passes with a shard that isn't there, or there twice, or another's.
func TestMergeOfShards(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	play := func(name string, want int, args ...string) string {
		t.Helper()
		dir := filepath.Join(root, name)
		if code, out, errs := runQuietly(t.Context(), append([]string{"check", "--boards", "20", "--out", dir}, args...)...); code != want {
			t.Fatalf("check %v exits %d, want %d\n%s%s", args, code, want, out, errs)
		}
		return dir
	}
	files := []string{"terms_values", "permits_states", "reservations_time"}
	whole := play("whole", codeOK, files...)
	first := play("first", codeOK, append(files, "--shard", "1/2")...)
	second := play("second", codeOK, append(files, "--shard", "2/2")...)
	other := play("other", codeOK, append(files, "--shard", "2/2", "--seed", "9")...)
	broken := filepath.Join(root, "broken.yaml")
	text := "name: a wrong hope\nclauses: [PERM-1]\nneeds: {boards: 1}\nsetup:\n  - cohort: {name: one, boards: 1}\nsteps:\n  - permit: {person: ann, place: one}\n    expect: data.permitId == \"nobody\"\n    clauses: [PERM-1]\n"
	must.OK(t, os.WriteFile(broken, []byte(text), 0o600))
	failing := play("failing", codeFailed, files[0], broken, "--shard", "2/2")
	passing := play("passing", codeOK, files[0], broken, "--shard", "1/2")

	merge := func(want int, say string, dirs ...string) report.Result {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "merged")
		code, out, errs := runQuietly(t.Context(), append([]string{"merge", "--out", dir}, dirs...)...)
		if code != want || !strings.Contains(out, say) {
			t.Fatalf("merge of %v exits %d, want %d with %q\n%s%s", dirs, code, want, say, out, errs)
		}
		if again, _, _ := runQuietly(t.Context(), "judge", dir); again != want {
			t.Errorf("the merge of %v, judged again, exits %d, want %d", dirs, again, want)
		}
		return ofRun(t, dir)
	}
	got, want := merge(codeOK, "PASS", second, first), ofRun(t, whole)
	if len(got.Files) != len(want.Files) || got.Worlds != want.Worlds {
		t.Errorf("%d files in %d worlds, want %d in %d", len(got.Files), got.Worlds, len(want.Files), want.Worlds)
	}
	statuses := func(r report.Result) map[string]judge.Status {
		m := map[string]judge.Status{}
		for _, row := range r.Ledger {
			m[row.Clause] = row.Status
		}
		return m
	}
	have := statuses(got)
	for clause, status := range statuses(want) {
		if have[clause] != status {
			t.Errorf("%s is %s in the merge, want %s as in one run", clause, have[clause], status)
		}
	}
	merge(codeInvalid, "shard 2/2 is missing", first)
	merge(codeInvalid, "both shard 1 of 2", first, first, second)
	merge(codeInvalid, "can't be read as a run", first, second, filepath.Join(root, "nowhere"))
	merge(codeInvalid, "has seed 9", first, other)
	merge(codeFailed, "different selections", first, failing)
	merge(codeFailed, "broken.yaml", passing, failing)
	merge(codeFailed, "broken.yaml", failing)
}
