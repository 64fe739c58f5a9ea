package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/certs/certstest"
	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/router/routertest"
)

// blockOf is the block of a page that contains a text.
func blockOf(t *testing.T, page, with string) string {
	t.Helper()
	raw := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", page)))(t)
	parts := strings.Split(string(raw), "```")
	for i := 1; i < len(parts); i += 2 {
		if strings.Contains(parts[i], with) {
			_, code, _ := strings.Cut(parts[i], "\n") // after the language
			return code
		}
	}
	t.Fatalf("%s has no block with %q", page, with)
	return ""
}

// argsOf are the arguments of a page's command that begins with a text, without its comment.
func argsOf(t *testing.T, code, begins string) []string {
	t.Helper()
	code = strings.ReplaceAll(code, "\\\n", " ")
	for line := range strings.Lines(code) {
		if line, _, _ = strings.Cut(line, " #"); strings.HasPrefix(line, begins) {
			return strings.Fields(line)[1:]
		}
	}
	t.Fatalf("no command begins with %q in\n%s", begins, code)
	return nil
}

// threePlaces is a world to divide by three.
const threePlaces = `places:
  - {name: Gangnam, kind: live, fleet: {boards: 1}, keys: [{name: partner}]}
  - {name: Hongdae, kind: live, fleet: {boards: 1}, keys: [{name: partner}]}
  - {name: Jamsil, kind: live, fleet: {boards: 1}, keys: [{name: partner}]}
`

// written writes files into a directory.
func written(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
}

// TestScalePage plays the commands of scale.md for one of three machines: a server with its shard, the boards of it, a
// load that brings the boards itself, and the merge that misses the other two.
func TestScalePage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written(t, dir, map[string]string{"stores.yaml": threePlaces, "evening.yaml": "rate: 15\nduration: 2s\nmaxLag: 10s\n"})
	in := func(args []string) []string { // files are in the directory
		for i, a := range args {
			if a == "stores.yaml" || a == "secret" || a == "cell-2" || a == "cell-1" || a == "evening.yaml" || a == "runs/evening-2" {
				args[i] = filepath.Join(dir, filepath.Base(a))
			}
		}
		return args
	}
	const any0 = "127.0.0.1:0"
	shards := blockOf(t, "scale.md", "doorlab boards")
	ready := start(t, append(in(argsOf(t, shards, "doorlab serve")), "--json", "--http", any0, "--mqtt", any0, "--control", "")...).server()
	boards := start(t, append(in(argsOf(t, shards, "doorlab boards")), "--json", "--broker", ready.MQTT)...)
	if got := boards.fleet(); got.Boards != 1 || got.Shard != "2/3" {
		t.Errorf("%d boards in shard %q, want 1 in 2/3", got.Boards, got.Shard)
	}
	boards.kill()
	at := clock.WallNow().UTC().Add(15 * time.Second).Format("15:04:05Z")
	load := strings.NewReplacer("09:00:00Z", at, "https://doors.example.com", ready.HTTP, "mqtts://doors.example.com:8883", ready.MQTT).
		Replace(blockOf(t, "scale.md", "doorlab load evening.yaml"))
	code, out, errs := runQuietly(t.Context(), in(argsOf(t, load, "doorlab load"))...)
	if code != codeOK && code != codeInvalid { // INVALID: a machine too busy to send in time
		t.Errorf("load: exit code %d, want 0\n%s%s", code, out, errs)
	}
	if code, out, _ = runQuietly(t.Context(), "merge", "--out", filepath.Join(dir, "alone"), filepath.Join(dir, "evening-2")); code != codeInvalid || !strings.Contains(out, "1/3") {
		t.Errorf("merge of one shard of three: exit code %d, want %d and what is missing\n%s", code, codeInvalid, out)
	}
	cell := in(argsOf(t, blockOf(t, "scale.md", "doorlab router"), "doorlab serve"))
	for i := range cell {
		cell[i] = strings.NewReplacer("10.0.0.1:8080", any0, "10.0.0.1:1883", any0).Replace(cell[i])
	}
	if got := start(t, append(cell, "--json", "--control", "")...).server(); len(got.Places) == 0 {
		t.Error("the cell has no place, want that of its shard")
	}
}

