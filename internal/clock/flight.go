package clock

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/each"
)

// Flight counts what is in flight, so that a jump of virtual time can wait for it: work in progress (Begin),
// connections that end (Join, Ends), and messages between server and boards, counted at both ends (Sent, Got). The
// messages of a board whose line is cut are forgotten (Reset); a line that swallows one counts it as Got. A message to
// a server that counts nothing is in flight until its answer comes; if that may never come, it is counted with Asked.
type Flight struct {
	mu     sync.Mutex
	cond   *sync.Cond
	work   int
	lines  map[string]*line
	joined map[[2]string]*Joined // by board and address
	ended  map[string]string     // by board, the address of a connection to another process
	total  line                  // of all lines
	moves  uint64
	jump   chan struct{} // closed when the jump is over; nil = none
	lost   int64         // messages that Settle gave up
	// Quiet is how long nothing may move before messages in flight are given up (0 = 5 s).
	Quiet time.Duration
}

// line is what is in flight on a board's line; unsure is how many of these may never be answered.
type line struct{ out, unsure int }

// NewFlight returns an empty flight.
func NewFlight() *Flight {
	f := &Flight{lines: map[string]*line{}, joined: map[[2]string]*Joined{}, ended: map[string]string{}}
	f.cond = sync.NewCond(&f.mu)
	return f
}

// Begin marks work in progress until the returned func is called (once). A nil flight counts nothing.
func (f *Flight) Begin() (done func()) {
	if f == nil {
		return func() {}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.begin()
}

// begin is Begin with mu held.
func (f *Flight) begin() (done func()) {
	f.work++
	f.moves++
	var once sync.Once
	return func() {
		once.Do(func() {
			f.mu.Lock()
			f.work--
			f.moves++
			f.cond.Broadcast()
			f.mu.Unlock()
		})
	}
}

// Sent counts a message that left on a board's line; Got counts one that was handled at the other end.
func (f *Flight) Sent(boardID string) { f.move(boardID, 1, 0) }

// Asked is Sent for a message that the other end answers, or not: a jump waits for the answer as for any, but a missing
// one isn't a message that was given up.
func (f *Flight) Asked(boardID string) { f.move(boardID, 1, 1) }

// Got counts the other end of Sent.
func (f *Flight) Got(boardID string) { f.move(boardID, -1, 0) }

// move adds d to what is in flight on a line, and unsure to how many of these may never be answered.
func (f *Flight) move(boardID string, d, unsure int) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l := each.Made(f.lines, boardID, func() *line { return &line{} })
	f.moves++
	if l.out+d < 0 {
		return
	}
	f.set(l, line{l.out + d, min(l.unsure+unsure, l.out+d)})
}

// set changes what is in flight on a line. Called with mu held.
func (f *Flight) set(l *line, to line) {
	f.total.out += to.out - l.out
	f.total.unsure += to.unsure - l.unsure
	*l = to
	f.cond.Broadcast()
}

// Reset forgets what is in flight on a line whose connection is gone.
func (f *Flight) Reset(boardID string) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if l := f.lines[boardID]; l != nil {
		f.set(l, line{})
	}
	f.moves++
	f.cond.Broadcast()
}

// jumping says that a jump begins or has ended.
func (f *Flight) jumping(on bool) {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if on {
		f.jump = make(chan struct{})
	} else {
		close(f.jump)
		f.jump = nil
	}
}

// Enter holds up outside requests until a jump in progress is over, or for at most most: endless new work would keep a
// jump from ever settling.
func (f *Flight) Enter(ctx context.Context, most time.Duration) {
	if f == nil {
		return
	}
	f.mu.Lock()
	jump := f.jump
	f.mu.Unlock()
	if jump == nil {
		return
	}
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-jump:
	case <-t.C:
	case <-ctx.Done():
	}
}

// Settle returns once nothing is in flight. If nothing has moved for Quiet and there is no work in progress, open
// messages are given up as lost, so they cost one wait rather than one per jump; those that may never be answered are
// given up after a fifth of that. Work is never given up: whatever it does later would happen at a different time than
// it was begun.
func (f *Flight) Settle() { f.settle(nil) }

// SettleWithin is Settle for at most that long: where new work keeps coming, nothing may ever be quiet.
func (f *Flight) SettleWithin(limit time.Duration) {
	over := new(bool) // with mu held
	defer time.AfterFunc(limit, func() {
		f.mu.Lock()
		*over = true
		f.cond.Broadcast()
		f.mu.Unlock()
	}).Stop()
	f.settle(over)
}

// settle is Settle until over is set.
func (f *Flight) settle(over *bool) {
	most := cmp.Or(f.Quiet, 5*time.Second)
	f.mu.Lock()
	defer f.mu.Unlock()
	for (f.work > 0 || f.total.out > 0) && !(over != nil && *over) {
		seen, woke, quiet := f.moves, false, most
		if f.total.out == f.total.unsure {
			quiet /= 5
		}
		t := time.AfterFunc(quiet, func() {
			f.mu.Lock()
			woke = true
			f.cond.Broadcast()
			f.mu.Unlock()
		})
		f.cond.Wait()
		t.Stop()
		if woke && f.moves == seen && f.work == 0 {
			f.abandon()
			return
		}
	}
}

// abandon gives up every message in flight. Called with mu held.
func (f *Flight) abandon() {
	for _, l := range f.lines {
		*l = line{}
	}
	f.lost += int64(f.total.out - f.total.unsure)
	f.total = line{}
}

// abandoned is how many messages have been given up: if their effects happen at all, it is at the wrong time.
func (f *Flight) abandoned() int64 {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lost
}

// Pending is what is in flight now: work and messages.
func (f *Flight) Pending() (work, messages int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.work, f.total.out
}
