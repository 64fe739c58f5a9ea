// Package pipetest defines what a connection between a board and the server is: one suite that memory, TCP, and a clean
// link.Line around either must pass.
package pipetest

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/pipe"
)

// Make returns both ends of a new connection: the board's and the server's.
type Make func(t *testing.T) (board, server net.Conn)

// Run runs the suite. Subtests run in parallel.
func Run(t *testing.T, mk Make) {
	for _, c := range []struct {
		name string
		f    func(*testing.T, net.Conn, net.Conn)
	}{
		{"both ways", bothWays}, {"more than fits", more}, {"rest, then EOF", rest},
		{"close wakes own reader", closeWakes}, {"close fails own calls", closeFails},
		{"write to a closed peer fails", writeClosed}, {"read deadline", readDeadline},
		{"past deadline wakes reader", pastDeadline}, {"moved deadline", movedDeadline},
		{"write deadline", writeDeadline}, {"close wakes own writer", closeWakesWriter},
		{"reset", reset}, {"addresses", addresses},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, b := mk(t)
			t.Cleanup(func() { _, _ = a.Close(), b.Close() })
			c.f(t, a, b)
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func is(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

// packet is an MQTT PUBLISH of n body bytes, so that a Line sees whole packets.
func packet(n int) []byte {
	head := []byte{0x30}
	for l := n; ; {
		c := byte(l & 0x7f)
		if l >>= 7; l == 0 {
			head = append(head, c)
			break
		}
		head = append(head, c|0x80)
	}
	body := bytes.Repeat([]byte("doorlab, a house that shows what it does; "), n/42+1)
	return append(head, body[:n]...)
}

func bothWays(t *testing.T, a, b net.Conn) {
	for range 3 {
		for _, c := range [][2]net.Conn{{a, b}, {b, a}} {
			want := packet(300)
			n, err := c[0].Write(want)
			check(t, err)
			got := make([]byte, n)
			_, err = io.ReadFull(c[1], got)
			check(t, err)
			if n != len(want) || !bytes.Equal(got, want) {
				t.Fatalf("wrote %d bytes, read %x", n, got)
			}
		}
	}
}

func more(t *testing.T, a, b net.Conn) {
	for _, c := range [][2]net.Conn{{a, b}, {b, a}} {
		want := packet(2 << 20)
		done := make(chan error, 1)
		go func() {
			_, err := c[0].Write(want)
			done <- err
		}()
		got := make([]byte, len(want))
		_, err := io.ReadFull(c[1], got)
		check(t, err)
		check(t, <-done)
		if !bytes.Equal(got, want) {
			t.Fatal("bytes differ")
		}
	}
}

func rest(t *testing.T, a, b net.Conn) {
	_, err := b.Write(packet(100))
	check(t, err)
	check(t, b.Close())
	got, err := io.ReadAll(a)
	check(t, err)
	if len(got) != 102 {
		t.Fatalf("%d bytes", len(got))
	}
	n, err := a.Read(got)
	if n != 0 || !errors.Is(err, io.EOF) {
		t.Fatalf("then %d, %v", n, err)
	}
}

func closeWakes(t *testing.T, a, b net.Conn) {
	for _, c := range []net.Conn{a, b} {
		done := make(chan error, 1)
		go func() {
			_, err := c.Read(make([]byte, 1))
			done <- err
		}()
		check(t, c.Close())
		if err := <-done; err == nil {
			t.Fatal("reading from a closed end succeeded, want an error")
		}
	}
}

func closeFails(t *testing.T, a, b net.Conn) {
	for _, c := range []net.Conn{a, b} {
		check(t, c.Close())
		_, err := c.Read(make([]byte, 1))
		is(t, err, net.ErrClosed)
		_, err = c.Write([]byte{0xc0, 0})
		is(t, err, net.ErrClosed)
		is(t, c.SetDeadline(clock.WallNow()), net.ErrClosed)
	}
}

func writeClosed(t *testing.T, a, b net.Conn) {
	check(t, a.Close())
	check(t, b.SetWriteDeadline(clock.WallNow().Add(5*time.Second)))
	for {
		if _, err := b.Write(packet(1000)); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("the peer's end was never noticed")
			}
			return
		}
	}
}

func readDeadline(t *testing.T, a, b net.Conn) {
	for _, c := range [][2]net.Conn{{a, b}, {b, a}} {
		check(t, c[0].SetReadDeadline(clock.WallNow().Add(5*time.Millisecond)))
		for range 2 { // a passed deadline stays passed
			_, err := c[0].Read(make([]byte, 1))
			is(t, err, os.ErrDeadlineExceeded)
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Fatalf("error %v, want a timeout", err)
			}
		}
		check(t, c[0].SetReadDeadline(time.Time{})) // and the connection is alive
		_, err := c[1].Write([]byte{0xc0, 0})
		check(t, err)
		_, err = io.ReadFull(c[0], make([]byte, 2))
		check(t, err)
	}
}

func pastDeadline(t *testing.T, a, b net.Conn) {
	for _, c := range []net.Conn{a, b} {
		done := make(chan error, 1)
		go func() {
			_, err := c.Read(make([]byte, 1))
			done <- err
		}()
		check(t, c.SetReadDeadline(clock.WallNow().Add(-time.Hour)))
		is(t, <-done, os.ErrDeadlineExceeded)
	}
}

func movedDeadline(t *testing.T, a, _ net.Conn) {
	check(t, a.SetReadDeadline(clock.WallNow().Add(time.Hour)))
	done := make(chan error, 1)
	go func() {
		_, err := a.Read(make([]byte, 1))
		done <- err
	}()
	start := clock.Mono()
	check(t, a.SetReadDeadline(clock.WallNow().Add(5*time.Millisecond)))
	check(t, a.SetReadDeadline(clock.WallNow().Add(15*time.Millisecond)))
	is(t, <-done, os.ErrDeadlineExceeded)
	if d := clock.Mono() - start; d < 15*time.Millisecond {
		t.Errorf("after %s", d)
	}
}

func writeDeadline(t *testing.T, a, b net.Conn) {
	for _, c := range []net.Conn{a, b} {
		check(t, c.SetWriteDeadline(clock.WallNow().Add(20*time.Millisecond)))
		_, err := c.Write(packet(16 << 20)) // more than any buffer
		is(t, err, os.ErrDeadlineExceeded)
	}
}

func closeWakesWriter(t *testing.T, a, _ net.Conn) {
	done := make(chan error, 1)
	go func() {
		_, err := a.Write(packet(16 << 20))
		done <- err
	}()
	check(t, a.Close())
	if err := <-done; err == nil {
		t.Fatal("writing to a closed end succeeded, want an error")
	}
}

func reset(t *testing.T, a, b net.Conn) {
	done := make(chan error, 2)
	for _, c := range []net.Conn{a, b} {
		go func() {
			_, err := c.Read(make([]byte, 1))
			done <- err
		}()
	}
	pipe.Reset(a)
	for range 2 {
		if err := <-done; err == nil || errors.Is(err, io.EOF) {
			t.Fatalf("%v", err)
		}
	}
}

func addresses(t *testing.T, a, b net.Conn) {
	for _, x := range []net.Addr{a.LocalAddr(), a.RemoteAddr(), b.LocalAddr(), b.RemoteAddr()} {
		if x == nil || x.String() == "" || x.Network() == "" {
			t.Errorf("address %v", x)
		}
	}
	if a.LocalAddr().String() != b.RemoteAddr().String() {
		t.Errorf("local address %s, but its peer sees %s", a.LocalAddr(), b.RemoteAddr())
	}
}
