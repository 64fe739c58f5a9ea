package gateway

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
)

// remote makes in-memory connections look like network connections.
type remote struct {
	*pipe.Listener
	from func() net.IP
}

type remoteConn struct {
	net.Conn
	ip net.IP
}

func (l *remote) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return remoteConn{c, l.from()}, nil
}

func (c remoteConn) RemoteAddr() net.Addr { return &net.TCPAddr{IP: c.ip, Port: 1} }

// TestSilentPeers: silent peers can hold only a limited number of connections, one address half of those, and a board
// still gets in immediately.
func TestSilentPeers(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]func(n int) net.IP{
		"of one address":     func(int) net.IP { return net.IPv4(10, 0, 0, 1) },
		"of many addresses":  func(n int) net.IP { return net.IPv4(10, 0, byte(n>>8), byte(n)) },
		"of one IPv6 subnet": func(n int) net.IP { return net.ParseIP("2001:db8::" + string("0123456789abcdef"[n%16])) },
	} {
		bubble(t, name, func(t *testing.T) {
			r := &rig{t: t, store: &memStore{states: seed()}, backs: &backs{}, lis: pipe.NewListener("t")}
			g := must.Get(New(Config{Store: r.store, Greet: 20}))(t)
			g.Bind(r.backs, r.backs)
			n := 0
			lis := &remote{r.lis, func() net.IP { n++; return from(n) }}
			served := make(chan error, 1)
			go func() { served <- g.Serve(lis) }()
			defer func() { g.Stop(); <-served }()
			for range 200 {
				go func() { c := r.dial(); _, _ = io.Copy(io.Discard, c); _ = c.Close() }()
			}
			time.Sleep(4 * time.Second)
			synctest.Wait()
			most := 20
			if name != "of many addresses" {
				most = 10
			}
			if open := len(g.conns); open != most || g.Counts().Crowded.Load() != int64(200-most) {
				t.Errorf("got %d open, %d cut, want %d and %d", open, g.Counts().Crowded.Load(), most, int64(200-most))
			}
			began := time.Now()
			c := r.dial()
			defer c.Close()
			_, _ = c.Write(good("brd_1").bytes())
			if _, err := io.ReadFull(c, make([]byte, 4)); err != nil || time.Since(began) > time.Second {
				t.Errorf("a board waited %v: %v, want at most %v and no error", time.Since(began), err, time.Second)
			}
			time.Sleep(10 * time.Second)
			g.greeting.mu.Lock()
			defer g.greeting.mu.Unlock()
			if len(g.greeting.by) != 0 || g.greeting.list.Len() != 0 {
				t.Errorf("%d addresses, %d peers are remembered; want none", len(g.greeting.by), g.greeting.list.Len())
			}
		})
	}
}

// TestGuessing: a wrong password is answered late, a right one immediately.
func TestGuessing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		for pass, want := range map[string]time.Duration{"one": 0, "two": time.Second} {
			connect := good("brd_1")
			connect.pass = pass
			c, began := r.dial(), time.Now()
			_, _ = c.Write(connect.bytes())
			if _, err := io.ReadFull(c, make([]byte, 4)); err != nil || time.Since(began) != want {
				t.Errorf("%q answered after %v: %v, want %v and no error", pass, time.Since(began), err, want)
			}
			_ = c.Close()
		}
	})
}
