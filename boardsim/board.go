package boardsim

import (
	"encoding/json"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/doorlab/doorlab/boardsim/firmware"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/internal/world"
)

// board is the shell around one firmware. All of its state is guarded by mu; outgoing messages wait in outbox and are
// written without mu.
type board struct {
	f        *Fleet
	id       string
	placeID  string
	test     bool
	password atomic.Pointer[string]
	channels []firmware.Door
	latency  latency
	first    chan struct{} // closed at the first answered hello, see arrived
	detached atomic.Bool   // taken away: a real board takes its place
	barred   atomic.Int32  // logins that were refused since the last one that wasn't

	mu        sync.Mutex
	s         firmware.State
	owed      firmware.Parts // of the state that flash lacks: PartCore if that may wait, PartAll after a failed write
	rng       *rand.Rand
	shift     int64 // mono = domain ms + shift
	digest    int64 // domain ms of the last one
	stopped   bool  // detached, or the fleet is stopping
	announced bool
	deadlines
	connection
	uplink
	telling
	ground
}

// deadlines are the timers of the firmware. Those of the connection are its own.
type deadlines struct {
	timer  clock.Timer // for due, the firmware's next deadline
	due    int64
	late   clock.Timer     // repeats upload
	upload firmware.Upload // the one that the resend timer is for
}

// uplink is what waits to be sent.
type uplink struct {
	outbox  []message
	sending bool
	behind  *pending // a report that a fault holds back for the next one
}

// message is an outgoing message and its session.
type message struct {
	ses     *session
	channel string
	payload []byte
}

