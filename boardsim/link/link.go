// Package link is a simulated board's network line: the Line around the board's
// end of a connection, in which line faults live, and Dial. MQTT bytes flow
// through it, in whole packets while a fault is armed. boardsim and testbed use it.
package link

// lock is a mutex whose waiters block on a channel: one may be held across I/O
// in a synctest bubble without stopping the fake clock.
type lock chan struct{}

func newLock() lock    { return make(lock, 1) }
func (l lock) Lock()   { l <- struct{}{} }
func (l lock) Unlock() { <-l }
