// Package link is a simulated board's network line: the Line around the board's end of a connection, which performs
// line faults, and Dial. MQTT bytes flow through it, in whole packets while a fault is armed. boardsim and testbed use
// it.
package link

// lock is a mutex whose waiters block on a channel, so in a synctest bubble it may be held across I/O without stopping
// the fake clock.
type lock chan struct{}

func newLock() lock    { return make(lock, 1) }
func (l lock) Lock()   { l <- struct{}{} }
func (l lock) Unlock() { <-l }
