package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/doorlab/doorlab/internal/must"
)

// shellOf is what a page offers to paste, in its order.
func shellOf(t *testing.T, page string) string {
	t.Helper()
	raw := must.Get(os.ReadFile("../../docs/" + page))(t)
	var all []string
	for _, part := range strings.Split(string(raw), "```sh\n")[1:] {
		block, _, ok := strings.Cut(part, "```")
		if !ok {
			t.Fatalf("%s: a block that doesn't end", page)
		}
		all = append(all, block)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no commands", page)
	}
	return strings.Join(all, "\n")
}

// play runs commands as a person pastes them, in an empty directory. doorlab is this build.
func play(t *testing.T, dir, code string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-eu", "-o", "pipefail", "-c", code)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+releaseDir(t)+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// inOrder checks that a text has parts, one after the other.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, p := range parts {
		i := strings.Index(rest, p)
		if i < 0 {
			t.Fatalf("no %q, in this order, in\n%s", p, text)
		}
		rest = rest[i+len(p):]
	}
}

// TestTutorialPage plays the tutorial: an empty file, a pass, a failure, and what was promised.
func TestTutorialPage(t *testing.T) {
	t.Parallel()
	out := play(t, t.TempDir(), shellOf(t, "tutorial.md"))
	inOrder(t, out, "exit code 3", "PASS", "ann stays out", "exit code 4", "report.html", "SYNC", "PASS")
}

func TestWorldPage(t *testing.T) {
	t.Parallel()
	inOrder(t, play(t, t.TempDir(), shellOf(t, "world.md")), "doorlab up --world stores.yaml", "2 places, 12 boards, 24 doors")
}

// TestControlPage runs the calls of control-api.md.
func TestControlPage(t *testing.T) {
	t.Parallel()
	p := start(t, "up", "--json", "--clock", "virtual", "--boards", "10", "--control-token", "t", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--control", "127.0.0.1:0")
	code := strings.ReplaceAll(shellOf(t, "control-api.md"), "http://127.0.0.1:8081", p.server().Control)
	dir := t.TempDir()
	inOrder(t, play(t, dir, code), `"faultId":"flt_`, `"state":"`, `"phase":"`)
	if b, err := os.ReadFile(filepath.Join(dir, "doorlab-control.json")); err != nil || !strings.Contains(string(b), `"openapi"`) {
		t.Errorf("doorlab-control.json: %v, want an OpenAPI document:\n%.200s", err, b)
	}
}

// TestCIPage runs the commands of ci.md, and both workflows run the same ones.
func TestCIPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.OK(t, os.MkdirAll(filepath.Join(dir, "tests"), 0o700))
	free := "export DOORLAB_HTTP=127.0.0.1:0 DOORLAB_MQTT=127.0.0.1:0; unset DOORLAB_CONTROL\n" // ports of other tests are taken
	code := strings.Replace(shellOf(t, "ci.md"), "doorlab doctor\n", "doorlab doctor --control 127.0.0.1:0\n", 1)
	out := play(t, dir, free+code)
	inOrder(t, out, "fleet", "PASS", "is ready", "flt_", "virtual clock")

	raw := must.Get(os.ReadFile("../../docs/ci.md"))(t)
	flows := strings.Split(string(raw), "```yaml\n")[1:]
	if len(flows) != 2 {
		t.Fatalf("ci.md has %d workflows, want 2", len(flows))
	}
	ran := regexp.MustCompile(`(?m)^(doorlab (?:doctor|check) ?.*)$`)
	for _, flow := range flows {
		text, _, _ := strings.Cut(flow, "```")
		var v map[string]any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("not YAML: %v\n%s", err, text)
		}
		for _, command := range ran.FindAllString(string(raw[:strings.Index(string(raw), "```yaml")]), -1) {
			if !strings.Contains(text, command+"\n") {
				t.Errorf("a workflow doesn't run %q:\n%s", command, text)
			}
		}
	}
}

// TestLoadPage: the plan of load-testing.md runs as it stands, with the page's faults, but for three seconds in place of its
// twenty; the built-in one as it is, and two seconds in place of a minute.
func TestLoadPage(t *testing.T) {
	t.Parallel()
	plan, faults := blockOf(t, "load-testing.md", "name: evening\n"), blockOf(t, "load-testing.md", "faults:\n")
	if !strings.Contains(plan, "duration: 20s\n") || !strings.Contains(faults, "at: 5s, for: 10s,") || !strings.Contains(faults, "at: 20s,") {
		t.Fatalf("the page's plan is\n%s\n%s\nwant one of 20 s, with faults at 5 s and 20 s", plan, faults)
	}
	short := strings.NewReplacer("duration: 20s", "duration: 3s", "rate: 300/s", "rate: 50/s", "p99_reported: 500ms", "p99_reported: 15s",
		"at: 5s, for: 10s,", "at: 0s, for: 1s,", "at: 20s,", "at: 1s,").Replace(plan + faults)
	dir := t.TempDir()
	written(t, dir, map[string]string{"my-plan.yaml": short})
	for line := range strings.Lines(blockOf(t, "load-testing.md", "doorlab load my-plan.yaml")) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		line = strings.Replace(line, "--rate 1000 --duration 1m", "--rate 100 --duration 2s", 1)
		out := play(t, dir, line+" --boards 20 --out run 2>&1 || case $? in 6 | 99) ;; *) exit 1 ;; esac\nls run\n") // a machine too busy to send, or to answer, in time
		inOrder(t, out, "history.ndjson", "report.html", "result.json")
	}
}

// TestSearchPage: the page's search is copied, runs, and is compared with itself, at a rate that any machine can send.
func TestSearchPage(t *testing.T) {
	t.Parallel()
	lines := strings.SplitN(blockOf(t, "load-testing.md", "doorlab load new my-search"), "\n", 2)
	dir := t.TempDir()
	play(t, dir, lines[0]+"\n")
	raw := must.Get(os.ReadFile(filepath.Join(dir, "my-search.yaml")))(t)
	short := strings.NewReplacer("rate: 200/s", "rate: 10/s", "to: 6400/s", "to: 20/s", "duration: 10s", "duration: 1s", "p99_reported: 500ms", "p99_reported: 15s").Replace(string(raw))
	if strings.Contains(short, "00/s") || strings.Contains(short, "10s") {
		t.Fatalf("the built-in search is\n%s\nwant one from 200/s to 6,400/s in steps of 10 s", raw)
	}
	written(t, dir, map[string]string{"my-search.yaml": short + "maxLag: 10s\n"})
	for line := range strings.Lines(strings.TrimSpace(lines[1])) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		out := play(t, dir, line+" --boards 10 2>&1 || case $? in 6 | 99) ;; *) exit 1 ;; esac\n") // a machine too busy to send, or to answer, in time
		inOrder(t, out, "my-search", "search", "simulated boards report after", "judged over the whole search")
		if strings.Contains(line, "--baseline") {
			inOrder(t, out, "against the baseline", "highest rate within the thresholds")
		}
	}
}
