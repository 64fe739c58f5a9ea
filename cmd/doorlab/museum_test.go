package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/doorlab/doorlab/internal/bug"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
)

// visit is what became of a planted bug: By is the clause that failed or the test, First the
// first bad event or the failed step. By is "" when the bug survived, and First says how.
type visit struct {
	bug.Bug
	By, First string
}

// museum plays bugs with a binary that was built with the tag, several at a time.
type museum struct {
	bin string
	dir string // for run directories
}

// TestMuseum plays planted bugs against what should catch them: the first of
// each family of clauses, or those that DOORLAB_MUSEUM names ("all", or an expression for
// names). `make museum` plays all, and writes down which were caught.
func TestMuseum(t *testing.T) {
	t.Parallel()
	list, kept := chosen(t)
	m := museum{buildPlanted(t), t.TempDir()}
	none := bug.Bug{By: bug.Check, With: []string{"permits_values", "devices_values", "sync_values"}, Clauses: judge.Clauses()}
	if v := m.play(none); v.By != "" || v.First != "exit code 0" {
		t.Fatalf("the same build without a bug: %s %s", v.By, v.First)
	}
	t.Run("on a shared target", func(t *testing.T) { m.shared(t) })
	t.Run("in virtual weeks", func(t *testing.T) { m.aged(t) })
	visits := make([]visit, len(list))
	var wg sync.WaitGroup
	next := make(chan int)
	for range 5 { // a run waits for time-outs more than it works
		wg.Go(func() {
			for i := range next {
				visits[i] = m.play(list[i])
				v := visits[i]
				if v.By == "" {
					t.Errorf("%s SURVIVED: %s [%s]: %s", v.Name, v.Promise, strings.Join(v.Clauses, " "), v.First)
				} else if os.Getenv("DOORLAB_MUSEUM") != "" {
					fmt.Printf("%s: %s\n\tcaught by %s, %s\n\t%s\n", v.Name, v.Promise, v.Bug.By, v.By, v.First)
				}
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	wg.Wait()
	if kept {
		writeMuseum(t, visits)
	}
}

// shared plays a bug on a server that runs on and on: each of several runs finds
// it, the first one and those that begin after it, in another order too.
func (m museum) shared(t *testing.T) {
	const planted = "denied-revoked-moves-relay"
	any0 := "127.0.0.1:0"
	server := startBin(t, m.bin, []string{"DOORLAB_BUG=" + planted}, "up", "--json", "--clock", "virtual", "--boards", "20", "--http", any0, "--mqtt", any0, "--control", any0, "--control-token", "t").server()
	var b bug.Bug
	for _, x := range bug.Museum() {
		if x.Name == planted {
			b = x
		}
	}
	for i, more := range [][]string{nil, nil, {"--shuffle"}} {
		dir := filepath.Join(m.dir, fmt.Sprint(planted, i))
		args := append([]string{"check", "--out", dir, "--target", server.HTTP, "--control", server.Control, "--control-token", "t", "permits_values"}, more...)
		for _, f := range b.With {
			args = append(args, scenarioFile(f))
		}
		if v := m.judged(b, filepath.Join(dir, "verdicts.json"), args...); v.By == "" {
			t.Errorf("run %d on the same server: %s SURVIVED: %s", i+1, planted, v.First)
		}
	}
}

// aged plays bugs for two virtual weeks: whatever the seed draws finds them.
func (m museum) aged(t *testing.T) {
	for name, clause := range map[string]string{"outage-36h-ge": "OFF-1", "revocation-lost": "ENT-1", "hold-a-minute-longer": "CMD-7",
		"records-lost-in-outage": "OFF-4", "scope-reset-by-reissue": "PERM-6"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(m.dir, "aged", name)
			b := bug.Bug{Name: name, Clauses: []string{clause}}
			if v := m.judged(b, filepath.Join(dir, "verdicts.json"), "age", "--for", "2w", "--boards", "5", "--out", dir); v.By == "" {
				t.Errorf("%s SURVIVED two weeks: %s, want %s to fail", name, v.First, clause)
			}
		})
	}
}

// chosen are the bugs to play, and whether what became of them is written down.
func chosen(t *testing.T) ([]bug.Bug, bool) {
	list := bug.Museum()
	switch want := os.Getenv("DOORLAB_MUSEUM"); want {
	case "all":
		return list, true
	case "":
		seen := map[string]bool{}
		return slices.DeleteFunc(list, func(b bug.Bug) bool {
			family, _, _ := strings.Cut(b.Clauses[0], "-")
			fresh := b.By == bug.Check && !seen[family]
			seen[family] = seen[family] || fresh
			return !fresh
		}), false
	default:
		names := must.Get(regexp.Compile(want))(t)
		return slices.DeleteFunc(list, func(b bug.Bug) bool { return !names.MatchString(b.Name) }), true
	}
}

func (m museum) play(b bug.Bug) visit {
	dir := filepath.Join(m.dir, b.Name)
	switch b.By {
	case bug.Test:
		return m.test(b)
	case bug.Load:
		plan := filepath.Join(m.dir, b.Name+".yaml")
		if err := os.WriteFile(plan, []byte("rate: 20\nduration: 2s\nmaxLag: 10s\nthresholds: {errors: 0}\n"), 0o644); err != nil {
			return visit{b, "", err.Error()}
		}
		return m.judged(b, filepath.Join(dir, "result.json"), "load", plan, "--boards", "5", "--out", dir)
	}
	args := []string{"check", "--boards", "20", "--out", dir}
	for _, f := range b.With {
		args = append(args, scenarioFile(f))
	}
	return m.judged(b, filepath.Join(dir, "verdicts.json"), args...)
}

// judged runs the binary with the bug and reads its ledger.
func (m museum) judged(b bug.Bug, result string, args ...string) visit {
	cmd := exec.Command(m.bin, args...)
	cmd.Env = append(os.Environ(), "DOORLAB_BUG="+b.Name)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return visit{b, "", err.Error()}
	}
	raw, err := os.ReadFile(result)
	if err != nil {
		return visit{b, "", fmt.Sprintf("%v\n%s", err, out)}
	}
	var res struct {
		Ledger     []judge.Row `json:"ledger"`
		Guarantees struct {    // of a load
			Rows []judge.Row `json:"rows"`
		}
		Files []playedFile
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return visit{b, "", err.Error()}
	}
	code := cmd.ProcessState.ExitCode()
	first := fmt.Sprintf("exit code %d", code)
	for _, status := range []judge.Status{judge.Fail, judge.Blocked} {
		for _, r := range append(res.Ledger, res.Guarantees.Rows...) {
			if r.Status == status && slices.Contains(b.Clauses, r.Clause) && code == codeFailed {
				return visit{b, r.Clause, firstBad(r)}
			}
			if r.Status == status {
				first += fmt.Sprintf("; %s %s: %s", r.Clause, r.Status, firstBad(r))
			}
		}
	}
	if code == codeFailed && !strings.Contains(first, ";") { // a set-up that the bug broke
		for _, f := range res.Files {
			if f.Status != judge.Pass {
				return visit{b, "a failed step", f.firstBad()}
			}
		}
	}
	return visit{b, "", first}
}

// playedFile is a scenario in verdicts.json.
type playedFile struct {
	Name, Detail string
	Status       judge.Status
	Steps        []playedFile
}

// firstBad is the innermost step that didn't pass.
func (f playedFile) firstBad() string {
	for _, s := range f.Steps {
		if s.Status != judge.Pass && s.Status != judge.Skipped {
			return f.Name + ": " + s.firstBad()
		}
	}
	return f.Name + ": " + f.Detail
}

// firstBad is a failed row's first bad event, or its first failed step.
func firstBad(r judge.Row) string {
	for _, a := range r.Assertions {
		if a.Status == r.Status && r.FirstBad == nil {
			return strings.TrimSuffix(a.Name+": "+a.Number, ": ")
		}
	}
	if r.FirstBad != nil {
		return fmt.Sprintf("%s (%s)", r.FirstBad.Why, r.FirstBad.Event.Kind)
	}
	return r.Number
}

// test runs the Go test that a bug must fail, or the subtest that plants and finds it.
func (m museum) test(b bug.Bug) visit {
	finds := strings.Contains(b.With[1], "/")
	cmd := exec.Command("go", "test", "-tags", "planted", "-count=1", "-v", "-run", "^"+strings.ReplaceAll(b.With[1], "/", "$/^")+"$", b.With[0])
	cmd.Env = append(os.Environ(), "DOORLAB_BUG="+b.Name)
	word := "--- FAIL: "
	if finds {
		cmd.Env, word = os.Environ(), "--- PASS: "
	}
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.CombinedOutput()
	if (err == nil) != finds || !strings.Contains(string(out), word+b.With[1]) {
		return visit{b, "", fmt.Sprintf("%v\n%s", err, out)}
	}
	return visit{b, b.With[1], word + b.With[1]}
}

func scenarioFile(name string) string { return filepath.Join("..", "..", "scenarios", name+".yaml") }

// museumFile is what `make museum` found, embedded in the binary.
var museumFile = filepath.Join("..", "..", "internal", "judge", "museum.json")

func exhibit(b bug.Bug, failed string) judge.Exhibit {
	return judge.Exhibit{Name: b.Name, Promise: b.Promise, Clauses: b.Clauses, By: b.By, With: b.With, Failed: failed}
}

// writeMuseum writes down which bugs were caught, a line each. Those that weren't
// played stay as they were.
func writeMuseum(t *testing.T, visits []visit) {
	failed := map[string]string{}
	for _, e := range judge.Museum() {
		failed[e.Name] = e.Failed
	}
	for _, v := range visits {
		failed[v.Name] = v.By
	}
	var b strings.Builder
	for i, x := range bug.Museum() {
		line := must.Get(json.Marshal(exhibit(x, failed[x.Name])))(t)
		b.WriteString(map[bool]string{true: "[\n", false: ",\n"}[i == 0] + string(line))
	}
	must.OK(t, os.WriteFile(museumFile, []byte(b.String()+"\n]\n"), 0o644))
}

// What is written down is of the bugs that there are, and says that each is caught.
func TestMuseumIsWrittenDown(t *testing.T) {
	t.Parallel()
	known := map[string]judge.Exhibit{}
	for _, e := range judge.Museum() {
		known[e.Name] = e
	}
	for _, b := range bug.Museum() {
		e, ok := known[b.Name]
		if want := exhibit(b, e.Failed); !ok || e.Failed == "" || !reflect.DeepEqual(e, want) {
			t.Errorf("%s: internal/judge/museum.json says %+v, want %+v and caught; run `make museum`", b.Name, e, want)
		}
		delete(known, b.Name)
	}
	for name := range known {
		t.Errorf("%s is in internal/judge/museum.json but no planted bug; run `make museum`", name)
	}
}
