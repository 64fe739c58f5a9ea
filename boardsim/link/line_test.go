package link_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/pipe"
)

func TestLine(t *testing.T) {
	t.Parallel()
	bubble(t, "clean", func(t *testing.T) {
		r := newRig(t, link.State{})
		r.up(msg(1), ping)
		r.down(acked(2))
		r.want("300101c000", "320102")
		r.pending(0, 2) // not yet counted by the ends
	})
	bubble(t, "cut", func(t *testing.T) {
		r := newRig(t, link.State{})
		r.line.Cut()
		r.ended(syscall.ECONNRESET, syscall.ECONNRESET)
		if _, err := r.line.Write(ping); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("got %v, want err to be syscall.ECONNRESET", err)
		}
	})
	bubble(t, "one way, up", func(t *testing.T) {
		r := newRig(t, link.State{OnewayUp: true})
		r.up(msg(1), msg(2))
		r.down(msg(3))
		r.want("", "300103")
		r.pending(0, 1)
		r.line.Set(link.State{}) // nobody waits for an answer: the connection survives
		r.up(msg(4))
		r.want("300104", "")
		if r.faults != [2]int{2, 0} {
			t.Errorf("got %v, want r.faults = [2]int{2, 0}", r.faults)
		}
	})
	bubble(t, "one way, down", func(t *testing.T) {
		r := newRig(t, link.State{})
		r.line.Set(link.State{OnewayDown: true})
		r.down(msg(1), ping)
		r.up(msg(3))
		r.want("300103", "")
		r.ended(nil, nil)
		r.line.Set(link.State{}) // an answer was lost: the ends no longer share a session
		r.ended(syscall.ECONNRESET, syscall.ECONNRESET)
	})
	bubble(t, "a packet that has begun passes", func(t *testing.T) {
		r := newRig(t, link.State{})
		p := bytes.Join([][]byte{msg(1), msg(2), msg(3)}, nil)
		_, _ = r.line.Write(p[:4])
		r.line.Set(link.State{OnewayUp: true})
		_, _ = r.line.Write(p[4:8])
		r.line.Set(link.State{})
		_, _ = r.line.Write(p[8:])
		r.up(msg(4))
		r.want("300101"+"300102"+"300104", "")
	})
}

func TestHalfOpenLine(t *testing.T) {
	t.Parallel()
	bubble(t, "half-open", func(t *testing.T) {
		r := newRig(t, link.State{})
		r.line.Set(link.State{HalfOpen: true})
		r.up(msg(1))
		r.down(msg(2), msg(3))
		r.want("", "")
		r.pending(0, 0)
		r.ended(nil, nil)
		r.line.Set(link.State{})
		r.ended(syscall.ECONNRESET, syscall.ECONNRESET)
	})
	bubble(t, "half-open, server gives up", func(t *testing.T) {
		r := newRig(t, link.State{HalfOpen: true})
		_ = r.server.Close()
		r.ended(net.ErrClosed, nil)
		r.up(msg(1)) // still unnoticed
		r.pending(0, 0)
		_ = r.line.SetReadDeadline(time.Now().Add(time.Minute))
		time.Sleep(time.Minute)
		r.ended(net.ErrClosed, os.ErrDeadlineExceeded)
		r.line.Set(link.State{})
		if _, err := r.line.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("got %v, want err to be syscall.ECONNRESET", err)
		}
	})
	bubble(t, "half-open, board gives up", func(t *testing.T) {
		r := newRig(t, link.State{HalfOpen: true})
		if err := r.line.Close(); err != nil {
			t.Error(err)
		}
		r.ended(nil, net.ErrClosed)
		r.down(msg(1))
		r.pending(0, 0)
		if err := r.line.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want err to be net.ErrClosed", err)
		}
		r.line.Set(link.State{})
		r.ended(syscall.ECONNRESET, net.ErrClosed)
	})
	bubble(t, "one way up, server gives up", func(t *testing.T) {
		r := newRig(t, link.State{OnewayUp: true})
		_ = r.server.Close()
		r.ended(net.ErrClosed, io.EOF)
	})
	bubble(t, "one way down, server gives up", func(t *testing.T) {
		r := newRig(t, link.State{OnewayDown: true})
		_ = r.server.Close()
		r.up(msg(1))
		r.ended(net.ErrClosed, nil)
		r.pending(0, 0)
		r.line.Set(link.State{})
		r.ended(net.ErrClosed, syscall.ECONNRESET)
	})
	bubble(t, "closed", func(t *testing.T) {
		r := newRig(t, link.State{})
		r.up(msg(1))
		_ = r.line.Close()
		r.line.Cut() // too late to matter
		r.want("300101", "")
		r.ended(io.EOF, net.ErrClosed)
	})
}

