// Package pipe is an in-memory connection that behaves like TCP, and a listener
// that hands such connections out. MQTT bytes flow through it. Its suite, pipetest,
// is what every connection between a board and the server passes.
package pipe

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// limit is how much is buffered per direction before the writer waits.
const limit = 64 << 10

// New returns the two ends of a connection in memory. Writes are buffered up to
// 64 KiB a direction; Close, deadlines and Reset behave as TCP's do. It works in
// a synctest bubble and keeps no buffer while idle.
func New() (a, b net.Conn) { return pair("pipe") }

func pair(name string) (a, b *conn) {
	p := &struct {
		halves [2]half
		ends   [2]conn
	}{}
	for i := range p.halves {
		p.halves[i].readable, p.halves[i].writable = make(chan struct{}, 1), make(chan struct{}, 1)
	}
	p.ends[0] = conn{in: &p.halves[0], out: &p.halves[1], local: addr(name + "/a"), remote: addr(name + "/b")}
	p.ends[1] = conn{in: &p.halves[1], out: &p.halves[0], local: addr(name + "/b"), remote: addr(name + "/a")}
	return &p.ends[0], &p.ends[1]
}

// addr is the printable name of an end.
type addr string

func (addr) Network() string  { return "memory" }
func (a addr) String() string { return "memory:" + string(a) }

// conn is one end of a pipe.
type conn struct {
	in, out       *half
	local, remote addr
}

// half is one direction. Waiters wait for a token; whoever takes it checks again, and passes it on while its reason
// remains.
type half struct {
	mu    sync.Mutex
	data  *chunk // unread, nil = none
	shut  bool   // the writer closed: the reader gets the rest, then EOF
	gone  bool   // the reader closed: nobody will read
	reset bool
	rd    deadline
	wd    deadline

	readable, writable chan struct{}
	watch              func() // called beside readable, nil = nobody watches
}

// tell wakes whoever reads. Called with mu held.
func (h *half) tell() {
	token(h.readable)
	if h.watch != nil {
		h.watch()
	}
}

// chunk is a buffer; idle directions keep none.
type chunk struct {
	b   []byte
	off int
}

var chunks = sync.Pool{New: func() any { return &chunk{b: make([]byte, 0, 512)} }}

func (h *half) free() {
	if h.data != nil && cap(h.data.b) <= limit {
		h.data.b, h.data.off = h.data.b[:0], 0
		chunks.Put(h.data)
	}
	h.data = nil
}

func token(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Watched is a connection that reports when it can be read, so that no goroutine has to wait. This package's
// connections do.
type Watched interface {
	net.Conn
	// Watch makes f be called whenever TryRead may return something new, and immediately if it already may; spurious
	// calls are possible. f runs under the connection's locks, so it must hand over and return.
	Watch(f func())
	// TryRead is Read, but returns ErrEmpty instead of waiting.
	TryRead(p []byte) (int, error)
}

// ErrEmpty is TryRead's error when there is nothing to read yet.
var ErrEmpty = errors.New("pipe: nothing to read yet")

// Watch implements Watched.
func (c *conn) Watch(f func()) {
	h := c.in
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watch = f
	if h.data != nil || h.gone || h.reset || h.shut || h.rd.expired() {
		f()
	}
}

// TryRead implements Watched.
func (c *conn) TryRead(p []byte) (int, error) {
	n, wait, err := c.in.read(p)
	if wait {
		return 0, ErrEmpty
	}
	return n, c.readError(err)
}

func (c *conn) readError(err error) error {
	if err != nil && !errors.Is(err, io.EOF) {
		return c.fail("read", err)
	}
	return err
}

func (c *conn) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: "memory", Source: c.local, Addr: c.remote, Err: err}
}

// Read implements net.Conn. Errors: io.EOF, net.ErrClosed, ECONNRESET, os.ErrDeadlineExceeded.
func (c *conn) Read(p []byte) (int, error) {
	for {
		n, wait, err := c.in.read(p)
		if !wait {
			return n, c.readError(err)
		}
		<-c.in.readable
	}
}

