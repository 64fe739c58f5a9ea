package clock

import (
	"container/heap"
	"errors"
	"slices"
	"sync"
	"time"
)

// States of a virtual clock.
const (
	Ready     = "ready"
	Advancing = "advancing"
	Frozen    = "frozen"
)

// Errors of Advance.
var (
	ErrPast = errors.New("clock: target lies in the past")
	ErrBusy = errors.New("clock: already advancing")
)

// Virtual follows wall time plus an offset, can be frozen, and can jump: Advance walks through all due callbacks in
// (time, sequence) order and lets the Flight settle after each, so what is due at hour 3 is done before hour 36.
type Virtual struct {
	flight *Flight

	mu        sync.Mutex
	anchor    time.Time     // domain time at wall
	wall      time.Duration // Mono at anchor
	stopped   bool          // time stands still (frozen, or a jump is walking)
	frozen    bool
	advancing bool
	seq       uint64
	queue     queue
	kick      *time.Timer
	jumps     []*func(from, to time.Time)
}

// NewVirtual starts at t, running. The flight may be nil.
func NewVirtual(t time.Time, flight *Flight) *Virtual {
	return &Virtual{flight: flight, anchor: t.UTC(), wall: Mono()}
}

// OnJump registers f to be called at the end of every jump, before housekeeping, until
// stop is called.
func (v *Virtual) OnJump(f func(from, to time.Time)) (stop func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	own := &f
	v.jumps = append(v.jumps, own)
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.jumps = slices.DeleteFunc(v.jumps, func(g *func(from, to time.Time)) bool { return g == own })
	}
}

// Now implements Clock.
func (v *Virtual) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now()
}

func (v *Virtual) now() time.Time {
	if v.stopped {
		return v.anchor
	}
	return v.anchor.Add(Mono() - v.wall)
}

// State is Ready, Advancing or Frozen.
func (v *Virtual) State() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.advancing:
		return Advancing
	case v.frozen:
		return Frozen
	}
	return Ready
}

// Abandoned is how many messages its flight has given up.
func (v *Virtual) Abandoned() int64 { return v.flight.abandoned() }

// Freeze stops time at the millisecond that has begun, so that a jump of a minute is a minute for everybody who counts in
// milliseconds; Run lets it follow the wall again.
func (v *Virtual) Freeze() {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	if !v.advancing {
		now = now.Truncate(time.Millisecond)
	}
	v.anchor, v.stopped, v.frozen = now, true, true
	v.arm()
}

// Run undoes Freeze.
func (v *Virtual) Run() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.frozen = false
	if v.stopped && !v.advancing {
		v.wall, v.stopped = Mono(), false
		v.arm()
	}
}

// AfterFunc implements Clock.
func (v *Virtual) AfterFunc(d time.Duration, f func()) Timer { return v.add(d, 0, f) }

// Every implements Clock.
func (v *Virtual) Every(d time.Duration, f func()) Timer { return v.add(d, d, f) }

func (v *Virtual) add(d, period time.Duration, f func()) Timer {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.put(v.now().Add(max(0, d)), period, f)
}

func (v *Virtual) at(t time.Time, f func()) Timer {
	v.mu.Lock()
	defer v.mu.Unlock()
	if now := v.now(); t.Before(now) {
		t = now
	}
	return v.put(t, 0, f)
}

// put schedules a callback. Called with mu held.
func (v *Virtual) put(at time.Time, period time.Duration, f func()) Timer {
	v.seq++
	e := &entry{v: v, at: at, seq: v.seq, f: f, period: period}
	heap.Push(&v.queue, e)
	v.arm()
	return e
}

// arm sets the wall timer for the next due entry. Called with mu held.
func (v *Virtual) arm() {
	if v.kick != nil {
		v.kick.Stop()
		v.kick = nil
	}
	if v.stopped || len(v.queue) == 0 {
		return
	}
	v.kick = time.AfterFunc(v.queue[0].at.Sub(v.now()), v.fire)
}

