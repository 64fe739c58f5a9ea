package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/doorlab/doorlab/internal/capture"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/testbed"
)

// TestMain lets the test binary be doorlab, so that tests run real processes with the race detector.
func TestMain(m *testing.M) {
	if os.Getenv("DOORLAB_TEST_MAIN") == "1" {
		os.Exit(runUntilSignal(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	code := m.Run()
	for _, b := range []*oneBuild{&released, &planted} {
		if b.dir != "" {
			_ = os.RemoveAll(b.dir)
		}
	}
	os.Exit(code)
}

// oneBuild is doorlab as a file, built once for all tests that want it.
type oneBuild struct {
	once sync.Once
	dir  string
	err  error
}

// in returns the directory that has it; flags are those of go build.
func (b *oneBuild) in(t *testing.T, flags ...string) string {
	t.Helper()
	b.once.Do(func() {
		if b.dir, b.err = os.MkdirTemp("", "doorlab-build"); b.err != nil {
			return
		}
		args := append(append([]string{"build"}, flags...), "-o", filepath.Join(b.dir, "doorlab"), ".")
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			b.err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	})
	must.OK(t, b.err)
	return b.dir
}

var released, planted oneBuild

// releaseDir is a directory with doorlab as people get it: scripts and pages that start it many times would take minutes
// with the race detector.
func releaseDir(t *testing.T) string {
	t.Helper()
	return released.in(t)
}

// buildPlanted is a doorlab with the planted bugs.
func buildPlanted(t *testing.T) string {
	t.Helper()
	return filepath.Join(planted.in(t, "-tags", "planted"), "doorlab")
}

// noRaceSleep spares the second that the race detector waits at every exit.
const noRaceSleep = "atexit_sleep_ms=0"

// proc is a doorlab process of a test.
type proc struct {
	t      *testing.T
	cmd    *exec.Cmd
	ready  []byte // its first line
	stderr *capture.Text
	ended  chan struct{}
}

// start runs doorlab and returns when it has printed its ready line.
func start(t *testing.T, args ...string) *proc {
	t.Helper()
	return startWith(t, nil, args...)
}

// command is doorlab as a process that has not been started.
func command(more []string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), "DOORLAB_TEST_MAIN=1", "GORACE="+noRaceSleep), more...)
	return cmd
}

// startWith is start with more environment.
func startWith(t *testing.T, more []string, args ...string) *proc {
	t.Helper()
	return startCmd(t, command(more, args...))
}

// startBin is startWith of another binary.
func startBin(t *testing.T, bin string, more []string, args ...string) *proc {
	t.Helper()
	cmd := exec.Command(bin, args...)
	cmd.Env = append(os.Environ(), more...)
	return startCmd(t, cmd)
}

// startReleased is start of doorlab as people get it, for tests of pages: many files on a server with the race detector take
// many times as long, and the suite's own tests play them there.
func startReleased(t *testing.T, args ...string) *proc {
	t.Helper()
	return startBin(t, filepath.Join(releaseDir(t), "doorlab"), nil, args...)
}

// runReleased runs it and returns when it has ended.
func runReleased(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(releaseDir(t), "doorlab"), args...)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

func startCmd(t *testing.T, cmd *exec.Cmd) *proc {
	t.Helper()
	p := &proc{t: t, cmd: cmd, stderr: &capture.Text{}, ended: make(chan struct{})}
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	must.OK(t, p.cmd.Start())
	t.Cleanup(p.kill)
	r := bufio.NewReader(out)
	p.ready, err = r.ReadBytes('\n')
	if err != nil {
		_ = p.cmd.Wait()
		close(p.ended)
		t.Fatalf("%v was not ready: %v\n%s", cmd.Args, err, p.stderr)
	}
	go func() {
		_, _ = r.WriteTo(&bytes.Buffer{})
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	return p
}

func (p *proc) server() (r testbed.Ready) {
	p.t.Helper()
	if err := json.Unmarshal(p.ready, &r); err != nil {
		p.t.Fatalf("ready line %q: %v", p.ready, err)
	}
	return r
}

func (p *proc) fleet() (r testbed.FleetReady) {
	p.t.Helper()
	if err := json.Unmarshal(p.ready, &r); err != nil {
		p.t.Fatalf("ready line %q: %v", p.ready, err)
	}
	return r
}

// kill ends the process as SIGKILL does, and waits.
func (p *proc) kill() {
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	<-p.ended
}

// freeAddr is freePort for a test.
func freeAddr(t *testing.T) string {
	t.Helper()
	return must.Get(freePort())(t)
}

// freePort looks at these, from anywhere, because other tests may run beside this process.
var (
	firstPort  = rand.Int64N(20_000)
	portsTried atomic.Int64
)

// freePort finds an address that is free, and stays so while nobody listens there, as during a restart: its port is below those
// that the kernel gives to ":0" and to outgoing connections.
func freePort() (addr string, err error) {
	for range 1000 {
		var l net.Listener
		if l, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", 10_000+(firstPort+portsTried.Add(1))%20_000)); err == nil {
			return l.Addr().String(), l.Close()
		}
	}
	return "", err
}
