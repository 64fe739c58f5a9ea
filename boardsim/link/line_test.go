package link_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/pipe"
)

// Packets of a test: PUBLISH of one body byte, with and without an answer; a ping.
func msg(n int) []byte   { return []byte{0x30, 1, byte(n)} }
func acked(n int) []byte { return []byte{0x32, 1, byte(n)} }

var ping = []byte{0xc0, 0}

// rig is a line with a sink at each end, in a bubble.
type rig struct {
	t      *testing.T
	line   *link.Line
	server net.Conn
	flight *clock.Flight
	faults [2]int
	ends   [2]*sink // what came up to the server, down to the board
}

type sink struct {
	mu  sync.Mutex
	got bytes.Buffer
	err error
}

func (s *sink) drain(c net.Conn) {
	b := make([]byte, 5) // less than a packet or two
	for {
		n, err := c.Read(b)
		s.mu.Lock()
		s.got.Write(b[:n])
		s.err = err
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// take returns what came since the last time, everything else at rest.
func (s *sink) take() string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.got.Reset()
	return fmt.Sprintf("%x", s.got.Bytes())
}

func newRig(t *testing.T, s link.State) *rig {
	r := &rig{t: t, flight: clock.NewFlight(), ends: [2]*sink{{}, {}}}
	board, server := pipe.New()
	r.server = server
	r.line = link.Wrap(board, link.Config{BoardID: "b", Flight: r.flight, Seed: 7, State: s, OnFault: func(d link.Dir) { r.faults[d]++ }})
	go r.ends[link.Up].drain(server)
	go r.ends[link.Down].drain(r.line)
	t.Cleanup(func() { _, _ = r.line.Close(), server.Close() })
	return r
}

// up and down send packets, counted as the ends count them.
func (r *rig) up(p ...[]byte)   { r.send(r.line, p) }
func (r *rig) down(p ...[]byte) { r.send(r.server, p) }
func (r *rig) send(c net.Conn, packets [][]byte) {
	r.t.Helper()
	for _, p := range packets {
		if p[0]>>4 == 3 {
			r.flight.Sent("b")
		}
	}
	if _, err := c.Write(bytes.Join(packets, nil)); err != nil {
		r.t.Fatal(err)
	}
	synctest.Wait()
}

func (r *rig) want(up, down string) {
	r.t.Helper()
	if u, d := r.ends[link.Up].take(), r.ends[link.Down].take(); u != up || d != down {
		r.t.Errorf("up %q down %q, want %q and %q", u, d, up, down)
	}
}

func (r *rig) ended(up, down error) {
	r.t.Helper()
	synctest.Wait()
	for i, want := range []error{up, down} {
		r.ends[i].mu.Lock()
		err := r.ends[i].err
		r.ends[i].mu.Unlock()
		if !errors.Is(err, want) || want == nil && err != nil {
			r.t.Errorf("%s ended with %v, want %v", link.Dir(i), err, want)
		}
	}
}

func (r *rig) pending(work, messages int) {
	r.t.Helper()
	synctest.Wait()
	if w, m := r.flight.Pending(); w != work || m != messages {
		r.t.Errorf("%d works and %d messages under way, want %d and %d", w, m, work, messages)
	}
}

// bubble runs f in a synctest bubble.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, f)
	})
}

func TestLine(t *testing.T) {
	t.Parallel()
	bubble(t, "clean", func(t *testing.T) {
		r := newRig(t, link.State{})
		r.up(msg(1), ping)
		r.down(acked(2))
		r.want("300101c000", "320102")
		r.pending(0, 2) // as the ends have not counted them yet
	})
	bubble(t, "cut", func(t *testing.T) {
		r := newRig(t, link.State{})
		r.line.Cut()
		r.ended(syscall.ECONNRESET, syscall.ECONNRESET)
		if _, err := r.line.Write(ping); !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
	})
	bubble(t, "one way, up", func(t *testing.T) {
		r := newRig(t, link.State{OnewayUp: true})
		r.up(msg(1), msg(2))
		r.down(msg(3))
		r.want("", "300103")
		r.pending(0, 1)
		r.line.Set(link.State{}) // nobody waits for an answer: it goes on
		r.up(msg(4))
		r.want("300104", "")
		if r.faults != [2]int{2, 0} {
			t.Error(r.faults)
		}
	})
	bubble(t, "one way, down", func(t *testing.T) {
		r := newRig(t, link.State{})
		r.line.Set(link.State{OnewayDown: true})
		r.down(msg(1), ping)
		r.up(msg(3))
		r.want("300103", "")
		r.ended(nil, nil)
		r.line.Set(link.State{}) // a lost answer: the ends share no session
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
		r.up(msg(1)) // still nothing is noticed
		r.pending(0, 0)
		_ = r.line.SetReadDeadline(time.Now().Add(time.Minute))
		time.Sleep(time.Minute)
		r.ended(net.ErrClosed, os.ErrDeadlineExceeded)
		r.line.Set(link.State{})
		if _, err := r.line.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
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
			t.Error(err)
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
			t.Error(r.faults)
		}
	})
	bubble(t, "repeats", func(t *testing.T) {
		r := newRig(t, link.State{Lossy: link.Lossy{DuplicatePercent: 100}})
		r.up(msg(1), ping)
		r.down(msg(2))
		r.want("300101300101c000", "300102300102")
		r.pending(0, 4) // each copy will be counted at the other end
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
			t.Errorf("%d of 500 hit", n[0])
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
		r.line.Set(link.State{}) // what comes now waits for what came before
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
		r.pending(0, 2) // for whoever notices the end to reset
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
			t.Errorf("%v after %s", err, time.Since(start))
		}
		_ = l.SetReadDeadline(start.Add(500 * time.Millisecond))
		if n, err := l.Read(make([]byte, 9)); n != 3 || err != nil || time.Since(start) != 100*time.Millisecond {
			t.Errorf("%d, %v after %s", n, err, time.Since(start))
		}
		if _, err := l.Read(make([]byte, 9)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 500*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
	bubble(t, "what is no MQTT", func(t *testing.T) {
		r := newRig(t, link.State{Lossy: link.Lossy{DelayMs: 100}})
		r.up([]byte{0x30, 0xff, 0xff, 0xff, 0xff, 0xff}, msg(1))
		r.want("30ffffffffff300101", "")
	})
}