func TestLossyLine(t *testing.T) {
	t.Parallel()
	bubble(t, "drops messages only", func(t *testing.T) {
		r := newRig(t, link.State{Lossy: link.Lossy{Percent: 100}})
		r.up(msg(1), ping, acked(2), ping)
		r.down(ping, msg(3))
		r.want("c000c000", "c000")
		r.pending(0, 0)
		if r.faults != [2]int{2, 1} {
			t.Errorf("got %v, want r.faults = [2]int{2, 1}", r.faults)
		}
	})
	bubble(t, "repeats", func(t *testing.T) {
		r := newRig(t, link.State{Lossy: link.Lossy{DuplicatePercent: 100}})
		r.up(msg(1), ping)
		r.down(msg(2))
		r.want("300101300101c000", "300102300102")
		r.pending(0, 4) // each copy will be counted at the far end
	})
	bubble(t, "by the seed", func(t *testing.T) {
		run := func() (string, [2]int) {
			r := newRig(t, link.State{Lossy: link.Lossy{Percent: 20, DuplicatePercent: 10}})
			for i := range 500 {
				r.up(msg(i))
			}
			return r.ends[link.Up].take(), r.faults
		}
		a, n := run()
		if b, _ := run(); a != b {
			t.Error("not the same again")
		}
		if n[0] < 100 || n[0] > 190 {
			t.Errorf("got %d of 500 hit, want 100 to 190", n[0])
		}
	})
	bubble(t, "delays in order", func(t *testing.T) {
		r := newRig(t, link.State{Lossy: link.Lossy{DelayMs: 100}})
		r.up(msg(1))
		r.down(msg(2), ping)
		time.Sleep(60 * time.Millisecond)
		r.up(msg(3))
		r.down(msg(4))
		r.want("", "")
		r.pending(5, 4)
		r.line.Set(link.State{}) // new packets queue behind delayed ones
		r.up(msg(5))
		r.down(msg(6))
		time.Sleep(39 * time.Millisecond)
		r.want("", "")
		time.Sleep(time.Millisecond)
		r.want("300101", "300102c000")
		time.Sleep(60 * time.Millisecond)
		r.want("300103300105", "300104300106")
		r.pending(0, 6)
		r.up(msg(7))
		r.want("300107", "")
	})
}

func TestDelayedLine(t *testing.T) {
	t.Parallel()
	bubble(t, "delayed, then closed", func(t *testing.T) {
		r := newRig(t, link.State{Lossy: link.Lossy{DelayMs: 100}})
		r.up(msg(1))
		r.down(msg(2))
		_ = r.line.Close()
		r.ended(nil, net.ErrClosed)
		time.Sleep(100 * time.Millisecond)
		r.want("300101", "")
		r.ended(io.EOF, net.ErrClosed)
		r.pending(0, 1)
	})
	bubble(t, "delayed, then the server closed", func(t *testing.T) {
		r := newRig(t, link.State{Lossy: link.Lossy{DelayMs: 100}})
		r.down(msg(1))
		_ = r.server.Close()
		r.ended(net.ErrClosed, nil)
		time.Sleep(100 * time.Millisecond)
		r.want("", "300101")
		r.ended(net.ErrClosed, io.EOF)
	})
	bubble(t, "delayed, then cut", func(t *testing.T) {
		r := newRig(t, link.State{Lossy: link.Lossy{DelayMs: 100}})
		r.up(msg(1))
		r.down(msg(2))
		r.line.Cut()
		time.Sleep(time.Second)
		r.want("", "")
		r.pending(0, 2) // for whichever end notices, to reset
	})
	bubble(t, "delayed, then half-open", func(t *testing.T) {
		r := newRig(t, link.State{Lossy: link.Lossy{DelayMs: 100}})
		r.up(msg(1))
		r.down(msg(2))
		r.line.Set(link.State{HalfOpen: true})
		time.Sleep(time.Second)
		r.want("", "")
		r.pending(0, 0)
	})
	bubble(t, "read deadline under delay", func(t *testing.T) {
		board, server := pipe.New()
		defer server.Close()
		l := link.Wrap(board, link.Config{State: link.State{Lossy: link.Lossy{DelayMs: 100}}})
		defer l.Close()
		_, _ = server.Write(msg(1))
		start := time.Now()
		_ = l.SetReadDeadline(start.Add(50 * time.Millisecond))
		if _, err := l.Read(make([]byte, 9)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 50*time.Millisecond {
			t.Errorf("got %v after %s, want %v and %s", err, time.Since(start), os.ErrDeadlineExceeded, 50*time.Millisecond)
		}
		_ = l.SetReadDeadline(start.Add(500 * time.Millisecond))
		if n, err := l.Read(make([]byte, 9)); n != 3 || err != nil || time.Since(start) != 100*time.Millisecond {
			t.Errorf("got %d, %v after %s, want 3, no error and %s", n, err, time.Since(start), 100*time.Millisecond)
		}
		if _, err := l.Read(make([]byte, 9)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 500*time.Millisecond {
			t.Errorf("got %v after %s, want %v and %s", err, time.Since(start), os.ErrDeadlineExceeded, 500*time.Millisecond)
		}
	})
	bubble(t, "what is no MQTT", func(t *testing.T) {
		r := newRig(t, link.State{Lossy: link.Lossy{DelayMs: 100}})
		r.up([]byte{0x30, 0xff, 0xff, 0xff, 0xff, 0xff}, msg(1))
		r.want("30ffffffffff300101", "")
	})
}
