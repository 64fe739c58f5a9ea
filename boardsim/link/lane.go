package link

import (
	"math/rand/v2"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// maxHeld bounds a packet that is held back whole; a longer one passes as it arrives.
const maxHeld = 1 << 20

// lane is one direction of a line. The line's mu guards it.
type lane struct {
	split splitter
	fate  fate // of the current packet
	held  []byte
	queue []delayed
	rnd   *rand.Rand
}

// fate is what happens to a packet; zero = it passes at once.
type fate struct {
	drop  bool
	blind bool // dropped by a state that swallows everything
	twice bool
	delay time.Duration
}

// delayed is a packet waiting for its time, in order.
type delayed struct {
	packet []byte
	due    time.Time
	done   func()
}

// blocked reports whether a state swallows all that goes in a direction.
func (s State) blocked(d Dir) bool {
	return s.HalfOpen || d == Up && s.OnewayUp || d == Down && s.OnewayDown
}

func (s State) clean(d Dir) bool { return !s.blocked(d) && s.Lossy == Lossy{} }

// judge decides a packet's fate from its first byte.
func (l *Line) judge(d Dir, first byte) fate {
	if l.state.blocked(d) {
		return fate{drop: true, blind: true}
	}
	y := l.state.Lossy
	f := fate{delay: time.Duration(y.DelayMs) * time.Millisecond}
	if kind(first) != publish || y.Percent <= 0 && y.DuplicatePercent <= 0 {
		return f
	}
	n := &l.lanes[d]
	if n.rnd == nil {
		n.rnd = rand.New(rand.NewPCG(uint64(l.cfg.Seed), uint64(d)))
	}
	// Always draw twice, so that one packet's fate doesn't shift the next one's.
	lost, twice := n.rnd.Float64()*100 < y.Percent, n.rnd.Float64()*100 < y.DuplicatePercent
	f.drop, f.twice = lost, twice && !lost
	return f
}

// filter takes bytes going in a direction and returns those that pass now. Called with mu held.
func (l *Line) filter(d Dir, in []byte) []byte {
	n := &l.lanes[d]
	if l.state.clean(d) && n.fate == (fate{}) && len(n.queue) == 0 && len(n.held) == 0 {
		for rest := in; len(rest) > 0; {
			k, _ := n.split.take(rest)
			rest = rest[k:]
		}
		return in
	}
	var pass []byte
	for len(in) > 0 {
		if !n.split.started {
			n.fate = l.judge(d, in[0])
		}
		k, end := n.split.take(in)
		pass = l.apply(d, in[:k], end, pass)
		in = in[k:]
	}
	return pass
}

// apply applies a packet's fate to a piece of it.
func (l *Line) apply(d Dir, piece []byte, end bool, pass []byte) []byte {
	n := &l.lanes[d]
	switch {
	case n.fate.drop:
		if end {
			l.swallowed(d, n.split.first, n.fate.blind)
			n.fate = fate{}
		}
		return pass
	case n.fate == fate{} && len(n.queue) == 0 && len(n.held) == 0:
		return append(pass, piece...)
	}
	n.held = append(n.held, piece...)
	if !end {
		if n.split.broken || len(n.held) > maxHeld {
			pass = append(pass, n.held...)
			n.held, n.fate = nil, fate{}
		}
		return pass
	}
	packet, f := n.held, n.fate
	n.held, n.fate = nil, fate{}
	pass = l.enqueue(d, packet, f.delay, pass)
	if f.twice {
		l.repeats()
		pass = l.enqueue(d, packet, f.delay, pass)
	}
	if f != (fate{}) {
		l.told(d, false)
	}
	return pass
}

// enqueue makes a packet wait, or pass if neither it nor an earlier one has to wait.
func (l *Line) enqueue(d Dir, packet []byte, delay time.Duration, pass []byte) []byte {
	n := &l.lanes[d]
	if delay == 0 && len(n.queue) == 0 {
		return append(pass, packet...)
	}
	due := clock.WallNow().Add(delay)
	if k := len(n.queue); k > 0 && n.queue[k-1].due.After(due) {
		due = n.queue[k-1].due
	}
	n.queue = append(n.queue, delayed{packet, due, l.cfg.Flight.Begin()})
	if d == Up {
		clock.WallAfter(due.Sub(clock.WallNow()), l.flush)
	}
	return pass
}

// release removes what is due from the queue: the bytes that pass, and what to call once they have.
func (l *Line) release(d Dir) (pass []byte, done []func()) {
	n := &l.lanes[d]
	now := clock.WallNow()
	k := 0
	for ; k < len(n.queue) && !n.queue[k].due.After(now); k++ {
		q := n.queue[k]
		done = append(done, q.done)
		if l.state.blocked(d) {
			l.swallowed(d, q.packet[0], true)
			continue
		}
		pass = append(pass, q.packet...)
	}
	if n.queue = n.queue[k:]; len(n.queue) == 0 {
		n.queue = nil
	}
	return pass, done
}

// repeats counts a packet that goes out a second time. Not every message to a server apart is answered.
func (l *Line) repeats() {
	if l.cfg.Apart {
		l.cfg.Flight.Asked(l.cfg.BoardID)
		return
	}
	l.cfg.Flight.Sent(l.cfg.BoardID)
}

// swallowed counts a packet that was dropped.
func (l *Line) swallowed(d Dir, first byte, blind bool) {
	if blind && !plain(first) {
		l.tainted = true
	}
	if kind(first) == publish {
		l.cfg.Flight.Got(l.cfg.BoardID)
	}
	l.told(d, blind)
}

func (l *Line) told(d Dir, blind bool) {
	if l.cfg.OnFault != nil {
		l.cfg.OnFault(d, blind)
	}
}

// drop forgets waiting packets: the connection is gone.
func (l *Line) drop() {
	for d := range l.lanes {
		for _, q := range l.lanes[d].queue {
			q.done()
		}
		l.lanes[d] = lane{}
	}
}
