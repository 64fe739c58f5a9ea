package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/report"
)

// TestScenarioExamples plays every example of scenarios.md on the page's set-up. Each file ends with a read, because
// some examples assert nothing by themselves and a file without evidence is INVALID.
func TestScenarioExamples(t *testing.T) {
	t.Parallel()
	raw := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "scenarios.md")))(t)
	_, verbs, found := strings.Cut(string(raw), "\n## Verbs\n")
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(verbs, -1)
	if !found || len(blocks) < 38 {
		t.Fatalf("scenarios.md has %d examples of verbs, want their set-up and 37 or more", len(blocks))
	}
	setup, _, _ := strings.Cut(blocks[0][1], "steps:\n")
	slower := strings.NewReplacer("rate: 300/s", "rate: 60/s, maxLag: 30s", "minRate: 290", "minRate: 20") // this machine tests beside it
	dir := t.TempDir()
	for i, b := range blocks[1:] {
		step := "  " + strings.ReplaceAll(slower.Replace(strings.TrimSpace(b[1])), "\n", "\n  ")
		source := setup + "steps:\n" + step + "\n  - call: {place: one, path: /device/v1/devices}\n    expect: total > 0\n"
		written(t, dir, map[string]string{fmt.Sprintf("%02d.yaml", i): source})
	}
	out := t.TempDir()
	code, said := runReleased(t, "check", "--boards", "20", "--out", out, dir)
	var r report.Result
	must.OK(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join(out, "verdicts.json")))(t), &r))
	busy := false
	for i, f := range r.Files {
		if f.Status == judge.Invalid && strings.Contains(f.Reason, "the generator ") {
			t.Logf("this machine is too busy for a load, and its verdict says so: %s", f.Reason)
			busy = true
			continue
		}
		want := judge.Pass
		if strings.Contains(blocks[i+1][1], "real: true") {
			want = judge.Skipped // as the page says where there is no real board
		}
		if f.Status != want {
			t.Errorf("%s %s, want %s:\n%s", f.Status, f.Reason, want, blocks[i+1][1])
		}
	}
	if code != codeOK && !busy || len(r.Files) != len(blocks)-1 {
		t.Errorf("exit code %d and %d files, want 0 and %d\n%s", code, len(r.Files), len(blocks)-1, said)
	}
}

// TestCheckExamples plays the commands of cli.md about check and merge. They select from three scenarios in place of the
// whole suite, and one fails before `--failed` asks for it.
func TestCheckExamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written(t, dir, map[string]string{"red.yaml": "steps:\n  - call: {path: /device/v1/devices, status: 404}\n"})
	of := "export DOORLAB_BOARDS=20 DOORLAB_ONLY=idempotency_keys,outage_36h,outage_restart,red\n"
	red := "doorlab check red.yaml && exit 1\ndoorlab check --failed && exit 1\n#"
	out := play(t, dir, of+strings.Replace(blockOf(t, "cli.md", "check --smoke"), "doorlab check --failed ", red, 1))
	inOrder(t, out, "PASS · 2 scenarios", "PASS · 2 scenarios", "PASS · 10 scenarios", "FAIL · 1 scenario", "FAIL · 1 scenario", "PASS · 1 scenario")
	inOrder(t, play(t, dir, of+blockOf(t, "cli.md", "doorlab merge")), "PASS · 1 scenario", "PASS · 1 scenario", "PASS · 1 scenario", "PASS · 3 scenarios")
}

// TestApartExample plays the commands of cli.md for a server and boards in processes of their own, on an address of this
// test's own.
func TestApartExample(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written(t, dir, map[string]string{"stores.yaml": threePlaces, "secret": "a secret of at least 32 characters"})
	at := fmt.Sprintf("127.77.%d.%d", os.Getpid()>>8&255, os.Getpid()&255)
	code := strings.NewReplacer("127.0.0.1", at, "doorlab serve", "DOORLAB_CONTROL="+at+":8081 doorlab serve", "doorlab boards", "DOORLAB_CONTROL="+at+":8082 doorlab boards",
		" &\n", " >>log 2>&1 &\n", "doorlab wait &&", "doorlab wait --url http://"+at+":8080 &&").Replace(blockOf(t, "cli.md", "doorlab boards --world"))
	code = "export DOORLAB_HTTP=" + at + ":8080 DOORLAB_MQTT=" + at + ":1883 DOORLAB_BROKER=tcp://" + at + ":1883 DOORLAB_ONLY=idempotency_keys\ntrap 'cat log; kill %1 %2; wait' EXIT\n" + code
	inOrder(t, play(t, dir, code), "idempotency_keys", "PASS · 1 scenario", "clocks: at most")
}

