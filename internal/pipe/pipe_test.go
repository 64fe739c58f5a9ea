package pipe_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
	"github.com/doorlab/doorlab/internal/pipe/pipetest"
)

func listened(t *testing.T) (a, b net.Conn) {
	l := pipe.NewListener("broker")
	defer l.Close()
	return dial(t, l, func() (net.Conn, error) { return l.Dial(t.Context()) })
}

func dial(t *testing.T, l net.Listener, f func() (net.Conn, error)) (a, b net.Conn) {
	got := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Errorf("accept: got %v, want a connection", err)
		}
		got <- c
	}()
	a = must.Get(f())(t)
	return a, <-got
}

func TestPipe(t *testing.T) {
	t.Parallel()
	for name, mk := range map[string]pipetest.Make{
		"pipe": func(*testing.T) (a, b net.Conn) { return pipe.New() }, "listener": listened,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pipetest.Run(t, mk)
		})
	}
}

func TestListener(t *testing.T) {
	t.Parallel()
	l := pipe.NewListener("broker")
	if l.Addr().String() != "memory:broker" {
		t.Errorf("the address is %s, want memory:broker", l.Addr())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Dial(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody accepts: got %v, want %v", err, context.Canceled)
	}
	a, b := dial(t, l, func() (net.Conn, error) { return l.Dial(t.Context()) })
	_, _ = l.Close(), l.Close()
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept: got %v, want %v", err, net.ErrClosed)
	}
	if _, err := l.Dial(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("dial: got %v, want %v", err, net.ErrClosed)
	}
	if _, err := a.Write([]byte("x")); err != nil {
		t.Errorf("writing to an accepted connection: got %v, want it to stay usable", err)
	}
	if _, err := b.Read(make([]byte, 1)); err != nil {
		t.Errorf("reading from an accepted connection after the listener has closed: got %v, want no error", err)
	}
}

// A keep-alive moves its deadline with every packet. In a bubble this must not take real time.
func TestDeadlineInBubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := pipe.New()
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
					t.Errorf("got %d packets, silent after %s: %v, want 10 and %s", n, d, err, 230*time.Second)
				}
				return
			}
		}
	})
}
