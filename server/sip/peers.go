package sip

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// Limits of the TCP listener.
const (
	maxConns    = 256
	maxPerPeer  = 32              // and for all strangers together
	messageTime = 5 * time.Second // for a message, from its first byte or from the start of the connection
	idleTime    = 2 * time.Minute // between messages
)

func isPeer(a netip.Addr, peers []netip.Prefix) bool {
	a = a.Unmap().WithZone("")
	return slices.ContainsFunc(peers, func(p netip.Prefix) bool { return p.Contains(a) })
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
	head  []byte    // its headers so far
	body  int       // bytes that it still lacks after them
}

// maxHead is how much of a message's headers is kept; of longer ones, the length of the body is unknown.
const maxHead = 64 << 10

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
	c.follow(b[:n])
	return n, err
}

// follow notes where in a message the connection is after p.
func (c *timed) follow(p []byte) {
	for len(p) > 0 {
		if had := min(c.body, len(p)); had > 0 { // a body may come after its headers, and begins no message
			if c.body, p = c.body-had, p[had:]; c.body == 0 {
				c.since = time.Time{}
			}
			continue
		}
		if c.since.IsZero() {
			c.since = clock.WallNow()
		}
		c.head = append(c.head, p...)
		head, rest, found := bytes.Cut(c.head, headersEnd)
		if !found {
			if len(c.head) > maxHead {
				c.head = slices.Clone(c.head[len(c.head)-len(headersEnd):])
			}
			return
		}
		if c.head, c.body, p = nil, bodyOf(string(head)), rest; c.body == 0 {
			c.since = time.Time{}
		}
	}
}

// bodyOf is the length of a message's body.
func bodyOf(head string) int {
	for line := range strings.SplitSeq(head, "\r\n") {
		name, value, _ := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); strings.EqualFold(name, "Content-Length") || strings.EqualFold(name, "l") {
			n, _ := strconv.Atoi(strings.TrimSpace(value)) // what isn't a number is refused elsewhere
			return max(n, 0)
		}
	}
	return 0
}
