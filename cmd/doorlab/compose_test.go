package main

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/judge"
	"github.com/doorlab/doorlab/internal/report"
	"github.com/doorlab/doorlab/internal/world"
)

// composeBoards of two slices; the token that the compose file passes on.
const (
	composeBoards = 200
	composeToken  = "compose-test"
)

// composeSlices have the fleet in docker-compose.yml: every second board from the first on, and from the second on.
var composeSlices = []string{"boards-1", "boards-2"}

// TestCompose ('make compose-test') builds the image from the binary of this machine, starts the services of
// docker-compose.yml that are ours, and lets Debian's Prometheus scrape them. It stops a slice and kills the server
// under load, and plays the suite with the check service: DOORLAB_COMPOSE=all the whole of it, DOORLAB_COMPOSE=one,two
// the files of these names, DOORLAB_COMPOSE=none no file. Where no engine runs it starts one (dockerd, as root), and
// ends what it started.
func TestCompose(t *testing.T) {
	asked := os.Getenv("DOORLAB_COMPOSE")
	if asked == "" {
		t.Skip("needs docker.io, docker-compose, prometheus and the static binary: make compose-test")
	}
	c := startCompose(t)
	c.part("a door in another container", c.opensDoor)
	c.part("a slice that is stopped", c.stopSlice)
	c.part("the server is killed under load", c.killServer)
	if asked != "none" {
		c.part("the suite", func(t *testing.T) { c.suite(t, asked) })
	}
}

// part is t.Run, and reports what the engine finds wrong as that part's failure.
func (c *composition) part(name string, f func(*testing.T)) {
	whole := c.t
	whole.Run(name, func(t *testing.T) {
		defer func() { c.t = whole }()
		c.t = t
		f(t)
	})
}

// composition is the running topology: a server and two slices of 200 boards, each in a container.
type composition struct {
	*dockerEngine
	api, control string
	fleet        []string // control addresses, as composeSlices
	place        world.Place
	key          string
}

func startCompose(t *testing.T) *composition {
	t.Helper()
	c := &composition{dockerEngine: newEngine(t, composeFile), place: world.Default(1, composeBoards).Places[1]}
	c.image()
	c.compose(append([]string{"up", "-d", "--no-build", "server"}, composeSlices...)...)
	c.healthy("server")
	c.api, c.control = c.address("server", "8080"), c.address("server", "8081")
	for _, s := range composeSlices {
		c.healthy(s)
		c.fleet = append(c.fleet, c.address(s, "8082"))
	}
	var made struct{ APIKey string }
	body := map[string]any{"placeId": c.place.ID, "name": "compose", "scopes": []string{"space:partner", "device:door"}}
	if err := c.lab(c.control).Do(t.Context(), http.MethodPost, "/lab/v1/keys", body, &made); err != nil {
		t.Fatalf("making a key: %v", err)
	}
	c.key = made.APIKey
	return c
}

func (c *composition) lab(base string) client.Client {
	return client.Client{Base: base, Token: composeToken}
}

// opensDoor: a command reaches a board of the second slice, the first has no such board, and Prometheus sees both.
func (c *composition) opensDoor(t *testing.T) {
	board := c.place.Boards[1]
	door := board.Doors[0].ID
	if got, err := newKeyLoad(t, c.api, c.key).send(t.Context(), door, "first"); err != nil || !strings.HasPrefix(got, "200") {
		t.Fatalf("opening a door of a board in another container: %s, %v; want 200", got, err)
	}
	lines := journal(t, c.fleet[1], composeToken, board.ID)
	if len(lines) != 1 || lines[0].Action != "pulse" || lines[0].Cause != "command" {
		t.Errorf("the journal holds %+v, want one pulse by the command", lines)
	}
	if err := c.lab(c.fleet[0]).Do(t.Context(), http.MethodGet, "/lab/v1/boards/"+board.ID, nil, nil); err == nil || !strings.Contains(err.Error(), "no simulated board") {
		t.Errorf("slice 1 on the board of slice 2: %v, want that it has no such board", err)
	}
	c.prometheus(t, map[string]string{"server:8081": c.control, "boards-1:8082": c.fleet[0], "boards-2:8082": c.fleet[1]}, map[string]string{
		"sum(up)": "3", "sum(doorlab_fleet_boards_online)": strconv.Itoa(composeBoards + 1), // and the test place's
		`sum(doorlab_fleet_journal_lines_total{action="pulse"})`: "1", `doorlab_commands_total{outcome="reported"}`: "1",
		"count(doorlab_command_phase_seconds_bucket) > bool 0": "1"}) // what the dashboards and alerts look at
}

// stopSlice: the doors of a slice that is stopped are offline, the others go on, and all open when it is back.
func (c *composition) stopSlice(t *testing.T) {
	l := newKeyLoad(t, c.api, c.key)
	want := func(round string, statuses ...string) {
		t.Helper()
		for i, status := range statuses {
			got, err := l.send(t.Context(), c.place.Boards[i].Doors[0].ID, "slice-"+round+strconv.Itoa(i))
			if err != nil || !strings.HasPrefix(got, status) {
				t.Errorf("%s, a door of slice %d: %s, %v; want %s", round, i+1, got, err, status)
			}
		}
	}
	c.compose("stop", "--timeout", "10", "boards-2")
	want("stopped", "200", "409")
	c.compose("start", "boards-2")
	c.healthy("boards-2")
	want("back", "200", "200")
}

