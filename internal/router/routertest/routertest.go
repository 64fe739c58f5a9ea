// Package routertest runs HAProxy with what internal/router writes, for tests.
package routertest

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/router"
)

// HAProxy is the path of the program. Without it, the test is skipped, or fails in CI.
func HAProxy(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"haproxy", "/usr/sbin/haproxy"} {
		if tool, err := exec.LookPath(name); err == nil {
			return tool
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("haproxy is not installed, and CI skips nothing: apt-get install haproxy")
	}
	t.Skip("haproxy is not installed: apt-get install haproxy")
	return ""
}

// Write writes the files into a directory and returns that. edit, if not nil, may plant a mistake.
func Write(t testing.TB, c router.Config, edit func(*router.File)) string {
	t.Helper()
	files := must.Get(router.Files(c))(t)
	dir := t.TempDir()
	for _, f := range files {
		if edit != nil {
			edit(&f)
		}
		must.OK(t, os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600))
	}
	return dir
}

// Router has addresses that accept connections immediately, and answers once it is started.
type Router struct {
	HTTP string // URL
	MQTT string // host:port

	t     testing.TB
	files []*os.File // the listeners, which HAProxy inherits, so that the ports can't be taken meanwhile
}

// Listen picks free addresses.
func Listen(t testing.TB) *Router {
	t.Helper()
	HAProxy(t)
	r := &Router{t: t}
	for _, addr := range []*string{&r.HTTP, &r.MQTT} {
		l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
		f := must.Get(l.(*net.TCPListener).File())(t)
		_ = l.Close() // of this process
		t.Cleanup(func() { _ = f.Close() })
		r.files, *addr = append(r.files, f), l.Addr().String()
	}
	r.HTTP = "http://" + r.HTTP
	return r
}

// Start runs HAProxy until the end of the test.
func (r *Router) Start(c router.Config, edit func(*router.File)) {
	r.t.Helper()
	c.HTTP, c.MQTT = "fd@3", "fd@4"
	cmd := exec.Command(HAProxy(r.t), "-db", "-f", filepath.Join(Write(r.t, c, edit), "haproxy.cfg"))
	cmd.ExtraFiles = r.files
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	must.OK(r.t, cmd.Start())
	r.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if r.t.Failed() {
			r.t.Logf("haproxy said:\n%s", &said)
		}
	})
}