func (h *half) read(p []byte) (n int, wait bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.gone:
		err = net.ErrClosed
	case h.reset:
		err = syscall.ECONNRESET
	case h.rd.expired():
		err = os.ErrDeadlineExceeded
	case len(p) == 0:
		return 0, false, nil
	case h.data != nil:
		n = copy(p, h.data.b[h.data.off:])
		if h.data.off += n; h.data.off == len(h.data.b) {
			h.free()
		}
		token(h.writable)
	case h.shut:
		err = io.EOF
	default:
		return 0, true, nil
	}
	if err != nil || h.data != nil {
		token(h.readable)
	}
	return n, false, err
}

// Write implements net.Conn. Errors: net.ErrClosed, EPIPE, ECONNRESET, os.ErrDeadlineExceeded.
func (c *conn) Write(p []byte) (n int, err error) {
	for {
		m, wait, err := c.out.write(p[n:])
		n += m
		if err != nil {
			return n, c.fail("write", err)
		}
		if !wait {
			return n, nil
		}
		<-c.out.writable
	}
}

func (h *half) write(p []byte) (n int, wait bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.shut:
		err = net.ErrClosed
	case h.reset:
		err = syscall.ECONNRESET
	case h.gone:
		err = syscall.EPIPE
	case h.wd.expired():
		err = os.ErrDeadlineExceeded
	}
	if err != nil {
		token(h.writable)
		return 0, false, err
	}
	if len(p) == 0 {
		return 0, false, nil
	}
	if n = h.put(p); n > 0 {
		h.tell()
	}
	return n, n < len(p), nil
}

// put buffers what there is room for.
func (h *half) put(p []byte) int {
	if h.data == nil {
		h.data = chunks.Get().(*chunk)
	}
	d := h.data
	n := min(len(p), limit-(len(d.b)-d.off))
	if d.off > 0 && len(d.b)+n > cap(d.b) {
		d.b, d.off = d.b[:copy(d.b, d.b[d.off:])], 0
	}
	d.b = append(d.b, p[:n]...)
	return n
}

// Close implements net.Conn: the peer reads the rest, then EOF.
func (c *conn) Close() error { c.end(false); return nil }

// Cut ends the connection as Reset does.
func (c *conn) Cut() { c.end(true) }

// Reset ends a connection as a TCP reset does: both ends fail immediately, and data in transit is lost. It resets this
// package's connections, TCP connections and anything with a Cut method; others are closed.
func Reset(c net.Conn) {
	switch c := c.(type) {
	case interface{ Cut() }:
		c.Cut()
		return
	case *net.TCPConn:
		_ = c.SetLinger(0)
	}
	_ = c.Close()
}

func (c *conn) end(reset bool) {
	c.out.end(func(h *half) {
		h.shut, h.reset = true, h.reset || reset
		if h.reset {
			h.free()
		}
	})
	c.in.end(func(h *half) {
		h.gone, h.reset = true, h.reset || reset
		h.free()
	})
}

func (h *half) end(f func(*half)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f(h)
	if h.shut && h.gone {
		h.rd.stop()
		h.wd.stop()
	}
	h.tell()
	token(h.writable)
}

// LocalAddr implements net.Conn.
func (c *conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

// SetReadDeadline implements net.Conn. Error: net.ErrClosed.
func (c *conn) SetReadDeadline(t time.Time) error {
	h := c.in
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.gone {
		return c.fail("set", net.ErrClosed)
	}
	h.rd.set(t, h)
	return nil
}

// SetWriteDeadline implements net.Conn. Error: net.ErrClosed.
func (c *conn) SetWriteDeadline(t time.Time) error {
	h := c.out
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shut {
		return c.fail("set", net.ErrClosed)
	}
	h.wd.set(t, h)
	return nil
}
