package boardsim

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/doorlab/doorlab/boardsim/fault"
	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/wire"
)

// receive handles one message from the server; paho calls it in order. It is
// out of flight when the board is done with it; a report under way is in flight
// by itself.
func (b *board) receive(s *session, topic string, payload []byte) {
	_, channel, _ := wire.ParseTopic(topic)
	ev, err := b.f.decode(b.placeID, channel, payload)
	b.mu.Lock()
	if b.ses != s {
		b.mu.Unlock()
		return
	}
	switch {
	case err != nil:
		b.f.cfg.Log.Warn("a message from the server was dropped", "board", b.id, "err", err)
	case ev.Kind == firmware.Command:
		b.command(s, ev)
	default:
		if ev.Kind == firmware.Ack && ev.Ack.Type == wire.AckHello {
			b.greeted(s, ev.Ack)
		}
		ev.SessionMs = s.sessionMs()
		b.step(ev)
		b.arrived(s)
	}
	b.mu.Unlock()
	b.flush()
	b.f.cfg.Flight.Got(b.id)
}

// arrived lets Fleet.Start know when the board is what it waits for: greeted,
// and with Config.Synced in possession of its place's content. Called with mu held.
func (b *board) arrived(s *session) {
	select {
	case <-b.first:
		return
	default:
	}
	if s.base == 0 || b.f.cfg.Synced && b.s.Content.Revision < max(1, b.f.desired(b.id)) {
		return
	}
	close(b.first)
}

// greeted: the server has answered the hello.
func (b *board) greeted(s *session, a wire.Ack) {
	s.base = max(a.SessionMs, 1)
	s.end()
	b.tries = 0
	b.landed()
}

// command lets the faults have their say, then the firmware. Called with mu held.
func (b *board) command(s *session, ev firmware.Event) {
	d := b.f.faults.OnCommand(b.id, ev.Command.DoorID, ev.Command.Command)
	if d.SilentBefore {
		return
	}
	ev.Refuse = d.Refuse
	if d.DelayMs <= 0 {
		b.run(s, ev, d)
		return
	}
	b.after(time.Duration(d.DelayMs)*time.Millisecond, func() {
		if b.ses == s {
			b.run(s, ev, d)
		}
	})
}

// after does something under mu in a while of wall time; jumps wait for it.
func (b *board) after(d time.Duration, do func()) {
	done := b.f.cfg.Flight.Begin()
	clock.WallAfter(d, func() {
		defer done()
		b.mu.Lock()
		do()
		b.mu.Unlock()
		b.flush()
	})
}

// run executes a command and reports it in the board's own time [CMD-1].
func (b *board) run(s *session, ev firmware.Event, d fault.Decision) {
	ev.SessionMs = s.sessionMs()
	reports, _ := b.step(ev)
	for _, r := range reports {
		if d.SilentAfter {
			b.step(firmware.Event{Kind: firmware.Forget, CommandID: r.CommandID})
			continue
		}
		wait := b.latency.draw(b.rng) + time.Duration(d.LateMs)*time.Millisecond
		b.after(wait, func() {
			if b.ses == s {
				b.report(r, d)
			}
		})
	}
}

// decode reads a message; a Sync that many boards of a place get is prepared once.
func (f *Fleet) decode(placeID, channel string, payload []byte) (firmware.Event, error) {
	if channel != wire.DownSync {
		return firmware.Decode(channel, payload)
	}
	return f.syncs.decode(placeID, payload)
}

// changes remembers the last few Syncs of each place.
type changes struct {
	mu     sync.Mutex
	places map[string]*recent
}

type recent struct {
	mu    sync.Mutex
	keys  [4][32]byte
	known [4]*firmware.Change
	next  int
}

func (c *changes) decode(placeID string, payload []byte) (firmware.Event, error) {
	c.mu.Lock()
	if c.places == nil {
		c.places = map[string]*recent{}
	}
	r := c.places[placeID]
	if r == nil {
		r = &recent{}
		c.places[placeID] = r
	}
	c.mu.Unlock()
	key := sha256.Sum256(payload)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, k := range r.keys {
		if k == key && r.known[i] != nil {
			return firmware.Event{Kind: firmware.Sync, Change: r.known[i]}, nil
		}
	}
	ev, err := firmware.Decode(wire.DownSync, payload)
	if err != nil {
		return ev, err
	}
	r.keys[r.next], r.known[r.next] = key, ev.Change
	r.next = (r.next + 1) % len(r.keys)
	return ev, nil
}
