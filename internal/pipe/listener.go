package pipe

import (
	"context"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
)

// Listener hands out in-memory connections to Accept.
type Listener struct {
	name  string
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// dialed numbers the connections of all listeners, so that addresses are unique.
var dialed atomic.Int64

// NewListener returns a listener with a printable address, "memory:name".
func NewListener(name string) *Listener {
	return &Listener{name: name, conns: make(chan net.Conn), done: make(chan struct{})}
}

// Dial connects and returns when the other end was accepted. Errors: the context's, net.ErrClosed.
func (l *Listener) Dial(ctx context.Context) (net.Conn, error) {
	n := strconv.FormatInt(dialed.Add(1), 10)
	a, b := pair(l.name + "/" + n)
	var err error = net.ErrClosed
	select {
	case <-l.done: // a closed listener wins over an Accept that is still waiting
	default:
		select {
		case l.conns <- b:
			return a, nil
		case <-ctx.Done():
			err = ctx.Err()
		case <-l.done:
		}
	}
	return nil, &net.OpError{Op: "dial", Net: "memory", Addr: addr(l.name), Err: err}
}

// Accept implements net.Listener. Error: net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, &net.OpError{Op: "accept", Net: "memory", Addr: addr(l.name), Err: net.ErrClosed}
	}
}

// Close implements net.Listener; accepted connections live on.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (l *Listener) Addr() net.Addr { return addr(l.name) }
