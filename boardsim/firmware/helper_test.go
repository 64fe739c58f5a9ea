package firmware

import (
	"fmt"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/wire"
)

const (
	t0   = int64(1_790_000_000_000) // wall time at mono 0
	hour = int64(3_600_000)
)

// bench is a board on the test bench. It steps through deadlines and collects what the board does.
type bench struct {
	t     *testing.T
	s     State
	now   int64 // mono
	skew  int64
	lines []Entry
	fell  []string
	pubs  []Effect
	n     int
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t}
	b.s = New("brd_1", "plc_1", []Door{{ID: "dor_1", Channel: 1}, {ID: "dor_2", Channel: 2}}, t0, 0)
	return b
}

// online connects the board and gives it a membership of phone "p" for both doors.
func (b *bench) online() *bench {
	b.step(Event{Kind: Connected})
	b.step(Event{Kind: Ack, Ack: wire.Ack{Type: wire.AckHello, Epoch: 7, SessionMs: 1}})
	if b.s.Content.Revision == 0 {
		b.step(Event{Kind: Sync, Change: Prepare(snapshot(1, grantOf("mem_1", "p", "")))})
	}
	return b
}

func grantOf(id, phone, token string) access.Grant {
	return access.Grant{ID: id, Kind: access.KindMembership, PhoneHash: phone, TokenHash: token, Doors: []string{"dor_1", "dor_2"}, StartsAt: 1}
}

func snapshot(rev int64, grants ...access.Grant) wire.Sync {
	ws, ds := []access.Window{}, []wire.DoorConfig{{BoardID: "brd_1", DoorID: "dor_1", Channel: 1}, {BoardID: "brd_1", DoorID: "dor_2", Channel: 2}}
	return wire.Sync{To: rev, Snapshot: true, Timezone: "Asia/Seoul", Upsert: grants, Windows: &ws, Doors: &ds,
		Hours: &access.Hours{Timezone: "Asia/Seoul", Week: access.Week{}}}
}

func (b *bench) step(ev Event) []Effect {
	ev.Mono, ev.Wall = b.now, t0+b.now+b.skew
	var out []Effect
	b.s, out = Step(b.s, ev)
	for _, e := range out {
		switch e.Kind {
		case Actuate:
			b.lines = append(b.lines, e.Entry)
		case Released:
			b.fell = append(b.fell, fmt.Sprintf("%s +%d", strings.TrimPrefix(e.Entry.DoorID, "dor_"), e.At))
		case Publish:
			b.pubs = append(b.pubs, e)
		}
	}
	return out
}

// to advances to a monotonic time, stopping at every deadline as the clock does.
func (b *bench) to(mono int64) *bench {
	for {
		at, ok := b.s.NextDeadline()
		if !ok || at > mono {
			b.now = mono
			return b
		}
		b.now = max(b.now, at)
		b.step(Event{Kind: Tick})
		if next, ok := b.s.NextDeadline(); ok && next <= b.now {
			b.t.Fatalf("deadline %d is still due at %d, want it handled", next, b.now)
		}
	}
}

func (b *bench) command(verb, door string, minutes int) {
	b.n++
	b.send(wire.Command{ID: fmt.Sprintf("cmd_%d", b.n), Epoch: b.s.Epoch, DoorID: door, Command: verb, Minutes: minutes, NotAfterMs: 5000}, 100)
}

func (b *bench) send(c wire.Command, session int64) wire.Report {
	b.t.Helper()
	for _, e := range b.step(Event{Kind: Command, Command: c, SessionMs: session}) {
		if e.Kind == Report {
			return e.Report
		}
	}
	b.t.Fatalf("no report of %+v, want one", c)
	return wire.Report{}
}

func (b *bench) present(phone, door string) string {
	b.t.Helper()
	return b.presented(Event{Kind: Present, DoorID: door, PhoneHash: phone})
}

func (b *bench) presented(ev Event) string {
	b.t.Helper()
	for _, e := range b.step(ev) {
		if e.Kind == Decided {
			return string(e.Record.Result) + " " + string(e.Record.Reason)
		}
	}
	b.t.Fatal("no decision")
	return ""
}

// acted are the ground-truth lines since the last call, as "door action cause".
func (b *bench) acted() string {
	var out []string
	for _, l := range b.lines {
		out = append(out, strings.TrimPrefix(l.DoorID, "dor_")+" "+string(l.Action)+" "+string(l.Cause))
	}
	b.lines = nil
	return strings.Join(out, ", ")
}

func (b *bench) state(i int) string { return b.s.Doors[i].State() }

func (b *bench) published(channel string) (out []any) {
	for _, e := range b.pubs {
		if e.Channel == channel {
			out = append(out, e.Payload)
		}
	}
	b.pubs = nil
	return out
}

func (b *bench) want(what, got, want string) {
	b.t.Helper()
	if got != want {
		b.t.Errorf("%s: got %q, want %q", what, got, want)
	}
}
