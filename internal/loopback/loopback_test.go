package loopback

import (
	"context"
	"net"
	"runtime"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
)

func TestSources(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range []Part{Boards, Load, Exchanges} {
		for n := range p.span * 250 {
			ip := p.Source(n)
			if !ip.IsLoopback() || seen[ip.String()] {
				t.Fatalf("address %d is %s: not loopback, or taken", n, ip)
			}
			seen[ip.String()] = true
		}
		if a, b := p.Source(0), p.Source(p.span*250); !a.Equal(b) {
			t.Errorf("after the last address comes %s, want the first, %s", b, a)
		}
	}
	if a, b := Boards.Source(-3), Boards.Source(3); !a.Equal(b) {
		t.Errorf("address -3 is %s, want %s", a, b)
	}
}

func TestIs(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{"localhost": true, "127.0.0.1": true, "127.9.9.9": true, "::1": false, "10.0.0.1": false, "server": false, "": false} {
		if got := Is(host); got != want {
			t.Errorf("%q: got %v, want %v", host, got, want)
		}
	}
}

func TestFrom(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux owns all of 127.0.0.0/8")
	}
	l := must.Get(net.Listen("tcp4", "127.0.0.1:0"))(t)
	defer func() { _ = l.Close() }()
	var d net.Dialer
	From(&d, Load.Source(7))
	c := must.Get(d.DialContext(context.Background(), "tcp", l.Addr().String()))(t)
	defer func() { _ = c.Close() }()
	if got, want := c.LocalAddr().(*net.TCPAddr).IP, Load.Source(7); !got.Equal(want) {
		t.Errorf("dialled from %s, want %s", got, want)
	}
}

// TestHost: only this machine's names and addresses count, with or without a port.
func TestHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{"localhost": true, "Localhost:80": true, "127.0.0.1": true, "127.9.9.9:80": true, "[::1]:80": true, "::1": true, "[::1]": true,
		"[::ffff:127.0.0.1]:1": true, "": false, ":8080": false, "0.0.0.0:80": false, "192.168.0.1": false, "localhost.example": false, "127.0.0.1.example:80": false} {
		if got := Host(host); got != want {
			t.Errorf("Host(%q): got %v, want %v", host, got, want)
		}
	}
}
