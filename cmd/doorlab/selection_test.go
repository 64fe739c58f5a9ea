package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/scenarios/engine"
)

// TestShuffle: a seed is an order of all the files that it always draws, another
// seed another one; a new one can be repeated.
func TestShuffle(t *testing.T) {
	t.Parallel()
	builtIn := must.Get(scenarioFiles(nil, nil))(t)
	order := func(p *selection) (names []string) {
		for _, f := range p.order(builtIn) {
			names = append(names, f.Base())
		}
		return names
	}
	plain := order(&selection{repeat: 1})
	five := order(&selection{repeat: 1, shuffle: "5"})
	if slices.Equal(five, plain) || !slices.Equal(five, order(&selection{repeat: 1, shuffle: "5"})) || slices.Equal(five, order(&selection{repeat: 1, shuffle: "6"})) {
		t.Errorf("seed 5 draws %v: not shuffled, not the same twice, or the same as seed 6", five)
	}
	if sorted := slices.Sorted(slices.Values(five)); !slices.Equal(sorted, slices.Sorted(slices.Values(plain))) {
		t.Errorf("seed 5 draws %v, want all of %v", five, plain)
	}
	p := &selection{repeat: 1, shuffle: "new"}
	if got := order(p); p.shuffle == "new" || !slices.Equal(got, order(&selection{repeat: 1, shuffle: p.shuffle})) {
		t.Errorf("a new shuffle says --shuffle=%s, which doesn't repeat its order", p.shuffle)
	}
}

// TestWhole: only the whole built-in suite is held to every guarantee and fault.
func TestWhole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		p    selection
		args []string
		want bool
	}{
		"everything": {selection{}, nil, true}, "shuffled and repeated": {selection{shuffle: "1", repeat: 3}, nil, true},
		"named": {selection{}, []string{"outage_36h"}, false}, "a clause": {selection{clauses: []string{"OFF-2"}}, nil, false},
		"a label": {selection{labels: []string{"smoke"}}, nil, false}, "a pattern": {selection{only: []string{"*"}}, nil, false},
		"failed": {selection{failed: "newest"}, nil, false}, "a shard": {selection{part: shard.Shard{Index: 1, Of: 2}}, nil, true},
	} {
		if got := c.p.whole(c.args); got != c.want {
			t.Errorf("%s: whole is %v, want %v", name, got, c.want)
		}
		if part := c.p.mine(c.args); (part != nil) != (c.p.part.Of > 0) || part != nil && part.Whole != c.want {
			t.Errorf("%s says of itself %+v, want a shard of the whole: %v", name, part, c.want)
		}
	}
}

// TestRepeatedShards: what the shards say that they ran together is what they run.
func TestRepeatedShards(t *testing.T) {
	t.Parallel()
	ran, said := 0, 0
	for i := 1; i <= 2; i++ {
		p := &selection{repeat: 3, part: shard.Shard{Index: i, Of: 2}}
		args := []string{"outage_36h", "permits_states", "terms_values"}
		ran += len(must.Get(p.files(args))(t))
		said = p.mine(args).Files
	}
	if ran != 9 || said != 9 {
		t.Errorf("3 files, 3 times: 2 shards ran %d scenarios and say %d, want 9", ran, said)
	}
}

// TestShards: the shards of a selection are disjoint and together all of it.
func TestShards(t *testing.T) {
	t.Parallel()
	all := must.Get((&selection{repeat: 1}).files(nil))(t)
	seen := map[string]int{}
	for i := 1; i <= 4; i++ {
		files := must.Get((&selection{repeat: 1, part: shard.Shard{Index: i, Of: 4}}).files(nil))(t)
		for _, f := range files {
			seen[f.Base()]++
		}
	}
	for _, f := range all {
		if seen[f.Base()] != 1 {
			t.Errorf("%s is in %d shards, want 1", f.Base(), seen[f.Base()])
		}
	}
}

