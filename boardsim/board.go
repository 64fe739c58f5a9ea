package boardsim

import (
	"encoding/json"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/internal/world"
)

// board is the shell around one firmware. Everything of it happens under mu;
// what goes up waits in outbox and is written outside of it.
type board struct {
	f        *Fleet
	id       string
	placeID  string
	test     bool
	password string
	channels []firmware.Door
	latency  latency
	first    chan struct{} // closed at the first answered hello, see arrived
	detached atomic.Bool   // taken away: somebody else speaks for it

	mu      sync.Mutex
	s       firmware.State
	rng     *rand.Rand
	shift   int64       // mono = domain ms + shift
	timer   clock.Timer // for due, the firmware's next deadline
	due     int64
	ses     *session // the live connection, or the attempt at one
	seq     int64    // of sessions
	retry   clock.Timer
	tries   int
	away    func() // ends the flight of a reconnect
	stopped bool   // detached, or the fleet is stopping
	lineBad string // the fault that is in the way, "" = none
	deaf    clock.Timer
	digest  int64 // domain ms of the last one
	dirty   bool  // flash lags behind
	outbox  []message
	sending bool
	behind  *pending      // a report that a fault holds back for the next one
	jlines  []journalLine // the last of the journal
	jat     []int64       // where in the file each line is
	jseq    int64
}

// message goes up on a session.
type message struct {
	ses     *session
	channel string
	payload []byte
}

func newBoard(f *Fleet, p *world.Place, wb *world.Board, n int) *board {
	b := &board{f: f, id: wb.ID, placeID: p.ID, test: p.Kind == world.Test, password: wb.Password, first: make(chan struct{})}
	for _, d := range wb.Doors {
		b.channels = append(b.channels, firmware.Door{ID: d.ID, Channel: d.Channel})
	}
	b.latency = latencyOf(p)
	b.rng = rand.New(rand.NewPCG(uint64(f.cfg.Seed), uint64(n)))
	now := f.nowMs()
	b.s = firmware.New(b.id, b.placeID, b.channels, now, now)
	b.digest = now - int64(b.rng.IntN(int(digests.Milliseconds())))
	return b
}

// step runs the firmware and carries out what it wants. It returns the messages
// up that a command made: its report. Called with mu held; call flush after it.
func (b *board) step(ev firmware.Event) (reports []wire.Report, decided *wire.Record) {
	now := b.f.cfg.Clock.Now()
	ev.Mono = now.UnixMilli() + b.shift
	ev.Wall = now.Add(b.f.faults.Offset(b.id, now)).UnixMilli()
	before := b.s
	var out []firmware.Effect
	b.s, out = firmware.Step(b.s, ev)
	if b.s.Dropped > before.Dropped {
		b.emit(history.Event{Kind: history.Dropped, RecordSeq: before.Records[0].Seq})
	}
	for _, e := range out {
		switch e.Kind {
		case firmware.Actuate:
			b.write(e.Line)
		case firmware.Persist:
			b.persist(e.Parts, before.Content, ev.Change)
		case firmware.Publish:
			if r, ok := e.Payload.(wire.Report); ok && ev.Kind == firmware.Command {
				reports = append(reports, r)
				continue
			}
			b.send(e.Channel, e.Payload)
		case firmware.Decided:
			decided = &e.Record
			b.presented(e, ev.Wall)
		case firmware.Configured:
			raw, _ := json.Marshal(e.Payload)
			b.emit(history.Event{Kind: history.Netloss, Text: string(raw)})
		}
	}
	if was, is := before.Outage.Online, b.s.Outage.Online; was != is {
		b.f.online.Add(map[bool]int64{true: 1, false: -1}[is])
	}
	b.arm()
	return reports, decided
}

// persist keeps the named parts in flash, at once unless they may wait.
func (b *board) persist(p firmware.Parts, before *firmware.Content, ch *firmware.Change) {
	if p&^firmware.PartLazy == 0 {
		b.dirty = true
		return
	}
	b.f.flash.write(b, p, before, ch)
}

// emit writes to the history, at true domain time.
func (b *board) emit(e history.Event) {
	e.At, e.BoardID, e.PlaceID = b.f.nowMs(), b.id, b.placeID
	b.f.emit(e)
}

func (b *board) presented(e firmware.Effect, wall int64) {
	r := e.Record
	b.emit(history.Event{Kind: history.Presented, DoorID: r.DoorID, Channel: e.Line.Channel, Result: r.Result, Reason: r.Reason,
		GrantID: r.GrantID, Revision: e.Line.Revision, OutageAgeMs: e.Line.OutageAgeMs, PhoneHash: r.PhoneHash, TokenHash: r.TokenHash,
		BoardAt: wall, RecordSeq: r.Seq})
}

// send puts a message into the outbox, if there is a connection. Called with mu held.
func (b *board) send(channel string, payload any) {
	if b.ses == nil || !b.ses.up {
		return
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		b.f.cfg.Log.Error("encode", "channel", channel, "err", err)
		return
	}
	b.sendRaw(channel, raw)
}

func (b *board) sendRaw(channel string, raw []byte) {
	if !b.f.cfg.Apart || channel != wire.UpState && channel != wire.UpAck {
		b.f.cfg.Flight.Sent(b.id) // before it is written: a faulty line counts the other end
	}
	b.outbox = append(b.outbox, message{b.ses, channel, raw})
}

// flush writes the outbox, in order, one writer at a time. Call without mu.
func (b *board) flush() {
	b.mu.Lock()
	if b.sending {
		b.mu.Unlock()
		return
	}
	b.sending = true
	for len(b.outbox) > 0 {
		m := b.outbox[0]
		b.outbox = b.outbox[1:]
		live := m.ses == b.ses
		b.mu.Unlock()
		if live {
			m.ses.client.Publish(wire.Topic(b.id, m.channel), 0, false, m.payload)
		}
		b.mu.Lock()
	}
	b.outbox, b.sending = nil, false
	b.mu.Unlock()
}

// arm sets the board's one timer for the firmware's next deadline. Called with mu held.
func (b *board) arm() {
	at, ok := b.s.NextDeadline()
	if b.stopped {
		ok = false
	}
	if ok && b.timer != nil && b.due == at {
		return
	}
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	if !ok {
		return
	}
	b.due = at
	b.timer = clock.At(b.f.cfg.Clock, msTime(at-b.shift), func() { b.tick(at) })
}

func (b *board) tick(at int64) {
	defer b.flush()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer == nil || b.due != at || b.stopped {
		return
	}
	b.timer = nil
	b.step(firmware.Event{Kind: firmware.Tick})
}

// housekeep sends a digest when one is due and writes what could wait.
func (b *board) housekeep(now int64) {
	defer b.flush()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dirty {
		b.f.flash.write(b, firmware.PartCore, b.s.Content, nil)
	}
	if now-b.digest >= digests.Milliseconds() && b.s.Outage.Online {
		b.digest = now
		b.step(firmware.Event{Kind: firmware.DigestDue})
	}
}

// reboot starts the board's next life. It must not block.
func (b *board) reboot(wiped, clockLost bool) {
	defer b.flush()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped {
		return
	}
	b.drop(false)
	if wiped {
		b.emit(history.Event{Kind: history.Wiped})
	}
	b.step(firmware.Event{Kind: firmware.Reboot, Wiped: wiped, ClockLost: clockLost})
	b.tries = 0
	b.redial()
}
