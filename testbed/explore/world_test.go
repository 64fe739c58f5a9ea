package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/boardsim/firmware"
	boardbugs "github.com/doorlab/doorlab/boardsim/planted"
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/command"
	serverbugs "github.com/doorlab/doorlab/server/planted"
)

// The world being explored: the real command.Service and firmware.Step around a disk, a line and flash in memory, in
// fake time. Nothing moves on its own: every write, delivery, loss, timeout and death is an action.

const (
	place, door, brd, key = "plc_a", "dor_1", "brd_a", "k"
	tickLen               = 3 * time.Second // between 0, notAfter (5 s), wait (8 s) and the answer bound (14 s)
	person                = "phone-hash"
)

var errDisk = errors.New("disk")

// row is one command on the disk.
type row struct {
	in      command.Intent
	st      *command.Settlement
	lateAs  vocab.Result
	acceptd time.Duration
}

// op is a pending write.
type op struct {
	name string
	do   func()
	res  chan error
}

// caller is one HTTP call.
type caller struct {
	kind string
	tick int
	done bool
	a    command.Answer
	err  error
}

type pulse struct {
	id string
	at time.Duration
}

type state struct {
	mu     sync.Mutex
	bug    string
	bad    string // the first breach found
	start  time.Duration
	rows   []*row
	ops    []*op
	auto   bool // writes happen immediately: while a server starts, at the end of a path
	sent   map[string]int
	names  map[string]string // command id -> c1, c2 ..
	svc    *command.Service
	points map[string]string // where each command of this run is, and since when
	armed  command.Point
	died   bool
	lives  int
	taken  map[string]bool // first report of a command in this run

	st, flash firmware.State
	step      boardbugs.Step
	online    bool
	epoch     int64
	down      []any // wire.Command, wire.Sync
	up        []wire.Report
	acks      []wire.Ack
	journal   []pulse
	revoked   bool // committed: boards must be told
	applied   bool // the server has the board's acknowledgement
	calls     []*caller
	used      map[string]int
	ticks     int
}

func newState(bug string) *state {
	w := &state{bug: bug, start: clock.Mono(), sent: map[string]int{}, names: map[string]string{}, used: map[string]int{},
		step: boardbugs.In(bug, firmware.Step)}
	w.st = firmware.New(brd, place, []firmware.Door{{ID: door, Channel: 1}}, w.wall(), w.mono())
	w.run(firmware.Event{Kind: firmware.Sync, Change: firmware.Prepare(wire.Sync{Snapshot: true, To: 1,
		Doors: &[]wire.DoorConfig{{DoorID: door, BoardID: brd, Channel: 1}}, Upsert: []access.Grant{w.grant(false)}})})
	w.st.Outage.Online = false
	w.flash = clone(w.st)
	w.begin()
	w.connect()
	return w
}

func (w *state) grant(revoked bool) access.Grant {
	return access.Grant{ID: "pmt_1", Kind: "permit", PhoneHash: person, Doors: []string{door}, StartsAt: 0, EndsAt: 1 << 50, Revoked: revoked}
}

func (w *state) wall() int64        { return time.Now().UnixMilli() }
func (w *state) mono() int64        { return w.session(clock.Mono().Milliseconds()) }
func (w *state) now() time.Duration { return clock.Mono() - w.start }

func (w *state) fail(format string, args ...any) {
	if w.bad == "" {
		w.bad = fmt.Sprintf(format, args...)
	}
}

// session converts the server's monotonic clock, which may be negative in fake time, to session time. A board would
// treat a negative value as unknown.
func (w *state) session(ms int64) int64 { return ms - w.start.Milliseconds() + 1000 }

// name numbers commands in the order in which they appear; on-site entries have none.
func (w *state) name(id string) string {
	if id == "" {
		return "onsite"
	}
	if w.names[id] == "" {
		w.names[id] = fmt.Sprint("c", len(w.names)+1)
	}
	return w.names[id]
}

// begin starts a run of the server.
func (w *state) begin() {
	life := w.lives
	w.points, w.taken, w.auto = map[string]string{}, map[string]bool{}, true
	w.svc = command.New(serverbugs.Commands(w.bug, command.Config{Ledger: ledger{w, life}, Sender: sender{w, life}, Clock: clock.Real{},
		Trace: func(p command.Point, t *command.Trail) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.points[t.Intent.CommandID] = fmt.Sprint(p, w.ticks)
			if p == w.armed {
				w.armed, w.died = "", true
				w.svc.Kill()
			}
		}}))
	_, _ = w.svc.Recover()
	w.fence()
	synctest.Wait()
	w.mu.Lock()
	w.auto = false
	w.mu.Unlock()
}

