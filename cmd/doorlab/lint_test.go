package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

// TestLintHoldsFieldsAgainstTheContract: a field that no answer has is absent whatever
// the target does. The built-in files expect none.
func TestLintHoldsFieldsAgainstTheContract(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "typo.yaml")
	must.OK(t, os.WriteFile(file, []byte(`name: Fields that no answer has
clauses: [PERM-1]
needs: {boards: 1}
setup:
  - cohort: {name: one, boards: 1}
steps:
  - permit: {person: ann, place: one}
  - group:
      - call: {place: one, path: "/space/v1/partner/entry-permits/${ann.permitId}"}
        expect: data.revokedat == nil
  - call: {place: one, path: "/device/v1/doors?limit=3"}
    expect: data[0].doorStat == nil and data[0].online
  - call: {place: one, path: "/space/v1/partner/entry-permits/nobody", status: 404}
    expect: data?.revokedAt == nil and details?.reason == nil
  - command: {door: one}
    expect: data?.phone == nil
  - command: {door: one, legacy: true, command: close}
    expect: data?.outcom != "offline"
  - records: {place: one}
    expect: first?.outcome != "denied" and records[0].result == "opened"
  - events: {place: one}
    expect: last.kinds != "entry.denied"
`), 0o600))
	code, _, errs := runQuietly(t.Context(), "check", "lint", file)
	for _, want := range []string{`typo.yaml:16:13: data?.phone: no answer of POST /device/v1/devices/${door}/commands has "phone"`,
		`typo.yaml:10:17: data.revokedat: no answer of GET /space/v1/partner/entry-permits/${ann.permitId} has "revokedat", did you mean "revokedAt"?`,
		`typo.yaml:12:13: data[0].doorStat: no answer of GET /device/v1/doors has "doorStat", did you mean "doorState"?`,
		`typo.yaml:18:13: data?.outcom: no answer of POST /device/v1/doors/${door}/close has "outcom", did you mean "outcome"?`,
		`typo.yaml:20:13: first?.outcome: no answer of GET /space/v1/partner/entry-logs has "outcome"`,
		`typo.yaml:22:13: last.kinds: no answer of GET /core/v1/places/${place}/events has "kinds", did you mean "kind"?`} {
		if !strings.Contains(errs, want) {
			t.Errorf("lint says\n%s\nwant %s", errs, want)
		}
	}
	if n := strings.Count(errs, "no answer of"); code != codeBadScenario || n != 6 {
		t.Errorf("exit code %d with %d mistakes, want %d with 6:\n%s", code, n, codeBadScenario, errs)
	}
	built, err := filepath.Glob("../../scenarios/*.yaml")
	if err != nil || len(built) == 0 {
		t.Fatalf("%d built-in files, %v", len(built), err)
	}
	if code, _, errs := runQuietly(t.Context(), append([]string{"check", "lint"}, built...)...); code != codeOK {
		t.Errorf("the built-in files: exit code %d, want 0\n%s", code, errs)
	}
}

// TestLintOfPaths: lint says which call goes to a path that there isn't, unless the step expects its refusal or only a run knows
// the path.
func TestLintOfPaths(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "paths.yaml")
	must.OK(t, os.WriteFile(file, []byte(`
setup:
  - cohort: {name: one, boards: 1}
steps:
  - call: {place: one, path: /space/v1/partner/entry-log}
  - call: {place: one, method: DELETE, path: "/space/v1/partner/entry-permits/${one.door}"}
  - call: {place: one, path: "/device/v1/devices/${one.door}?a=${one.door}"}
  - call: {place: one, path: "/device/v1/a${one.door}"}
  - call: {place: one, path: /space/v1/nothing, status: 404}
  - call: {place: one, path: /space/v1/nothing}
    expect: error == "not_found"
`), 0o600))
	_, _, errs := runQuietly(t.Context(), "check", "lint", file)
	for _, want := range []string{
		"paths.yaml:5:30: the API has no path /space/v1/partner/entry-log, did you mean /space/v1/partner/entry-logs? (to expect that, add status: 404)",
		"paths.yaml:6:46: /space/v1/partner/entry-permits/... takes GET, POST, not DELETE (to expect that, add status: 405)",
	} {
		contains(t, errs, want)
	}
	if n := strings.Count(errs, "to expect that"); n != 2 {
		t.Errorf("%d paths are missing, want 2:\n%s", n, errs)
	}
}

// TestMissingFileNamesItsNeighbour: a mistyped path says which file beside it was probably meant.
func TestMissingFileNamesItsNeighbour(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "outage.yaml"), []byte("steps: []"), 0o600))
	missing := filepath.Join(dir, "outtage.yaml")
	code, _, errs := runQuietly(t.Context(), "check", "lint", missing)
	if want := "doorlab: " + missing + ": no such file or directory, did you mean " + filepath.Join(dir, "outage.yaml") + "?\n"; code != codeUsage || errs != want {
		t.Errorf("got exit %d and %q, want %d and %q", code, errs, codeUsage, want)
	}
}

// TestInvalidNamesThePageAboutEvidence: whoever writes a scenario that proves nothing learns where the rules are.
func TestInvalidNamesThePageAboutEvidence(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "nothing.yaml")
	must.OK(t, os.WriteFile(file, []byte("steps: [{log: hello}]"), 0o600))
	code, out, errs := runQuietly(t.Context(), "check", "--boards", "1", "--out", filepath.Join(dir, "run"), file)
	if code != codeInvalid || !strings.Contains(errs, "docs/evidence.md\n") {
		t.Errorf("got exit %d, want %d and the page about evidence\n%s%s", code, codeInvalid, out, errs)
	}
}

// TestLoadElsewhere: a load shows what happens at its own doors while it lasts, not what happened at others before.
func TestLoadElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "elsewhere.yaml")
	must.OK(t, os.WriteFile(file, []byte(`setup:
  - cohort: {name: one, boards: 1}
  - cohort: {name: stubborn, boards: 1, except: one}
  - fault: {fault: refuse, of: stubborn}
steps:
  - command: {door: stubborn, outcome: refused}
  - load: {rate: 10/s, duration: 500ms, of: one, maxLag: 10s, thresholds: {refused_max: 0}}
    clauses: [CMD-3]
`), 0o600))
	code, out, errs := runQuietly(t.Context(), "check", "--boards", "2", "--out", filepath.Join(dir, "run"), file)
	if code != codeInvalid || !strings.Contains(out, "line 7 claims CMD-3, but what it is about happened elsewhere") {
		t.Errorf("got exit %d, want %d because the refusal was elsewhere\n%s%s", code, codeInvalid, out, errs)
	}
}
