// Package crew runs functions on reused goroutines. A new goroutine starts with a small stack, and one that encodes
// JSON or writes to a connection grows it several times; with thousands of short functions per second, that costs more
// than starting them.
package crew

import (
	"sync"
	"sync/atomic"
)

// most is how many idle goroutines are kept; more than that end.
const most = 64

// Crew starts functions. Make one with New; Close ends the idle goroutines.
type Crew struct {
	work chan func()
	over chan struct{}
	idle atomic.Int32
	once sync.Once
}

// New returns a crew without goroutines.
func New() *Crew { return &Crew{work: make(chan func()), over: make(chan struct{})} }

// Go runs f on a goroutine that is f's own until f returns. f may end it with runtime.Goexit. Go works even after
// Close.
func (c *Crew) Go(f func()) {
	select {
	case c.work <- f:
	default:
		go c.run(f)
	}
}

func (c *Crew) run(f func()) {
	for {
		f()
		f = nil // let go of what f references
		if c.idle.Add(1) > most {
			c.idle.Add(-1)
			return
		}
		select {
		case f = <-c.work:
			c.idle.Add(-1)
		case <-c.over:
			c.idle.Add(-1)
			return
		}
	}
}

// Close ends the idle goroutines; busy ones end when they are done.
func (c *Crew) Close() { c.once.Do(func() { close(c.over) }) }
