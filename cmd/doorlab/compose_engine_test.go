package main

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

const (
	composeFile    = "../../docker-compose.yml"
	composeProject = "doorlab-compose-test"
	composeCheck   = composeProject + "-check"
)

// dockerEngine is a container engine and what it takes to speak to it.
type dockerEngine struct {
	t    *testing.T
	file string // the compose file
	env  []string
}

func newEngine(t *testing.T, file string) *dockerEngine {
	t.Helper()
	e := &dockerEngine{t: t, file: file, env: append(os.Environ(), "DOCKER_BUILDKIT=0", "COMPOSE_PROJECT_NAME="+composeProject, "DOORLAB_TAG=compose-test",
		"DOORLAB_BOARDS="+strconv.Itoa(composeBoards), "DOORLAB_CONTROL_TOKEN="+composeToken)}
	for _, port := range []string{"HTTP", "MQTT", "CONTROL", "BOARDS1", "BOARDS2"} { // the same after a restart
		_, free, err := net.SplitHostPort(freeAddr(t))
		if err != nil {
			t.Fatal(err)
		}
		e.env = append(e.env, "DOORLAB_"+port+"_PORT="+free)
	}
	if exec.Command("docker", "info").Run() == nil {
		return e
	}
	dir := must.Get(os.MkdirTemp("", "doorlab-dockerd-"))(t) // short: sockets have short names
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := "unix://" + filepath.Join(dir, "docker.sock")
	// vfs and no packet filter: this works inside a virtual machine or container, too
	e.start("dockerd", "dockerd", "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"), "--pidfile", filepath.Join(dir, "pid"),
		"--host", socket, "--log-level", "error", "--storage-driver", "vfs", "--iptables=false", "--ip6tables=false", "--bridge", "none")
	e.env = append(e.env, "DOCKER_HOST="+socket)
	e.until("dockerd answers", func() bool { return e.command("docker", "info").Run() == nil })
	return e
}

// image builds ours from the binary of this machine. At the test's end it is removed, with all that runs.
func (e *dockerEngine) image() {
	e.t.Helper()
	e.run("docker", "build", "--target", "host", "-t", "doorlab:compose-test", "../..")
	t := e.t
	t.Cleanup(func() { e.run("docker", "rmi", "doorlab:compose-test") })
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the containers said:\n%.8000s", e.compose("logs", "--no-color", "--tail", "40"))
		}
		e.compose("down", "--volumes", "--remove-orphans", "--timeout", "10")
	})
}

// start runs a program until the test ends.
func (e *dockerEngine) start(what, name string, args ...string) {
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
			said := out.String()
			e.t.Logf("%s said:\n%s", what, said[max(0, len(said)-2000):])
		}
	})
}

func (e *dockerEngine) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Env = e.env
	return c
}

// run runs a command that must succeed and returns what it printed on stdout.
func (e *dockerEngine) run(name string, args ...string) string {
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

// compose runs what composeCommand says, which must succeed, and returns what it printed on stdout.
func (e *dockerEngine) compose(args ...string) string {
	e.t.Helper()
	c := e.composeCommand(args...)
	return e.run(c.Args[0], c.Args[1:]...)
}

// composeCommand is Debian's docker-compose, or docker's own.
func (e *dockerEngine) composeCommand(args ...string) *exec.Cmd {
	args = append([]string{"-f", e.file}, args...)
	if _, err := exec.LookPath("docker-compose"); err == nil {
		return e.command("docker-compose", args...)
	}
	return e.command("docker", append([]string{"compose"}, args...)...)
}

func (e *dockerEngine) until(what string, ok func() bool) {
	e.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !ok(); {
		if time.Now().After(deadline) {
			e.t.Fatalf("not within three minutes: %s", what)
		}
		time.Sleep(200 * time.Millisecond) // other processes: nothing signals
	}
}

func (e *dockerEngine) healthy(service string) {
	e.t.Helper()
	id := e.compose("ps", "-q", service)
	e.until(service+" is healthy", func() bool { return e.run("docker", "inspect", "-f", "{{.State.Health.Status}}", id) == "healthy" })
}

// address is where a service's port is on this machine, as http://host:port.
func (e *dockerEngine) address(service, port string) string {
	e.t.Helper()
	return "http://" + e.compose("port", service, port)
}

// prometheus runs Debian's Prometheus on the configuration of the compose file, with the services' addresses on this
// machine in place of their names and the features that the file turns on, and returns once every query has the value that is wanted.
func (e *dockerEngine) prometheus(t *testing.T, addresses, want map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"prometheus.yml", "rules.yml"} {
		b := must.Get(os.ReadFile(filepath.Join("../../dashboards/prometheus", name)))(t)
		text := strings.ReplaceAll(string(b), "_interval: 5s", "_interval: 1s")
		for service, at := range addresses {
			text = strings.ReplaceAll(text, service, strings.TrimPrefix(at, "http://"))
		}
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	at := freeAddr(t)
	features := regexp.MustCompile(`--enable-feature=[^],]+`).FindAllString(string(must.Get(os.ReadFile("../../docker-compose.yml"))(t)), -1)
	e.start("prometheus", "prometheus", append(features, "--config.file", filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", at)...)
	for query, value := range want {
		e.until(query+" is "+value, func() bool { return askPrometheus(at, query) == value })
	}
	if got := askPrometheus(at, `count(ALERTS{alertstate="firing"})`); got != "" {
		t.Errorf("%s alerts are firing, want none", got)
	}
}

// askPrometheus is the value of an instant query, "" for none.
func askPrometheus(at, query string) string {
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
