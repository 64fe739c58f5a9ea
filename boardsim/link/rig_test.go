package link_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/doorlab/doorlab/boardsim/link"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/pipe"
)

// Test packets: a PUBLISH with a one-byte body, with and without an answer, and a ping.
func msg(n int) []byte { return []byte{0x30, 1, byte(n)} }

func acked(n int) []byte { return []byte{0x32, 1, byte(n)} }

var ping = []byte{0xc0, 0}

// rig is a line with a sink at each end, in a synctest bubble.
type rig struct {
	t      *testing.T
	line   *link.Line
	server net.Conn
	flight *clock.Flight
	faults [2]int
	ends   [2]*sink // what arrived at the server, at the board
}

type sink struct {
	mu  sync.Mutex
	got bytes.Buffer
	err error
}

func (s *sink) drain(c net.Conn) {
	b := make([]byte, 5) // smaller than two packets
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

// take returns what has arrived since the last call, once everything is at rest.
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
	r.line = link.Wrap(board, link.Config{BoardID: "b", Flight: r.flight, Seed: 7, State: s, OnFault: func(d link.Dir, _ bool) { r.faults[d]++ }})
	go r.ends[link.Up].drain(server)
	go r.ends[link.Down].drain(r.line)
	t.Cleanup(func() { _, _ = r.line.Close(), server.Close() })
	return r
}

// up and down send packets and count them as the real ends would.
func (r *rig) up(p ...[]byte) { r.send(r.line, p) }

func (r *rig) down(p ...[]byte) { r.send(r.server, p) }

func (r *rig) send(c net.Conn, packets [][]byte) {
	r.t.Helper()
	for _, p := range packets {
		if p[0]>>4 == 3 {
			r.flight.Sent("b")
		}
	}
	must.Get(c.Write(bytes.Join(packets, nil)))(r.t)
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
