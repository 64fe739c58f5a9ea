package boardsim

import (
	"errors"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"github.com/doorlab/doorlab/boardsim/fault"
	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
)

// receive handles one message from the server; the client calls it in order. When the board is done with the message,
// it is no longer in flight; its report counts separately.
func (b *board) receive(s *session, topic string, payload []byte) {
	_, channel, _ := wire.ParseTopic(topic)
	ev, err := b.f.decode(b.placeID, channel, payload)
	b.mu.Lock()
	if b.ses != s {
		b.mu.Unlock()
		return
	}
	switch {
	case b.alone:
	case errors.Is(err, firmware.ErrEcho):
		b.mu.Unlock()
		return
	case err != nil:
		b.f.cfg.Log.Warn("a message from the server was dropped", "board", b.id, "error", err)
	default:
		b.handle(s, ev)
	}
	b.mu.Unlock()
	b.flush()
	b.f.cfg.Flight.Got(b.id)
}

// handle gives the firmware a message from the server. Called with mu held; call flush afterwards.
func (b *board) handle(s *session, ev firmware.Event) outcome {
	if ev.Kind == firmware.Command {
		return b.command(s, ev)
	}
	if ev.Kind == firmware.Ack && ev.Ack.Type == wire.AckHello {
		b.greeted(s, ev.Ack)
	}
	ev.SessionMs = s.sessionMs()
	o := b.step(ev)
	b.arrived(s)
	return o
}

// arrived tells Fleet.Start that the board is connected: greeted and, with Config.Synced, in possession of its place's
// content. Called with mu held.
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

// greeted handles the server's answer to the hello.
func (b *board) greeted(s *session, a wire.Ack) {
	s.base = max(a.SessionMs, 1)
	s.end()
	b.tries = 0
	b.landed()
}

// command passes a command to the faults, then to the firmware. A fault that delays it leaves the outcome empty. Called
// with mu held.
func (b *board) command(s *session, ev firmware.Event) outcome {
	r := b.f.faults.Command(b.id, ev.Command.DoorID, ev.Command.Command)
	if len(r.Faults) > 0 {
		b.emit(history.Event{Kind: history.Fault, CommandID: ev.Command.ID, DoorID: ev.Command.DoorID, Text: strings.Join(r.Faults, " ")})
	}
	if r.Lost {
		return outcome{}
	}
	ev.Refuse = r.Refuse
	had := clock.WallNow().UnixNano()
	if r.Delay <= 0 {
		return b.run(s, ev, r, had)
	}
	b.after(r.Delay, func() {
		if b.ses == s {
			b.run(s, ev, r, had)
		}
	})
	return outcome{}
}

// after calls do under mu after some wall time; jumps wait for it.
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

// run executes a command that came at had, and reports it in the board's own time, see CMD-1.
func (b *board) run(s *session, ev firmware.Event, r fault.Ruling, had int64) outcome {
	ev.SessionMs = s.sessionMs()
	b.had = had
	done := b.step(ev)
	b.had = 0
	for _, report := range done.reports {
		b.f.count.reports.Add(1)
		out := r.Outgoing(report)
		if !out.True() { // at once: the line may end before a forged one is sent
			b.step(firmware.Event{Kind: firmware.Forget, CommandID: report.CommandID})
		}
		if out.Silent() {
			continue
		}
		b.after(b.latency.draw(b.rng)+out.Delay, func() {
			if b.ses == s {
				b.report(out)
			}
		})
	}
	return done
}

// decode reads a message. A Sync that many boards of a place receive is prepared once.
func (f *Fleet) decode(placeID, channel string, payload []byte) (firmware.Event, error) {
	if channel != wire.DownSync {
		return firmware.Decode(channel, payload)
	}
	return f.syncs.decode(placeID, payload)
}

// changes remembers the last Syncs of each place.
type changes struct {
	mu     sync.Mutex
	places map[string]*recent
}

// recent holds the latest messages of a place: pages up to maxPages bytes, and
// maxWhole other changes, each of which refers to the content that it made.
type recent struct {
	mu    sync.Mutex
	known map[digest]*firmware.Change
	whole []seen // oldest first
	pages []seen
	bytes int // of pages
}

type seen struct {
	key digest
	n   int
}

// digest tells messages apart: 128 bits that nobody outside of this process can aim at. SHA-256
// takes ten times as long, and each of a place's boards gets the same message.
type digest [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func digestOf(payload []byte) digest {
	return digest{maphash.Bytes(seeds[0], payload), maphash.Bytes(seeds[1], payload)}
}

const (
	maxWhole = 4
	maxPages = 8 << 20
)

func (c *changes) decode(placeID string, payload []byte) (firmware.Event, error) {
	c.mu.Lock()
	if c.places == nil {
		c.places = map[string]*recent{}
	}
	r := each.Made(c.places, placeID, func() *recent { return &recent{known: map[digest]*firmware.Change{}} })
	c.mu.Unlock()
	key := digestOf(payload)
	r.mu.Lock()
	defer r.mu.Unlock()
	if ch := r.known[key]; ch != nil {
		return firmware.Event{Kind: firmware.Sync, Change: ch}, nil
	}
	ev, err := firmware.Decode(wire.DownSync, payload)
	if err == nil {
		r.known[key] = ev.Change
		r.keep(seen{key, len(payload)}, ev.Change.Sync.Pages > 1)
	}
	return ev, err
}

func (r *recent) keep(s seen, page bool) {
	if !page {
		if r.whole = append(r.whole, s); len(r.whole) > maxWhole {
			delete(r.known, r.whole[0].key)
			r.whole = r.whole[1:]
		}
		return
	}
	r.pages, r.bytes = append(r.pages, s), r.bytes+s.n
	for r.bytes > maxPages {
		delete(r.known, r.pages[0].key)
		r.bytes -= r.pages[0].n
		r.pages = r.pages[1:]
	}
}