// TestRouterOfScalePage: HAProxy takes what the page's commands write, where the page has it read.
func TestRouterOfScalePage(t *testing.T) {
	t.Parallel()
	tool, dir := routertest.HAProxy(t), t.TempDir()
	cert, key := certstest.NewCA(t).Issue("doors.example.com", 1)
	pem := string(must.Get(os.ReadFile(cert))(t)) + string(must.Get(os.ReadFile(key))(t))
	written(t, dir, map[string]string{"stores.yaml": threePlaces, "doors.pem": pem})
	cells := blockOf(t, "scale.md", "doorlab router")
	args := argsOf(t, cells, "doorlab router")
	for i, a := range args {
		if a == "stores.yaml" || a == "doors.pem" || a == "./router" {
			args[i] = filepath.Join(dir, filepath.Base(a))
		}
	}
	if code, out, errs := runQuietly(t.Context(), args...); code != codeOK {
		t.Fatalf("router: exit code %d, want 0\n%s%s", code, out, errs)
	}
	haproxy := exec.Command(tool, append([]string{"-c"}, argsOf(t, cells, "haproxy")...)...)
	haproxy.Dir = dir
	if out, err := haproxy.CombinedOutput(); err != nil || strings.Contains(string(out), "WARNING") {
		t.Errorf("haproxy -c: %v, want the file accepted without a warning\n%s", err, out)
	}
}

// TestConformancePage plays conformance.md against a server of which one has the key of a test place.
func TestConformancePage(t *testing.T) {
	t.Parallel()
	const any0 = "127.0.0.1:0"
	ready := startReleased(t, "up", "--json", "--boards", "10", "--http", any0, "--mqtt", any0, "--control", any0).server()
	trial := ready.Places[slices.IndexFunc(ready.Places, func(p client.Place) bool { return p.Kind == "test" })]
	dir := t.TempDir()
	written(t, dir, map[string]string{"plan.yaml": "rate: 10\nduration: 1s\nmaxLag: 1m\n"})
	code := strings.NewReplacer("https://doors.example.com", ready.HTTP, "sact_...", *trial.APIKey, "--allow-host", "--allow-host || [ $? = 6 ]").
		Replace(blockOf(t, "conformance.md", "doorlab check --target"))
	inOrder(t, play(t, dir, code), "checks possible with a key only", "checks possible with a key only", "not judged")
}

// TestExplorePage plays explore.md, for a moment in place of its ten minutes.
func TestExplorePage(t *testing.T) {
	t.Parallel()
	line, _, _ := strings.Cut(blockOf(t, "explore.md", "$ doorlab explore"), "\n")
	if !strings.HasSuffix(line, "--for 10m") {
		t.Fatalf("the page's command is %q, want one of 10 minutes", line)
	}
	out := play(t, t.TempDir(), strings.Replace(strings.TrimPrefix(line, "$ "), "10m", "10m --sequences 1", 1))
	inOrder(t, out, "sequences", "seed 7")
}

// TestServicePage starts what the systemd unit of operations.md starts.
func TestServicePage(t *testing.T) {
	t.Parallel()
	ca := certstest.NewCA(t)
	cert, key := ca.Issue("web", 1)
	written(t, ca.Dir, map[string]string{"stores.yaml": threePlaces})
	unit := strings.ReplaceAll(blockOf(t, "operations.md", "[Service]"), "\\\n", " ")
	command := ""
	for line := range strings.Lines(unit) {
		line = strings.TrimSpace(line)
		name, value, pair := strings.Cut(line, "=")
		switch {
		case line == "" || line[0] == '#' || line[0] == '[':
		case !pair || value == "":
			t.Errorf("the unit has a line %q, want NAME=VALUE", line)
		case name == "ExecStart":
			command = value
		}
	}
	put := strings.NewReplacer("${CREDENTIALS_DIRECTORY}/cert.pem", cert, "${CREDENTIALS_DIRECTORY}/key.pem", key, "/var/lib/doorlab", filepath.Join(ca.Dir, "data"),
		"/etc/doorlab", ca.Dir, "0.0.0.0:443", "127.0.0.1:0", "0.0.0.0:8883", "127.0.0.1:0")
	var args []string
	for _, a := range strings.Fields(strings.ReplaceAll(command, `--control ""`, "--control="))[1:] {
		args = append(args, put.Replace(a))
	}
	ready := start(t, append(args, "--json")...).server()
	if !strings.HasPrefix(ready.HTTP, "https://") || !strings.HasPrefix(ready.MQTT, "mqtts://") || ready.Control != "" || len(ready.Places) != 3 {
		t.Errorf("got %s, %s, control %q and %d places, want TLS, no control API and 3 places", ready.HTTP, ready.MQTT, ready.Control, len(ready.Places))
	}
	if !strings.Contains(fmt.Sprint(args), "--link-url https://doors.example.com") {
		t.Errorf("the unit starts %v, want links of its address", args)
	}
}