// fire runs everything that is due while time follows the wall clock. A jump that begins meanwhile waits for what is being
// run: it fell due before.
func (v *Virtual) fire() {
	v.mu.Lock()
	for !v.stopped && len(v.queue) > 0 && !v.queue[0].at.After(v.now()) {
		f, done := v.pop(v.now()), v.flight.Begin()
		v.mu.Unlock()
		f()
		done()
		v.mu.Lock()
	}
	v.arm()
	v.mu.Unlock()
}

// pop takes the first entry; a periodic one is put back, one period after now. Called with mu held.
func (v *Virtual) pop(now time.Time) func() {
	e := v.queue[0]
	if e.period > 0 {
		v.seq++
		e.at, e.seq = now.Add(e.period), v.seq
		heap.Fix(&v.queue, 0)
	} else {
		heap.Pop(&v.queue)
	}
	return e.f
}

// Advance jumps to the target and returns when all due work is done. A frozen clock stays frozen exactly at the target.
// Errors: ErrPast, ErrBusy.
func (v *Virtual) Advance(to time.Time) error {
	v.mu.Lock()
	if v.advancing {
		v.mu.Unlock()
		return ErrBusy
	}
	from := v.now()
	if to.Before(from) {
		v.mu.Unlock()
		return ErrPast
	}
	v.anchor, v.stopped, v.advancing = from, true, true
	v.arm()
	v.mu.Unlock()
	v.flight.jumping(true)
	v.settle()

	var late []*entry // housekeeping that fell due: once, at the end
	v.mu.Lock()
	for len(v.queue) > 0 && !v.queue[0].at.After(to) {
		e := v.queue[0]
		if e.period > 0 {
			late = append(late, e)
			heap.Pop(&v.queue)
			continue
		}
		if e.at.After(v.anchor) {
			v.anchor = e.at
		}
		heap.Pop(&v.queue)
		more := len(v.queue) > 0 && !v.queue[0].at.After(v.anchor)
		v.mu.Unlock()
		e.f()
		if !more {
			v.settle()
		}
		v.mu.Lock()
	}
	v.anchor = to
	jumps := slices.Clone(v.jumps)
	for _, e := range late {
		if !e.dead {
			v.seq++
			e.at, e.seq = to.Add(e.period), v.seq
			heap.Push(&v.queue, e)
		}
	}
	v.mu.Unlock()
	for _, f := range jumps {
		(*f)(from, to)
	}
	for _, e := range late {
		if !e.stopped() { // by what ran before it
			e.f()
		}
	}
	v.settle()
	v.flight.jumping(false) // before the next jump may begin

	v.mu.Lock()
	v.advancing = false
	if !v.frozen {
		v.wall, v.stopped = Mono(), false
	}
	v.arm()
	v.mu.Unlock()
	return nil
}

func (v *Virtual) settle() {
	if v.flight != nil {
		v.flight.Settle()
	}
}

type entry struct {
	v      *Virtual
	at     time.Time
	seq    uint64
	f      func()
	period time.Duration
	index  int
	dead   bool
}

// Stop implements Timer.
func (e *entry) Stop() bool {
	e.v.mu.Lock()
	defer e.v.mu.Unlock()
	was := !e.dead && e.index >= 0
	e.dead = true
	if e.index >= 0 {
		heap.Remove(&e.v.queue, e.index)
	}
	return was
}

func (e *entry) stopped() bool {
	e.v.mu.Lock()
	defer e.v.mu.Unlock()
	return e.dead
}

type queue []*entry

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].seq < q[j].seq
	}
	return q[i].at.Before(q[j].at)
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i]; q[i].index, q[j].index = i, j }
func (q *queue) Push(x any)   { e := x.(*entry); e.index = len(*q); *q = append(*q, e) }
func (q *queue) Pop() any {
	old := *q
	e := old[len(old)-1]
	e.index = -1
	*q = old[:len(old)-1]
	return e
}
