package gateway

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/board"
)

// doorModel is a door that executes commands in their order, and a line that delivers what its board says in any order.
type doorModel struct {
	*rapid.T
	b        *peer
	numbered bool
	seq      int64
	wall     int64 // the board's wall clock, which may be turned
	truth    wire.Standing
	commands int
	ordered  []wire.Report // sent, not executed
	waiting  []delivery
}

// delivery is a message on its way. Without numbers state messages arrive at once.
type delivery struct {
	report *wire.Report
	states []wire.Standing
}

// change is what happens at the door.
func (m *doorModel) change() {
	state := rapid.SampledFrom([]string{"locked", "unlocked", "open", "warning"}).Draw(m.T, "state")
	if state != m.truth.State {
		m.truth.Since = m.wall
	}
	m.truth.State, m.truth.HoldUntil = state, nil
	if rapid.Bool().Draw(m.T, "ends") {
		until := m.wall + rapid.Int64Range(1, 3).Draw(m.T, "minutes")*60_000
		m.truth.HoldUntil = &until
	}
}

// standing is what the board says of the door now.
func (m *doorModel) standing() wire.Standing {
	m.seq++
	s := m.truth
	if m.numbered {
		s.Seq = m.seq
	}
	return s
}

func (m *doorModel) order() {
	m.commands++
	id := sprintf("cmd_%d", m.commands)
	m.b.mu.Lock()
	m.b.ordered(id)
	m.b.mu.Unlock()
	m.ordered = append(m.ordered, wire.Report{CommandID: id})
}

func (m *doorModel) execute() {
	if len(m.ordered) == 0 {
		m.Skip("nothing was sent")
	}
	r := m.ordered[0]
	m.ordered = m.ordered[1:]
	m.change()
	s := m.standing()
	r.Standing = &s
	m.waiting = append(m.waiting, delivery{report: &r})
}

func (m *doorModel) happen() {
	if !m.numbered && len(m.waiting)+len(m.ordered) > 0 {
		m.Skip("only numbers tell a state message that crosses a report from one that doesn't")
	}
	m.change()
	m.waiting = append(m.waiting, delivery{states: []wire.Standing{m.standing()}})
	if !m.numbered {
		m.deliver(0)
	}
}

func (m *doorModel) deliver(i int) {
	d := m.waiting[i]
	if d.report == nil {
		m.b.mu.Lock()
		m.b.heard(board.ByState, 0, d.states, m.b.g.now())
		m.b.mu.Unlock()
	} else {
		by := rapid.SampledFrom([]board.By{board.ByReport, board.ByLate}).Draw(m.T, "by")
		m.b.stood(d.report.Standing, by, m.b.order(d.report.CommandID))
	}
	if d.report != nil && rapid.Bool().Draw(m.T, "committed") {
		m.b.answered(d.report.CommandID)
	}
	if d.report == nil && !m.numbered || !rapid.Bool().Draw(m.T, "again") {
		m.waiting = slices.Delete(m.waiting, i, i+1)
	}
}

// reconnect loses what is on its way but reports, which the board sends again.
func (m *doorModel) reconnect() {
	m.ordered = nil
	m.waiting = slices.DeleteFunc(m.waiting, func(d delivery) bool { return d.report == nil })
	if rapid.Bool().Draw(m.T, "wiped") {
		m.seq, m.waiting = 0, nil
	}
	m.change()
	m.b.mu.Lock()
	m.b.heard(board.ByHello, 0, []wire.Standing{m.standing()}, m.b.g.now())
	m.b.mu.Unlock()
}

func (m *doorModel) check() {
	got := m.b.status().Standings[1].Standing
	same := (got.HoldUntil == nil) == (m.truth.HoldUntil == nil) && (got.HoldUntil == nil || *got.HoldUntil == *m.truth.HoldUntil)
	if got.State != m.truth.State || !same {
		m.Fatalf("numbered %t: the server says %+v, want %+v", m.numbered, got, m.truth)
	}
}

// TestTheLastStandingStays: in whatever order reports arrive, once all have arrived the server says of a door what its
// board says.
func TestTheLastStandingStays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	rapid.Check(t, func(rt *rapid.T) {
		st := seed()["brd_1"]
		m := &doorModel{T: rt, b: newPeer(r.Gateway, st), numbered: rapid.Bool().Draw(rt, "numbered"), wall: time.Now().UnixMilli() - 30*24*3_600_000}
		m.truth = wire.Standing{Channel: 1, State: "locked", Leaf: "closed", Since: m.wall}
		m.reconnect()
		rt.Repeat(map[string]func(*rapid.T){
			"send":      func(*rapid.T) { m.order() },
			"execute":   func(*rapid.T) { m.execute() },
			"happen":    func(*rapid.T) { m.happen() },
			"turn":      func(rt *rapid.T) { m.wall += rapid.Int64Range(-600_000, 600_000).Draw(rt, "ms") },
			"reconnect": func(*rapid.T) { m.reconnect() },
			"deliver": func(rt *rapid.T) {
				if len(m.waiting) == 0 {
					rt.Skip("nothing is on its way")
				}
				m.deliver(rapid.IntRange(0, len(m.waiting)-1).Draw(rt, "which"))
			},
			"": func(*rapid.T) {
				if len(m.waiting) == 0 {
					m.check()
				}
			},
		})
		for len(m.waiting) > 0 {
			m.deliver(rapid.IntRange(0, len(m.waiting)-1).Draw(rt, "which"))
		}
		m.check()
	})
}
