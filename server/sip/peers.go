package sip

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// Limits of the TCP listener.
const (
	maxConns    = 256
	maxPerPeer  = 32
	messageTime = 5 * time.Second // for a message's headers, from its first byte or from the start of the connection
	idleTime    = 2 * time.Minute // between messages
)

func isPeer(a netip.Addr, peers []netip.Prefix) bool {
	a = a.Unmap().WithZone("")
	for _, p := range peers {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// fromPeers drops packets from others: a claimed UDP source address must not make us answer it.
type fromPeers struct {
	net.PacketConn
	peers []netip.Prefix
}

// ReadFrom implements net.PacketConn.
func (c *fromPeers) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := c.PacketConn.ReadFrom(b)
		if err != nil {
			return n, from, err
		}
		if u, ok := from.(*net.UDPAddr); ok && isPeer(u.AddrPort().Addr(), c.peers) {
			return n, from, nil
		}
	}
}

// patient is a listener that survives running out of descriptors for a moment, and whose connections end if they
// withhold a message.
type patient struct{ net.Listener }

// Accept implements net.Listener.
func (l patient) Accept() (net.Conn, error) {
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		c, err := l.Listener.Accept()
		if err == nil {
			return &timed{Conn: c, since: clock.WallNow()}, nil
		}
		if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) && !errors.Is(err, syscall.ECONNABORTED) {
			return nil, err
		}
		again := make(chan struct{})
		clock.WallAfter(wait, func() { close(again) })
		<-again
	}
}

// timed is a connection with a deadline for every message.
type timed struct {
	net.Conn
	since time.Time // the message began; zero = between messages
	tail  [4]byte
}

var headersEnd = []byte("\r\n\r\n")

// Read implements net.Conn. It is called by one goroutine.
func (c *timed) Read(b []byte) (int, error) {
	until := c.since.Add(messageTime)
	if c.since.IsZero() {
		until = clock.WallNow().Add(idleTime)
	}
	if err := c.SetReadDeadline(until); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(b)
	if n == 0 {
		return n, err
	}
	if c.since.IsZero() {
		c.since = clock.WallNow()
	}
	last := append(c.tail[:len(c.tail):len(c.tail)], b[:n]...)
	if bytes.Contains(last, headersEnd) {
		c.since, c.tail = time.Time{}, [4]byte{}
		return n, err
	}
	copy(c.tail[:], last[len(last)-len(c.tail):])
	return n, err
}