// TestFailedOfCheck: --failed alone takes the newest run of check, not a newer one of age, whose periods are no scenarios. It
// isn't parallel, because runs is a directory of the working directory.
func TestFailedOfCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := (&selection{repeat: 1, failed: "newest"}).files(nil)
	if err == nil || !strings.Contains(err.Error(), "has no run") {
		t.Errorf("without a run: got %v, want that there is none", err)
	}
	write := func(run, files string, at time.Time) {
		path := filepath.Join("runs", run, "verdicts.json")
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.OK(t, os.WriteFile(path, []byte(`{"files":[`+files+`]}`), 0o600))
		must.OK(t, os.Chtimes(path, at, at))
	}
	day := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	write("older", `{"path":"permits_states.yaml","status":"FAIL"}`, day)
	write("newer", `{"path":"permits_states.yaml","status":"PASS"},{"path":"terms_values.yaml","status":"FAIL"}`, day.Add(time.Minute))
	write("age-1", `{"path":"2027-01-01 to 2027-01-08","status":"FAIL"}`, day.Add(time.Hour))
	files := must.Get((&selection{repeat: 1, failed: "newest"}).files(nil))(t)
	if len(files) != 1 || files[0].Base() != "terms_values" {
		t.Errorf("got %d files, want terms_values", len(files))
	}
}

// TestOnly: --only goes by the names of files, before they are read, so a mistake in another file doesn't matter; two files
// with the same name both match.
func TestOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := "name: Nothing\nclauses: [PERM-1]\nsteps:\n  - permit: {person: ann}\n"
	for file, source := range map[string]string{"a/same.yaml": good, "b/same.yml": good, "other.yaml": good, "broken.yaml": "nmae: x\n"} {
		must.OK(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(file)), 0o700))
		must.OK(t, os.WriteFile(filepath.Join(dir, file), []byte(source), 0o600))
	}
	twin := engine.TwinOf(filepath.Join(dir, "b", "same.yml"))
	for only, want := range map[string]int{"same": 2, "s*": 2, "other.yaml": 1, "[os]*.yaml": 3, twin: 1} {
		files, err := (&selection{repeat: 1, only: []string{only}}).files([]string{dir})
		if err != nil || len(files) != want {
			t.Errorf("--only %s: got %d files and error %v, want %d", only, len(files), err, want)
		}
	}
	for only, want := range map[string]string{"none": "none of 4 scenarios matches --only none", "b*": `broken.yaml:1:1: unknown key "nmae"`} {
		if _, err := (&selection{repeat: 1, only: []string{only}}).files([]string{dir}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--only %s: got error %v, want %q", only, err, want)
		}
	}
	if code, _, errs := runQuietly(t.Context(), "check", "list", dir, "--only", "other"); code != codeOK {
		t.Errorf("got exit %d and %q, want %d", code, errs, codeOK)
	}
}

// TestVainSelection: a misspelt name beside a right one is told, because the check would run less than was asked for.
func TestVainSelection(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"one", "other"} {
		must.OK(t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte("clauses: [PERM-1]\nlabels: [quick]\nsteps:\n  - permit: {person: ann}\n"), 0o600))
	}
	for _, c := range []struct {
		p    selection
		want string
	}{
		{selection{only: []string{"one", "othr"}}, `--only "othr": none of 2 scenarios has such a name, did you mean "other"?`},
		{selection{labels: []string{"quick", "qick"}}, `--label "qick": none of 2 scenarios has this label, did you mean "quick"?`},
		{selection{only: []string{"one", "othr"}, from: map[string]string{"only": "DOORLAB_ONLY"}}, ""},
		{selection{labels: []string{"quick"}, only: []string{"on*", "other"}}, ""},
	} {
		c.p.repeat = 1
		_, err := c.p.files([]string{dir})
		if got := fmt.Sprint(err); c.want != "" && got != c.want || c.want == "" && err != nil {
			t.Errorf("got error %s, want %q", got, c.want)
		}
	}
}
