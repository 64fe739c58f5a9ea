// Package crew runs functions on goroutines that are used again. A new goroutine
// begins with a small stack, and one that encodes JSON or writes to a connection
// grows it several times; where thousands of short functions are started every
// second, that costs more than starting them.
package crew

import (
	"sync"
	"sync/atomic"
)

// most is how many goroutines wait for work; those beyond it end.
const most = 64

// Crew starts functions. Make one with New; Close ends the goroutines that wait.
type Crew struct {
	work chan func()
	over chan struct{}
	idle atomic.Int32
	once sync.Once
}

// New returns a crew without goroutines.
func New() *Crew { return &Crew{work: make(chan func()), over: make(chan struct{})} }

// Go runs f on a goroutine of its own for as long as f takes. f may end it with
// runtime.Goexit. It works after Close, too.
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
		f = nil // what it holds isn't kept
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

// Close ends the goroutines that wait for work; those that work end when they have done it.
func (c *Crew) Close() { c.once.Do(func() { close(c.over) }) }