func newBoard(f *Fleet, p *world.Place, wb *world.Board, n int) *board {
	b := &board{f: f, id: wb.ID, placeID: p.ID, test: p.Kind == world.Test, first: make(chan struct{})}
	b.password.Store(&wb.Password)
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

// outcome is the result of a step for its caller.
type outcome struct {
	reports []wire.Report // of a command
	decided *wire.Record  // of a presentation
	journal []entry
	said    []said // of a board that is told: what it sent, without the reports
}

// onsite are the journal entries that a presentation led to at a door.
func (o outcome) onsite(doorID string) (out []entry) {
	return each.If(o.journal, func(e entry) bool {
		return e.DoorID == doorID && (e.Cause == firmware.CauseOnsite || e.Cause == firmware.CauseFree)
	})
}

// step runs the firmware and carries out its effects, except the reports of a command. Called with mu held; call flush
// afterwards.
func (b *board) step(ev firmware.Event) (o outcome) {
	now := b.f.cfg.Clock.Now()
	ev.Mono = now.UnixMilli() + b.shift
	ev.Wall = now.Add(b.f.faults.Offset(b.id, now)).UnixMilli()
	before := b.s
	var out []firmware.Effect
	b.s, out = firmwareStep(b.s, ev)
	if ms := b.lateNow(ev); ms > 0 {
		ev.SessionMs = ms
		b.s, out = firmwareStep(before, ev) // allowed, because the first result is thrown away
	}
	if b.s.Dropped > before.Dropped {
		b.emit(history.Event{Kind: history.Dropped, RecordSeq: before.Records[0].Seq})
	}
	for i := range out {
		e := &out[i]
		switch e.Kind {
		case firmware.Actuate:
			o.journal = append(o.journal, b.write(e.Entry))
		case firmware.Released:
			b.seen(history.Event{Kind: history.Released, At: e.At - b.shift, DoorID: e.Entry.DoorID, Channel: e.Entry.Channel})
		case firmware.Persist:
			ch := ev.Change
			if ch != nil && ch.Sync.Pages > 1 { // the last page alone didn't make the content
				ch = nil
			}
			b.persist(e.Parts, before.Content, ch)
		case firmware.Publish:
			b.send(e.Channel, e.Payload)
			if b.told {
				o.said = append(o.said, said{e.Channel, e.Payload})
				b.remember(said{e.Channel, e.Payload})
			}
		case firmware.Report:
			o.reports = append(o.reports, e.Report)
		case firmware.Decided:
			o.decided = &e.Record
			b.presented(e, ev, o.onsite(e.Record.DoorID))
		case firmware.Configured:
			raw, _ := json.Marshal(e.Payload)
			b.emit(history.Event{Kind: history.Netloss, Text: string(raw)})
		}
	}
	if was, is := before.Outage.Online, b.s.Outage.Online; was != is {
		b.f.online.Add(map[bool]int64{true: 1, false: -1}[is])
	}
	b.arm()
	b.await()
	return o
}

// lateNow returns the session time if a command was still in time when the board looked but no longer is, because the
// machine stood still in between; else 0, see CMD-4.
func (b *board) lateNow(ev firmware.Event) int64 {
	if ev.Kind != firmware.Command || b.ses == nil || ev.SessionMs <= 0 || ev.SessionMs > ev.Command.NotAfterMs {
		return 0
	}
	if ms := b.ses.sessionMs(); ms > ev.Command.NotAfterMs { // no door opens late [CMD-4]
		return ms
	}
	return 0
}

// persist writes the named parts to flash, immediately unless they may wait.
func (b *board) persist(p firmware.Parts, before *firmware.Content, ch *firmware.Change) {
	if p&^firmware.PartLazy == 0 {
		b.owed |= firmware.PartCore
		return
	}
	_ = b.f.flash.write(b, p, before, ch) // housekeep tries again
}

// emit writes to the history, at true domain time.
func (b *board) emit(e history.Event) {
	e.At = b.f.nowMs()
	b.seen(e)
}

// seen writes to the history what can be seen of the board, unless somebody tells it what to do.
func (b *board) seen(e history.Event) {
	if e.BoardID, e.PlaceID = b.id, b.placeID; !b.told {
		b.f.emit(e)
	}
}

// presented reports a presentation, whose phone it masks, and the journal entries that it led to.
func (b *board) presented(e *firmware.Effect, ev firmware.Event, led []entry) {
	seq := int64(0)
	if len(led) > 0 {
		seq = led[len(led)-1].Seq
	}
	r := e.Record
	b.emit(history.Event{Kind: history.Presented, DoorID: r.DoorID, Channel: e.Entry.Channel, Result: r.Result, Reason: r.Reason,
		GrantID: r.GrantID, Revision: e.Entry.Revision, OutageAgeMs: e.Entry.OutageAgeMs, PhoneHash: r.PhoneHash, TokenHash: r.TokenHash,
		BoardAt: ev.Wall, RecordSeq: r.Seq, JournalSeq: seq, Text: ev.Shown()})
}

// send puts a message into the outbox, if there is a connection. Called with mu held.
func (b *board) send(channel string, payload any) {
	raw, err := wire.Marshal(payload)
	if err != nil {
		b.f.cfg.Log.Error("a message could not be encoded", "channel", channel, "error", err)
		return
	}
	b.sendRaw(channel, raw)
}

// sendRaw is send for bytes.
func (b *board) sendRaw(channel string, raw []byte) {
	if b.ses == nil || !b.ses.up {
		return
	}
	switch f := b.f.cfg.Flight; { // before writing: a faulty line counts the other end
	case !b.f.cfg.Apart:
		f.Sent(b.id)
	case channel == wire.UpDigest: // the server may not answer: it thinks content is on its way, which the line has lost
		f.Asked(b.id)
	case channel != wire.UpState && channel != wire.UpAck:
		f.Sent(b.id)
	}
	b.outbox = append(b.outbox, message{b.ses, channel, raw})
}

// flush writes the outbox in order, one writer at a time. Call it without mu.
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
			m.ses.client.Publish(wire.Topic(b.id, m.channel), m.payload)
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

// await makes an unacknowledged upload go up again after some wall time, too: the server refuses uploads while its disk
// is too slow, and that passes even if the clock stands still. Called with mu held.
func (b *board) await() {
	up := b.s.Upload()
	if up == b.upload {
		return
	}
	if b.upload = up; b.late != nil {
		b.late.Stop()
		b.late = nil
	}
	if up.Seq == 0 || b.stopped || !b.f.virtual() {
		return
	}
	b.late = clock.WallAfter(up.Patience(), func() {
		defer b.flush()
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.upload == up && !b.stopped {
			b.upload = firmware.Upload{} // the next upload may look the same
			b.step(firmware.Event{Kind: firmware.Unanswered})
		}
	})
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

// housekeep sends a digest if one is due, and writes what could wait.
func (b *board) housekeep(now int64) {
	defer b.flush()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.catchUp()
	if now-b.digest >= digests.Milliseconds() && b.s.Outage.Online {
		b.digest = now
		b.step(firmware.Event{Kind: firmware.DigestDue})
	}
}

// catchUp writes what flash lacks. Called with mu held.
func (b *board) catchUp() {
	if b.owed != 0 {
		_ = b.f.flash.write(b, b.owed, nil, nil) // it is still owed
	}
}

// reboot restarts the board with what its flash holds. It must not block.
func (b *board) reboot(wiped, clockLost bool) {
	defer b.flush()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped {
		return
	}
	event := history.Rebooted
	if wiped {
		event = history.Wiped
	}
	b.boot(b.unplug(), event, clockLost)
}

// boot starts the board from its flash and connects it. The event (Rebooted, Wiped or none) is written when the flash has
// been read, which may take a while: until then, the board does nothing. s is the session that the power failure ended, nil
// = none. Called with mu held.
func (b *board) boot(s *session, event string, clockLost bool) {
	kept, wiped := b.powerCut(), event == history.Wiped
	if event != "" {
		b.emit(history.Event{Kind: event})
	}
	ev := firmware.Event{Kind: firmware.Reboot, Wiped: wiped || !kept, ClockLost: clockLost}
	if s != nil && s.deaf { // the outage began before
		ev.Silent, ev.Heard = true, b.heardMs(s)+b.shift
	}
	b.step(ev)
	b.tries = 0
	b.redial()
}
