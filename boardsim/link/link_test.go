package link_test

import (
	"net"
	"runtime"
	"testing"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
	"github.com/doorlab/doorlab/internal/pipe/pipetest"
)

func memory(*testing.T) (a, b net.Conn) { return pipe.New() }

func tcp(t *testing.T) (a, b net.Conn) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return dial(t, l, func() (net.Conn, error) { return link.Dial(t.Context(), l.Addr().String(), 7777, nil) })
}

func dial(t *testing.T, l net.Listener, f func() (net.Conn, error)) (a, b net.Conn) {
	got := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		got <- c
	}()
	a = must.Get(f())(t)
	return a, <-got
}

func TestLinks(t *testing.T) {
	t.Parallel()
	wrapped := func(mk pipetest.Make) pipetest.Make {
		return func(t *testing.T) (net.Conn, net.Conn) {
			a, b := mk(t)
			return link.Wrap(a, link.Config{}), b
		}
	}
	for name, mk := range map[string]pipetest.Make{
		"tcp": tcp, "line on pipe": wrapped(memory), "line on tcp": wrapped(tcp),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipetest.Run(t, mk)
		})
	}
}

func TestSourceIsSpread(t *testing.T) {
	t.Parallel()
	a, b := tcp(t)
	defer a.Close()
	defer b.Close()
	if ip := a.LocalAddr().(*net.TCPAddr).IP; !ip.Equal(net.IPv4(127, 32, 27, 1)) {
		if runtime.GOOS != "linux" {
			t.Skipf("only Linux has all of 127.0.0.0/8 (source %s)", ip)
		}
		t.Errorf("source %s, want 127.32.27.1", ip)
	}
}
