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
	out := play(t, dir, "unset DOORLAB_CONTROL\n"+shellOf(t, "ci.md"))
	inOrder(t, out, "fleet", "PASS", "is ready", "flt_", "virtual clock")

	page, flows := workflows(t)
	ran := regexp.MustCompile(`(?m)^(doorlab (?:doctor|check) ?.*)$`)
	for _, text := range flows[:2] {
		for _, command := range ran.FindAllString(page, -1) {
			if !strings.Contains(text, command+"\n") {
				t.Errorf("a workflow doesn't run %q:\n%s", command, text)
			}
		}
	}
}

// workflows are those of ci.md, and the page above them.
func workflows(t *testing.T) (above string, flows []string) {
	t.Helper()
	raw := must.Get(os.ReadFile("../../docs/ci.md"))(t)
	above, rest, _ := strings.Cut(string(raw), "```yaml\n")
	for flow := range strings.SplitSeq(rest, "```yaml\n") {
		text, _, _ := strings.Cut(flow, "```")
		var v map[string]any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Errorf("not YAML: %v\n%s", err, text)
		}
		flows = append(flows, text)
	}
	if len(flows) != 3 {
		t.Fatalf("ci.md has %d workflows, want 3", len(flows))
	}
	return above, flows
}

// TestMatrixWorkflow runs what the last workflow of ci.md runs: three shards, each with one file, one of which fails, and
// the merge, whose exit code and summary are the verdict.
func TestMatrixWorkflow(t *testing.T) {
	t.Parallel()
	_, flows := workflows(t)
	lines := regexp.MustCompile(`(?m)run: ((?:env .* )?doorlab [^#\n]*)`).FindAllStringSubmatch(flows[2], -1)
	if len(lines) != 2 {
		t.Fatalf("the workflow runs %q, want a check and a merge", lines)
	}
	var code strings.Builder
	code.WriteString("unset DOORLAB_CONTROL\nexport GITHUB_STEP_SUMMARY=$PWD/summary\nmkdir -p tests/doorlab\n")
	code.WriteString("for n in a b c; do (cd tests/doorlab && doorlab check new $n); done\n")
	code.WriteString("sed -i 's/result: opened/result: denied/' tests/doorlab/c.yaml\n")
	for _, shard := range []string{"1", "2", "3"} {
		code.WriteString(strings.ReplaceAll(lines[0][1], "${{ matrix.shard }}", shard) + " || echo shard exits $?\n")
		code.WriteString("mkdir -p shards && mv run shards/doorlab-" + shard + "\n")
	}
	code.WriteString(lines[1][1] + " || echo merge exits $?\ncat summary\n")
	out := play(t, t.TempDir(), code.String())
	inOrder(t, out, "shard exits 4", "merge exits 4", "doorlab: FAIL")
	if n := len(regexp.MustCompile(`(?m)^## `).FindAllString(out, -1)); n != 1 {
		t.Errorf("the job's summary has %d headings, want that of the merge\n%s", n, out)
	}
}

// TestLoadPage: the plan of load-testing.md runs as it stands, with the page's faults, but for three seconds in place of its
// twenty; the built-in one as it is, and two seconds in place of a minute.
func TestLoadPage(t *testing.T) {
	t.Parallel()
	plan, faults := blockOf(t, "load-testing.md", "name: evening\n"), blockOf(t, "load-testing.md", "faults:\n")
	if !strings.Contains(plan, "duration: 20s\n") || !strings.Contains(faults, "at: 5s, for: 10s,") || !strings.Contains(faults, "at: 20s,") || !strings.Contains(faults, "at: 30s, for: 5s,") {
		t.Fatalf("the page's plan is\n%s\n%s\nwant one of 20 s, with faults at 5 s, 20 s and 30 s", plan, faults)
	}
	short := strings.NewReplacer("duration: 20s", "duration: 3s", "rate: 300/s", "rate: 50/s", "p99_reported: 500ms", "p99_reported: 15s",
		"at: 5s, for: 10s,", "at: 0s, for: 1s,", "at: 20s,", "at: 1s,", "at: 30s, for: 5s,", "at: 2s, for: 500ms,").Replace(plan + faults)
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
		inOrder(t, out, "my-search", "search", "simulated boards take", "judged over the whole search")
		if strings.Contains(line, "--baseline") {
			inOrder(t, out, "against the baseline", "highest rate within the thresholds")
		}
	}
}
