// Package routertest runs HAProxy with what internal/router writes, for tests.
package routertest

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/doorlab/doorlab/internal/router"
)

// HAProxy is its program; a test that needs it is skipped where it isn't installed, but in CI.
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

// Write puts the files into a directory and returns that. edit, where there is one, may plant a mistake.
func Write(t testing.TB, c router.Config, edit func(*router.File)) string {
	t.Helper()
	files, err := router.Files(c)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range files {
		if edit != nil {
			edit(&f)
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Start runs HAProxy on free addresses, which it returns: of requests (a URL) and of boards
// (host:port). They take connections at once; the test's end stops it.
func Start(t testing.TB, c router.Config, edit func(*router.File)) (http, mqtt string) {
	t.Helper()
	tool := HAProxy(t)
	c.HTTP, c.MQTT = "fd@3", "fd@4" // inherited: nobody else can take the port meanwhile
	cmd := exec.Command(tool, "-db", "-f", filepath.Join(Write(t, c, edit), "haproxy.cfg"))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	var addr []string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		f, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = l.Close(), f.Close() }()
		cmd.ExtraFiles, addr = append(cmd.ExtraFiles, f), append(addr, l.Addr().String())
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("haproxy said:\n%s", &said)
		}
	})
	return "http://" + addr[0], addr[1]
}