// killServer kills the server under load, by turns the container, which is started again, and only the process,
// which the restart policy starts again: no acknowledged command is lost, none moves a door twice.
func (c *composition) killServer(t *testing.T) {
	earlier := c.pulses(t)
	l := newKeyLoad(t, c.api, c.key)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() { l.work(ctx, n) })
	}
	id := c.compose("ps", "-q", "server")
	for n := range 6 {
		l.waitFor(40)
		if n%2 == 0 {
			c.run("docker", "kill", id)
			c.run("docker", "start", id)
		} else {
			c.killProcess(t, id)
		}
		c.healthy("server")
		for _, f := range c.fleet {
			waitOnline(t, f, composeToken)
		}
		l.restarted()
	}
	l.waitFor(40)
	cancel()
	wg.Wait()
	commands, pulses := l.askAgain(), c.pulses(t)
	maps.DeleteFunc(pulses, func(id string, _ int) bool { return earlier[id] > 0 })
	opened := pulsesFit(t, commands, pulses)
	t.Logf("%d keys, %d answered 200, over 6 kills", len(l.keys), opened)
	if opened < 280 {
		t.Errorf("%d doors opened, want at least 280: hardly anything was tested", opened)
	}
}

// killProcess ends the container's process as a crash would, and returns when the engine has started it again.
func (c *composition) killProcess(t *testing.T, id string) {
	t.Helper()
	const count = "{{.RestartCount}}"
	before := c.run("docker", "inspect", "-f", count, id)
	pid, err := strconv.Atoi(c.run("docker", "inspect", "-f", "{{.State.Pid}}", id))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatalf("killing process %d of the server's container: %v", pid, err)
	}
	c.until("the restart policy starts the server", func() bool { return c.run("docker", "inspect", "-f", count, id) != before })
}

// pulses of all boards, by command.
func (c *composition) pulses(t *testing.T) map[string]int {
	t.Helper()
	all := map[string]int{}
	for _, f := range c.fleet {
		maps.Copy(all, pulsesOf(t, f, composeToken))
	}
	return all
}

// suite plays files with the check service: each passes or is skipped for a reason that the topology gives. A load whose
// generator had no processor left says nothing of the topology: it is played once more, by itself.
func (c *composition) suite(t *testing.T, asked string) {
	names, args := allFiles(t), []string(nil)
	if asked != "all" {
		names = strings.Split(asked, ",")
		args = names
	}
	files := c.check(t, args)
	var busy []string
	for path, f := range files {
		if strings.Contains(f.Reason, "the generator lagged") {
			t.Logf("%s again: %s", path, f.Reason)
			busy = append(busy, strings.TrimSuffix(filepath.Base(path), ".yaml"))
		}
	}
	if len(busy) > 0 {
		maps.Copy(files, c.check(t, busy))
	}
	count := map[judge.Status]int{}
	for path, f := range files {
		count[f.Status]++
		if f.Status == judge.Skipped && slices.Contains(composeSkips, f.Reason) {
			t.Logf("%s: SKIPPED, %s", path, f.Reason)
		} else if f.Status != judge.Pass {
			t.Errorf("%s: %s, %s; want it to pass", path, f.Status, f.Reason)
		}
	}
	t.Logf("%d of %d files passed, %d skipped", count[judge.Pass], len(names), count[judge.Skipped])
	if len(files) != len(names) {
		t.Errorf("%d files were played, want %d", len(files), len(names))
	}
}

// check plays files, none named = all, and returns the result of each by its path. That a run with a failing file fails
// is told by the file; a guarantee that was broken by none of them fails here.
func (c *composition) check(t *testing.T, names []string) map[string]report.FileResult {
	out, err := c.composeCommand(slices.Concat([]string{"run", "--name", composeCheck, "check"}, checkCommandOf(t), names)...).CombinedOutput()
	defer func() { _ = c.command("docker", "rm", "--force", composeCheck).Run() }()
	dir := t.TempDir()
	c.run("docker", "cp", composeCheck+":/data/check", dir)
	var res report.Result
	b, readErr := os.ReadFile(filepath.Join(dir, "check", "verdicts.json"))
	if readErr == nil {
		readErr = json.Unmarshal(b, &res)
	}
	if readErr != nil {
		t.Fatalf("check: %v, no verdicts: %v\n%s", err, readErr, out[max(0, len(out)-8000):])
	}
	files, failed := map[string]report.FileResult{}, false
	for _, f := range res.Files {
		files[f.Path] = f
		failed = failed || f.Status != judge.Pass && f.Status != judge.Skipped
	}
	if err != nil && !failed {
		t.Errorf("check: %v, %s %s; want that it passes\n%s", err, res.Status, res.Reason, out[max(0, len(out)-8000):])
	}
	return files
}

// composeSkips are the reasons for which a file can't be played in this topology.
var composeSkips = []string{"needs a real board: POST /lab/v1/boards/{id}/detach makes room for one"}

// checkCommandOf is what the check service of docker-compose.yml runs.
func checkCommandOf(t *testing.T) []string {
	t.Helper()
	var file struct {
		Services map[string]struct{ Command []string }
	}
	b, err := os.ReadFile(composeFile)
	if err == nil {
		err = yaml.UnmarshalWithOptions(b, &file, yaml.AllowDuplicateMapKey()) // a service overrides what it merges in
	}
	command := file.Services["check"].Command
	if err != nil || len(command) == 0 {
		t.Fatalf("the check service of docker-compose.yml has the command %q, %v", command, err)
	}
	return command
}
