//go:build compose

package dashboards

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/client"
	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/world"
)

// TestCompose ('make compose-test') builds the image from the binary of this
// machine, starts the services of docker-compose.yml that are ours, opens a door
// of a board in another container and lets Debian's Prometheus scrape all three.
// Where no engine runs it starts one (dockerd, as root), and ends what it started.
func TestCompose(t *testing.T) {
	e := newEngine(t)
	e.run("docker", "build", "--target", "host", "-t", "doorlab:compose-test", "..")
	t.Cleanup(func() { e.run("docker", "rmi", "doorlab:compose-test") })
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the containers said:\n%.4000s", e.compose("logs", "--no-color"))
		}
		e.compose("down", "--volumes", "--timeout", "10")
	})
	e.compose("up", "-d", "--no-build", "server", "boards-1", "boards-2")
	for _, service := range []string{"server", "boards-1", "boards-2"} {
		e.healthy(service)
	}
	server, slice1, slice2 := e.address("server", "8080"), e.address("boards-1", "8082"), e.address("boards-2", "8082")

	place := world.Default(1, composeBoards).Places[1]
	board := place.Boards[1] // every second board, from the second on, is slice 2's
	c := client.Client{Base: server}
	var err error
	var made struct{ APIKey string }
	control := client.Client{Base: e.address("server", "8081"), Token: composeToken}
	body := map[string]any{"placeId": place.ID, "scopes": []string{"space:partner", "device:door"}}
	clienttest.Do(t, control, http.MethodPost, "/lab/v1/keys", body, &made)
	if c, err = c.SignIn(t.Context(), made.APIKey); err != nil {
		t.Fatalf("exchanging the place's key: %v", err)
	}
	if a, err := c.Open(t.Context(), board.Doors[0].ID, "dashboards-1"); err != nil || a.Status != http.StatusOK {
		t.Fatalf("opening a door of a board in another container: %v, %v, want status 200", a, err)
	}
	var lines []struct{ Action, Cause, DoorID string }
	lab := client.Client{Base: slice2, Token: composeToken}
	clienttest.Do(t, lab, http.MethodGet, "/lab/v1/boards/"+board.ID+"/journal", nil, &lines)
	if len(lines) != 1 || lines[0].Action != "pulse" || lines[0].Cause != "command" || lines[0].DoorID != board.Doors[0].ID {
		t.Errorf("the journal holds %+v, want one pulse by the command", lines)
	}
	lab.Base = slice1
	if err := lab.Do(t.Context(), http.MethodGet, "/lab/v1/boards/"+board.ID, nil, nil); err == nil || !strings.Contains(err.Error(), "no simulated board") {
		t.Errorf("slice 1 on the board of slice 2: %v, want that it has no such board", err)
	}
	e.prometheus(map[string]string{"server:8081": e.address("server", "8081"), "boards-1:8082": slice1, "boards-2:8082": slice2})
}

const (
	composeBoards  = 20
	composeToken   = "compose-test"
	composeProject = "doorlab-compose-test"
)

// engine is a container engine and what it takes to speak to it.
type engine struct {
	t   *testing.T
	env []string
}

func newEngine(t *testing.T) *engine {
	e := &engine{t: t, env: append(os.Environ(), "DOCKER_BUILDKIT=0", "COMPOSE_PROJECT_NAME="+composeProject, "DOORLAB_TAG=compose-test",
		"DOORLAB_BOARDS="+strconv.Itoa(composeBoards), "DOORLAB_CONTROL_TOKEN="+composeToken, "DOORLAB_HTTP_PORT=0", "DOORLAB_MQTT_PORT=0",
		"DOORLAB_CONTROL_PORT=0", "DOORLAB_BOARDS1_PORT=0", "DOORLAB_BOARDS2_PORT=0")}
	if exec.Command("docker", "info").Run() == nil {
		return e
	}
	dir, err := os.MkdirTemp("", "doorlab-dockerd-") // short: sockets have short names
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := "unix://" + filepath.Join(dir, "docker.sock")
	// vfs and no packet filter: this works inside a virtual machine or container, too
	e.start("dockerd", "dockerd", "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"), "--pidfile", filepath.Join(dir, "pid"),
		"--host", socket, "--log-level", "error", "--storage-driver", "vfs", "--iptables=false", "--ip6tables=false", "--bridge", "none")
	e.env = append(e.env, "DOCKER_HOST="+socket)
	e.until("dockerd answers", func() bool { return e.command("docker", "info").Run() == nil })
	return e
}