// TestSmallExamples: doctor finds what cli.md shows, the world files of the page are sound, the configuration for language
// models starts a command of ours, and up's ready line has the page's fields.
func TestSmallExamples(t *testing.T) {
	t.Parallel()
	doctor := blockOf(t, "cli.md", "doorlab doctor --data")
	code, out, errs := runQuietly(t.Context(), "doctor", "--data", t.TempDir(), "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--control", "127.0.0.1:0")
	for line := range strings.Lines(doctor[strings.Index(doctor, "\n")+1:]) {
		if name := strings.Fields(line)[1]; code != codeOK || !strings.Contains(out, name) {
			t.Errorf("doctor: exit code %d, want 0 and a line about %s\n%s%s", code, name, out, errs)
		}
	}
	play(t, t.TempDir(), blockOf(t, "cli.md", "doorlab world init"))

	var config struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		}
	}
	must.OK(t, json.Unmarshal([]byte(blockOf(t, "cli.md", "mcpServers")), &config))
	s := config.MCPServers["doorlab"]
	c, _, err := newRoot(&env{out: io.Discard, err: io.Discard, getenv: os.Getenv}).Find(s.Args)
	if err != nil || s.Command != "doorlab" || c.Name() != "mcp" {
		t.Errorf("the configuration starts %s %v: %v, want doorlab mcp", s.Command, s.Args, err)
	}
	for name := range s.Env {
		if !slices.ContainsFunc(flagNames(c), func(flag string) bool { return variable(flag) == name }) {
			t.Errorf("%s is set for doorlab mcp, want a variable of one of its flags", name)
		}
	}

	var shown, real struct{ Places []map[string]any }
	fields := map[string]any{}
	page := []byte(blockOf(t, "cli.md", `"ready":true`))
	ready := start(t, "up", "--json", "--boards", "10", "--http", "127.0.0.1:0", "--mqtt", "127.0.0.1:0", "--control", "127.0.0.1:0").ready
	must.OK(t, json.Unmarshal(page, &shown))
	must.OK(t, json.Unmarshal(ready, &real))
	want := slices.Sorted(maps.Keys(shown.Places[0]))
	if got := slices.Sorted(maps.Keys(real.Places[0])); !slices.Equal(got, want) {
		t.Errorf("a place of the ready line has %q, cli.md shows %q", got, want)
	}
	must.OK(t, json.Unmarshal(page, &fields))
	want = slices.Sorted(maps.Keys(fields))
	clear(fields)
	must.OK(t, json.Unmarshal(ready, &fields))
	if got := slices.Sorted(maps.Keys(fields)); !slices.Equal(got, want) {
		t.Errorf("the ready line has %q, cli.md shows %q", got, want)
	}
}

// TestContainersExample: what ci.md has Testcontainers start comes up, and answers where the example looks.
func TestContainersExample(t *testing.T) {
	t.Parallel()
	code := blockOf(t, "ci.md", "GenericContainer")
	_, rest, found := strings.Cut(code, ".withCommand(")
	list, _, _ := strings.Cut(rest, ")\n")
	if !found || !strings.Contains(code, `Wait.forHttp("/readyz").forPort(8080)`) {
		t.Fatalf("no command, or no wait for /readyz, in\n%s", code)
	}
	args := []string{"--json"}
	for _, quoted := range regexp.MustCompile(`"([^"]*)"`).FindAllStringSubmatch(list, -1) {
		args = append(args, regexp.MustCompile(`^0\.0\.0\.0:\d+$`).ReplaceAllString(quoted[1], "0.0.0.0:0"))
	}
	ready := start(t, append(args[1:], args[0])...).server()
	web := strings.Replace(ready.HTTP, "0.0.0.0", "127.0.0.1", 1)
	if a, err := (client.Client{Base: web}).Call(t.Context(), http.MethodGet, "/readyz", "", nil); err != nil || a.Status != http.StatusOK {
		t.Errorf("/readyz: %v, %v, want 200", a, err)
	}
	lab := client.Client{Base: strings.Replace(ready.Control, "0.0.0.0", "127.0.0.1", 1), Token: "test"}
	clienttest.Do(t, lab, http.MethodGet, "/lab/v1/clock", nil, nil)
}

// TestHelpExamples: every command, argument and flag of the examples in --help would be taken.
func TestHelpExamples(t *testing.T) {
	t.Parallel()
	call := regexp.MustCompile(`(?:^|[^\w./-])doorlab ([^|;&<>)#]*)`)
	taken := 0
	root := newRoot(&env{out: io.Discard, err: io.Discard, getenv: os.Getenv})
	for _, c := range append(everyCommand(root), root) {
		for line := range strings.Lines(strings.ReplaceAll(c.Example, "\\\n", " ")) {
			for _, m := range call.FindAllStringSubmatch(line, -1) {
				words := regexp.MustCompile(`'[^']*'|\S+`).FindAllString(strings.ReplaceAll(m[1], "load-*", "load-1 load-2"), -1)
				to, args, err := newRoot(&env{out: io.Discard, err: io.Discard, getenv: os.Getenv}).Find(words)
				if err == nil {
					err = to.ParseFlags(args)
				}
				if err == nil {
					err = to.ValidateArgs(to.Flags().Args())
				}
				if err != nil {
					t.Errorf("%s --help: doorlab %s: %v", c.CommandPath(), m[1], err)
				}
				taken++
			}
		}
	}
	if taken < 80 {
		t.Errorf("%d commands found in the help, want at least 80", taken)
	}
}
