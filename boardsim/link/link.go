// Package link is how a simulated board reaches the broker: connections in
// memory (Pipe, Listener) or over TCP (DialTCP), and the Line around the board's
// end in which line faults live. MQTT bytes flow through it, whole packets at a
// time where a fault is on. boardsim, internal/testbed and tests of the broker
// may import it; it imports internal/clock only.
package link

import "net"

// Reset ends a connection as a TCP reset does: both ends fail at once, what is
// under way is lost. It knows Pipe's, TCP's and Lines; others are closed.
func Reset(c net.Conn) {
	switch c := c.(type) {
	case *Line:
		c.Cut()
		return
	case *conn:
		c.reset()
		return
	case *net.TCPConn:
		_ = c.SetLinger(0)
	}
	_ = c.Close()
}

// lock is a mutex whose waiters block on a channel: one may be held across I/O
// in a synctest bubble without stopping the fake clock.
type lock chan struct{}

func newLock() lock    { return make(lock, 1) }
func (l lock) Lock()   { l <- struct{}{} }
func (l lock) Unlock() { <-l }
