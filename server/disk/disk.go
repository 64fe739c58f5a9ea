// Package disk plays a bad disk under a server's storage, so that a scenario can show what the service promises when
// commits come late or not at all. The store asks it at every commit; reads aren't disturbed.
package disk

import (
	"errors"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// State is how the disk behaves.
type State string

// States of a disk.
const (
	OK      State = "ok"
	Full    State = "full"    // every commit fails
	Stalled State = "stalled" // every commit waits until the state changes
	Slow    State = "slow"    // every commit takes longer
)

// MaxLate is the longest delay of a slow disk: the service gives up a write long before.
const MaxLate = time.Minute

// ErrFull is the error of a commit on a full disk, in SQLite's words.
var ErrFull = errors.New("database or disk is full")

var errGone = errors.New("the server is dead")

// Disk is one server's. The zero value is not usable, see New.
type Disk struct {
	mu      sync.Mutex
	state   State
	late    time.Duration
	hits    int
	dead    bool
	changed chan struct{} // closed when any of these changes
}

// New returns a disk that works.
func New() *Disk { return &Disk{state: OK, changed: make(chan struct{})} }

// Next is the disk as the next server of this process finds it: it works, and keeps the count.
func (d *Disk) Next() *Disk {
	next := New()
	_, _, next.hits = d.State()
	return next
}

// Set changes the state, also for the commits that are waiting. late is a slow disk's.
func (d *Disk) Set(s State, late time.Duration) {
	d.change(func() {
		if d.state == OK && s != OK {
			d.hits = 0
		}
		d.state, d.late = s, late
	})
}

// Kill lets no commit through any more, not even one that is waiting: what a dead process hasn't written stays unwritten.
func (d *Disk) Kill() { d.change(func() { d.dead = true }) }

func (d *Disk) change(how func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	how()
	close(d.changed)
	d.changed = make(chan struct{})
}

// State is how the disk behaves now, a slow one's delay, and how many commits have failed or waited since it last ceased to
// work.
func (d *Disk) State() (s State, late time.Duration, hits int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.state, d.late, d.hits
}

// Commit commits as the disk's state allows: at once, later, or not at all.
func (d *Disk) Commit(commit func() error) error {
	hit, due := false, false // it is counted; it has waited long enough for a slow disk
	for {
		d.mu.Lock()
		state, late, dead, changed := d.state, d.late, d.dead, d.changed
		if state != OK && !hit {
			hit, d.hits = true, d.hits+1
		}
		d.mu.Unlock()
		switch {
		case dead:
			return errGone
		case state == Full:
			return ErrFull
		case state == OK, state == Slow && due:
			return commit()
		case state == Stalled:
			<-changed
		default:
			due = passes(late, changed)
		}
	}
}

// passes waits; false if the state changed first.
func passes(d time.Duration, changed <-chan struct{}) bool {
	over := make(chan struct{})
	defer clock.WallAfter(d, func() { close(over) }).Stop()
	select {
	case <-over:
		return true
	case <-changed:
		return false
	}
}