// crash ends the server's run; the write in progress is either lost or on disk.
func (w *state) crash(applied bool) {
	w.svc.Kill()
	w.fence()
	synctest.Wait()
	w.mu.Lock()
	w.lives++ // from now on the previous run writes and sends nothing
	ops := w.ops
	w.ops, w.died, w.armed = nil, false, ""
	w.mu.Unlock()
	for _, o := range ops {
		if applied {
			o.do()
		}
		o.res <- errDisk
	}
	w.svc.Stop()
	w.cut()
	w.begin()
}

// run steps the firmware and performs its effects.
func (w *state) run(ev firmware.Event) { w.runUntil(ev, false) }

// runUntil makes the board die, if die is set, after the relay moved and before flash has recorded it.
func (w *state) runUntil(ev firmware.Event, die bool) {
	ev.Wall, ev.Mono, ev.SessionMs = w.wall(), w.mono(), w.mono()
	var out []firmware.Effect
	w.st, out = w.step(w.st, ev)
	for _, e := range out {
		switch {
		case e.Kind == firmware.Actuate && e.Entry.Action == firmware.ActPulse:
			w.journal = append(w.journal, pulse{e.Entry.CommandID, w.now()})
			if e.Entry.Cause == firmware.CauseOnsite && w.applied {
				w.fail("SYNC-2: opened on site after the board had acknowledged the revocation")
			}
		case e.Kind == firmware.Persist && e.Parts&^firmware.PartLazy != 0 && !die:
			w.flash = clone(w.st)
		case e.Kind == firmware.Report && w.online && !die:
			w.up = append(w.up, e.Report)
		case e.Kind == firmware.Publish && !die:
			switch m := e.Payload.(type) {
			case wire.Report:
				w.up = append(w.up, m)
			case wire.SyncAck:
				w.applied = w.applied || m.Revision == 2
			}
		}
	}
	if die {
		w.reboot()
	}
}

// clone copies a State, because Step modifies the one it is given.
func clone(s firmware.State) firmware.State {
	s.Done, s.Records, s.Doors = slices.Clone(s.Done), slices.Clone(s.Records), slices.Clone(s.Doors)
	return s
}

func (w *state) reboot() {
	w.cut()
	w.st = clone(w.flash)
	w.run(firmware.Event{Kind: firmware.Reboot})
}

func (w *state) cut() {
	if w.online {
		w.online = false
		w.run(firmware.Event{Kind: firmware.Disconnected})
	}
	w.down, w.up = nil, nil
}

func (w *state) connect() {
	w.online = true
	w.epoch++
	w.run(firmware.Event{Kind: firmware.Connected})
	w.run(firmware.Event{Kind: firmware.Ack, Ack: wire.Ack{Type: wire.AckHello, Epoch: w.epoch, Accepted: true}})
	w.push()
}

// push sends the changes that the board lacks.
func (w *state) push() {
	if w.revoked && w.online && w.st.Content.Revision < 2 {
		w.down = append(w.down, wire.Sync{From: 1, To: 2, Upsert: []access.Grant{w.grant(true)}})
	}
}

// deliver delivers a message to the board, which dies while handling it if die is set.
func (w *state) deliver(m any, die bool) {
	switch m := m.(type) {
	case wire.Command:
		w.runUntil(firmware.Event{Kind: firmware.Command, Command: m}, die)
	case wire.Sync:
		w.runUntil(firmware.Event{Kind: firmware.Sync, Change: firmware.Prepare(m)}, die)
	}
}

// report delivers a report to the server; the acknowledgement returns immediately.
func (w *state) report(r wire.Report) {
	svc := w.svc
	if svc.Report(brd, r, func(ok bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.acks = append(w.acks, wire.Ack{Type: wire.AckRpt, CommandID: r.CommandID, Accepted: ok})
	}) {
		w.mu.Lock()
		w.taken[r.CommandID] = true
		w.mu.Unlock()
	}
}

func (w *state) call(kind string) {
	c := &caller{kind: kind, tick: w.ticks}
	w.calls = append(w.calls, c)
	cmd := wire.CmdOpen
	if kind == "other" {
		cmd = wire.CmdClose
	}
	svc := w.svc
	go func() {
		a, err := svc.Execute(context.Background(), command.Request{Order: command.Order{PlaceID: place, DoorID: door, Command: cmd, Key: key}, Render: render})
		w.mu.Lock()
		c.a, c.err, c.done = a, err, true
		w.mu.Unlock()
	}()
}

func render(r command.Result) (int, []byte) {
	status := map[vocab.Outcome]int{vocab.Reported: 200, vocab.Offline: 409, vocab.Refused: 502, vocab.NoResponse: 504}[r.Outcome]
	return status, fmt.Appendf(nil, "%s %s %s", r.CommandID, r.Outcome, r.DeviceCode)
}

// fence orders what the test has just read and written before what the server's goroutines do next, because a timer
// that wakes a goroutine doesn't (for the race detector).
func (w *state) fence() {
	w.mu.Lock()
	defer w.mu.Unlock()
}
