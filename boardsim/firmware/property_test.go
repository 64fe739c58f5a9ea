package firmware

import (
	"fmt"
	"testing"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/wire"
	"pgregory.net/rapid"
)

// model drives a board through random events and checks the invariants.
type model struct {
	b      *bench
	acts   map[string]int // actuations by command id
	ids    []string
	up     []int64 // record numbers in arrival order, without repeats
	linked bool
}

func (m *model) take(rt *rapid.T) {
	for _, l := range m.b.lines {
		if l.CommandID == "" {
			continue
		}
		m.acts[l.CommandID]++
		if m.acts[l.CommandID] > 1 {
			rt.Fatalf("command %s moved the relay %d times, want at most 1", l.CommandID, m.acts[l.CommandID])
		}
	}
	for _, e := range m.b.pubs {
		if e.Channel != wire.UpRec {
			continue
		}
		for _, r := range e.Payload.(wire.Records).Records {
			if n := len(m.up); n == 0 || r.Seq > m.up[n-1] {
				if n > 0 && r.Seq != m.up[n-1]+1 {
					rt.Fatalf("record %d follows %d, want consecutive numbers", r.Seq, m.up[n-1])
				}
				m.up = append(m.up, r.Seq)
			}
		}
	}
	m.b.lines, m.b.pubs = nil, nil
}

func TestBoardMachine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{b: newBench(t), acts: map[string]int{}}
		b := m.b
		b.online()
		m.linked = true
		rt.Repeat(map[string]func(*rapid.T){
			"wait": func(rt *rapid.T) {
				d := rapid.SampledFrom([]int64{0, 1, 4999, 5000, 60_000, 60_001, hour, 36*hour - 1, 36 * hour, 36*hour + 1}).Draw(rt, "ms")
				b.to(b.now + d)
			},
			"command": m.command,
			"cut": func(rt *rapid.T) {
				m.linked = false
				b.step(Event{Kind: Disconnected, Silent: rapid.Bool().Draw(rt, "silent"), Heard: b.now - rapid.Int64Range(0, 50_000).Draw(rt, "ago")})
			},
			"recover": func(rt *rapid.T) {
				if m.linked {
					rt.Skip("the board is online")
				}
				m.linked = true
				b.online()
			},
			"sync": func(rt *rapid.T) {
				if !m.linked {
					rt.Skip("the board is offline")
				}
				rev := b.s.Content.Revision
				b.step(Event{Kind: Sync, Change: Prepare(wire.Sync{From: rev, To: rev + 1, Upsert: []access.Grant{grantOf("mem_1", "p", "")}})})
			},
			"ack": func(rt *rapid.T) {
				if !m.linked || len(b.s.Records) == 0 {
					rt.Skip("nothing can be acknowledged")
				}
				m.take(rt)
				if len(m.up) > 0 {
					b.step(Event{Kind: Ack, Ack: wire.Ack{Type: wire.AckRec, Seq: m.up[len(m.up)-1]}})
				}
			},
			"reboot": func(rt *rapid.T) {
				m.linked = false
				b.step(Event{Kind: Reboot, ClockLost: rapid.Bool().Draw(rt, "clock")})
			},
			"leaf": func(rt *rapid.T) {
				b.step(Event{Kind: Leaf, DoorID: "dor_1", Action: rapid.SampledFrom([]string{LeafOpen, LeafClose, LeafForce}).Draw(rt, "leaf")})
			},
			"present": func(rt *rapid.T) {
				age := b.s.Age(b.now)
				got := b.present("p", "dor_1")
				if access.OutageOver(age) && got != "denied outage_limit" {
					rt.Fatalf("decided %q at an outage age of %d ms, want denied outage_limit", got, age)
				}
				if !b.s.Outage.Over && got != "opened onsite" {
					rt.Fatalf("decided %q at an outage age of %d ms, want opened onsite", got, age)
				}
			},
			"": func(rt *rapid.T) {
				m.take(rt)
				if at, ok := b.s.NextDeadline(); ok && at <= b.now {
					rt.Fatalf("deadline %d is still due at %d, want it in the future", at, b.now)
				}
				if b.s.Outage.Online && b.s.Age(b.now) != 0 {
					rt.Fatal("an age while connected")
				}
			},
		})
	})
}

func (m *model) command(rt *rapid.T) {
	if !m.linked {
		rt.Skip("the board is offline")
	}
	id := fmt.Sprint("cmd_", len(m.ids))
	if len(m.ids) > 0 && rapid.Bool().Draw(rt, "again") {
		id = rapid.SampledFrom(m.ids[max(0, len(m.ids)-20):]).Draw(rt, "id")
	}
	m.ids = append(m.ids, id)
	m.b.send(wire.Command{ID: id, Epoch: m.b.s.Epoch, DoorID: rapid.SampledFrom([]string{"dor_1", "dor_2", "dor_3"}).Draw(rt, "door"),
		Command: rapid.SampledFrom([]string{"open", "hold", "close", "x"}).Draw(rt, "verb"), Minutes: rapid.IntRange(0, 90).Draw(rt, "minutes"),
		NotAfterMs: 5000}, rapid.Int64Range(1, 6000).Draw(rt, "session"))
}