// start runs a program until the test ends.
func (e *engine) start(what, name string, args ...string) {
	e.t.Helper()
	c := e.command(name, args...)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		e.t.Fatalf("%s: %v", what, err)
	}
	e.t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
		if e.t.Failed() {
			e.t.Logf("%s said:\n%.8000s", what, out.String())
		}
	})
}

func (e *engine) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Env = e.env
	return c
}

// run runs a command that must succeed and returns what it printed on stdout.
func (e *engine) run(name string, args ...string) string {
	e.t.Helper()
	c := e.command(name, args...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		e.t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// compose runs Debian's docker-compose, or docker's own.
func (e *engine) compose(args ...string) string {
	e.t.Helper()
	args = append([]string{"-f", "../docker-compose.yml"}, args...)
	if _, err := exec.LookPath("docker-compose"); err == nil {
		return e.run("docker-compose", args...)
	}
	return e.run("docker", append([]string{"compose"}, args...)...)
}

func (e *engine) until(what string, ok func() bool) {
	e.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(deadline) {
			e.t.Fatalf("not within a minute: %s", what)
		}
		time.Sleep(200 * time.Millisecond) // other processes: nothing signals
	}
}

func (e *engine) healthy(service string) {
	e.t.Helper()
	id := e.compose("ps", "-q", service)
	e.until(service+" is healthy", func() bool { return e.run("docker", "inspect", "-f", "{{.State.Health.Status}}", id) == "healthy" })
}

// address is where a service's port is on this machine, as http://host:port.
func (e *engine) address(service, port string) string {
	e.t.Helper()
	return "http://" + e.compose("port", service, port)
}

// prometheus runs Debian's Prometheus on the configuration of the compose file,
// with the services' addresses on this machine in place of their names, and
// returns once it has scraped all of them.
func (e *engine) prometheus(addresses map[string]string) {
	e.t.Helper()
	dir := e.t.TempDir()
	for _, name := range []string{"prometheus.yml", "rules.yml"} {
		b, err := os.ReadFile(filepath.Join("prometheus", name))
		if err != nil {
			e.t.Fatal(err)
		}
		text := strings.ReplaceAll(string(b), "_interval: 5s", "_interval: 1s")
		for service, at := range addresses {
			text = strings.ReplaceAll(text, service, strings.TrimPrefix(at, "http://"))
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			e.t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		e.t.Fatal(err)
	}
	at := l.Addr().String()
	_ = l.Close()
	e.start("prometheus", "prometheus", "--config.file", filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", at)
	for query, want := range map[string]string{"sum(up)": "3", "sum(doorlab_fleet_boards_online)": strconv.Itoa(composeBoards + 1), // and the test place's
		`sum(doorlab_fleet_journal_lines_total{action="pulse"})`: "1", `doorlab_commands_total{outcome="reported"}`: "1"} {
		got := ""
		e.until(query+" is "+want, func() bool { got = ask(at, query); return got == want })
	}
	if got := ask(at, `count(ALERTS{alertstate="firing"})`); got != "" {
		e.t.Errorf("%s alerts are firing, want none", got)
	}
}

// ask is the value of an instant query, "" for none.
func ask(at, query string) string {
	resp, err := http.Get("http://" + at + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	if json.NewDecoder(resp.Body).Decode(&answer) != nil || len(answer.Data.Result) != 1 {
		return ""
	}
	s, _ := answer.Data.Result[0].Value[1].(string)
	return s
}
