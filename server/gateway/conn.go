package gateway

import (
	"bytes"
	"container/list"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// guard wraps a connection for the broker: each write has its own deadline, reads have the keep-alive's.
type guard struct {
	net.Conn
	first   []byte // the packet being read, as far as it has arrived
	missing int    // bytes of CONNECT still missing
	timeout time.Duration
	readBy  time.Time // touched by the reader only
	writeBy atomic.Int64
	shut    atomic.Bool
	link    atomic.Pointer[link] // once the board is known

	network string        // the address as it is counted; these three belong to greeting
	since   time.Duration // Mono of the accept
	place   *list.Element // nil once the board is known
}

// slack is how late a deadline may fire, which saves setting one for every packet.
const slack = time.Second

// Read implements net.Conn for the broker's library, which reads one packet at a time, after all of it has arrived.
func (g *guard) Read(p []byte) (int, error) {
	if len(g.first) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n := copy(p, g.first)
	g.first = g.first[n:]
	return n, nil
}

// chunk is how much must be written within one deadline, so a large packet on a slow line may take as long as it makes
// progress.
const chunk = 4 << 10

// Write implements net.Conn with a deadline per chunk.
func (g *guard) Write(p []byte) (n int, err error) {
	for len(p) > chunk && err == nil {
		var part int
		part, err = g.write(p[:chunk])
		n, p = n+part, p[part:]
	}
	if err != nil {
		return n, err
	}
	last, err := g.write(p)
	return n + last, err
}

func (g *guard) write(p []byte) (int, error) {
	now := clock.WallNow()
	if by := g.writeBy.Load(); now.Add(g.timeout).UnixNano() > by {
		next := now.Add(g.timeout + slack)
		if g.writeBy.CompareAndSwap(by, next.UnixNano()) {
			_ = g.Conn.SetWriteDeadline(next)
		}
	}
	return g.Conn.Write(p)
}

// SetDeadline is how the broker sets the keep-alive. It applies to reads only.
func (g *guard) SetDeadline(t time.Time) error {
	if !t.IsZero() && !g.readBy.IsZero() && t.Sub(g.readBy).Abs() < slack {
		return nil
	}
	g.readBy = t
	if !t.IsZero() {
		t = t.Add(slack)
	}
	return g.Conn.SetReadDeadline(t)
}

// Close tells the link at once; the broker's handler notices a little later.
func (g *guard) Close() error {
	if g.shut.CompareAndSwap(false, true) {
		if l := g.link.Load(); l != nil {
			l.shut()
		}
	}
	if secured, ok := g.Conn.(interface{ NetConn() net.Conn }); ok { // closing TLS waits up to 5 s for a peer that doesn't read
		return secured.NetConn().Close()
	}
	return g.Conn.Close()
}

// Errors of the first bytes of a connection.
var (
	errNotMQTT = errors.New("gateway: not an MQTT CONNECT")
	errLevel   = errors.New("gateway: protocol level is not 3.1.1")
)

const maxPacket = 64 << 10

// greet reads the start of CONNECT and refuses everything but MQTT 3.1.1: the broker behind it must never see MQTT 5.
func (g *guard) greet() error {
	b := make([]byte, 0, 16)
	more := func(n int) error {
		b = b[:len(b)+n]
		_, err := io.ReadFull(g.Conn, b[len(b)-n:])
		return err
	}
	if err := more(2); err != nil {
		return err
	}
	if b[0] != 0x10 {
		return errNotMQTT
	}
	for b[len(b)-1]&0x80 != 0 { // remaining length, up to four bytes
		if len(b) == 5 {
			return errNotMQTT
		}
		if err := more(1); err != nil {
			return err
		}
	}
	if n := remaining(b[1:]); n < 10 || n > maxPacket {
		return errNotMQTT
	}
	start := len(b)
	if err := more(7); err != nil {
		return err
	}
	g.first = b
	switch name := b[start:]; {
	case bytes.Equal(name, []byte("\x00\x04MQTT\x04")):
		g.missing = start + remaining(b[1:start]) - len(b)
		return nil
	case bytes.Equal(name, []byte("\x00\x04MQTT\x05")):
		_, _ = g.Write([]byte{0x20, 3, 0, 0x84, 0}) // unsupported protocol version, as MQTT 5 says it
		return errLevel
	case bytes.HasPrefix(name, []byte("\x00\x04MQTT")), bytes.HasPrefix(name, []byte("\x00\x06MQIsd")):
		_, _ = g.Write([]byte{0x20, 2, 0, 1}) // unacceptable protocol version
		return errLevel
	}
	return errNotMQTT
}

// whole reads the rest of CONNECT.
func (g *guard) whole() error {
	have := len(g.first)
	g.first = append(g.first, make([]byte, g.missing)...)
	_, err := io.ReadFull(g.Conn, g.first[have:])
	return err
}

func remaining(b []byte) (n int) {
	for i, x := range b {
		n |= int(x&0x7f) << (7 * i)
	}
	return n
}
