package link_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/boardsim/link/linktest"
)

func memory(*testing.T) (a, b net.Conn) { return link.Pipe() }

func listened(t *testing.T) (a, b net.Conn) {
	l := link.NewListener("broker")
	defer l.Close()
	return dial(t, l, func() (net.Conn, error) { return l.Dial(t.Context()) })
}

func tcp(t *testing.T) (a, b net.Conn) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return dial(t, l, func() (net.Conn, error) { return link.DialTCP(t.Context(), l.Addr().String(), 7777) })
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
	a, err := f()
	if err != nil {
		t.Fatal(err)
	}
	return a, <-got
}

func TestLinks(t *testing.T) {
	t.Parallel()
	wrapped := func(mk linktest.Make) linktest.Make {
		return func(t *testing.T) (net.Conn, net.Conn) {
			a, b := mk(t)
			return link.Wrap(a, link.Config{}), b
		}
	}
	for name, mk := range map[string]linktest.Make{
		"pipe": memory, "listener": listened, "tcp": tcp,
		"line on pipe": wrapped(memory), "line on tcp": wrapped(tcp),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			linktest.Run(t, mk)
		})
	}
}

func TestListener(t *testing.T) {
	t.Parallel()
	l := link.NewListener("broker")
	if l.Addr().String() != "memory:broker" {
		t.Error(l.Addr())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Dial(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody accepts: %v", err)
	}
	a, b := dial(t, l, func() (net.Conn, error) { return l.Dial(t.Context()) })
	_, _ = l.Close(), l.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept: %v", err)
	}
	if _, err := l.Dial(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("dial: %v", err)
	}
	if _, err := a.Write([]byte("x")); err != nil {
		t.Errorf("an accepted connection lives on: %v", err)
	}
	if _, err := b.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
}

func TestSourceIsSpread(t *testing.T) {
	t.Parallel()
	a, b := tcp(t)
	defer a.Close()
	defer b.Close()
	if ip := a.LocalAddr().(*net.TCPAddr).IP; !ip.Equal(net.IPv4(127, 32, 27, 1)) {
		t.Skipf("source %s: no spreading here", ip)
	}
}

// A keep-alive moves its deadline with every packet; in a bubble that costs no time.
func TestDeadlineInBubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := link.Pipe()
		defer a.Close()
		defer b.Close()
		start := time.Now()
		go func() {
			for range 10 {
				time.Sleep(20 * time.Second)
				_, _ = b.Write([]byte{1})
			}
		}()
		for n := 0; ; n++ {
			_ = a.SetReadDeadline(time.Now().Add(30 * time.Second))
			if _, err := a.Read(make([]byte, 1)); err != nil {
				if d := time.Since(start); n != 10 || d != 230*time.Second {
					t.Errorf("%d packets, silent after %s: %v", n, d, err)
				}
				return
			}
		}
	})
}
