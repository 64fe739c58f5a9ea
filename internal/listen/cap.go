// Package listen limits what a listener's peers may hold: connections in total and per address, descriptors, and the
// time for headers, bodies and answers. testbed wraps its listeners in it; server/gateway counts its unfinished peers
// with Network.
package listen

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/doorlab/doorlab/internal/limit"
)

// writeBuffer is how much unread data the kernel may hold for a peer, twice that on Linux. By default it grows to
// megabytes, and filling the buffers of a few hundred peers that don't read takes everyone else's time.
const writeBuffer = 128 << 10

// Cap limits the connections of a listener, in total and per address (IPv6: per /64). It survives reopening the
// listener.
type Cap struct {
	total, each int
	free        []netip.Prefix // no limit per address: trusted proxies
	stranger    func(netip.Addr) bool
	refused     atomic.Int64

	mu   sync.Mutex
	open int
	by   map[string]int
}

// NewCap returns a cap of total connections, with at most each per address; 0 = no limit. Addresses in free have no
// limit of their own.
func NewCap(total, each int, free ...netip.Prefix) *Cap {
	return &Cap{total: total, each: each, free: free, by: map[string]int{}}
}

// Strangers makes all addresses that are strangers count as one, so that even together they leave room for the others.
func (c *Cap) Strangers(stranger func(netip.Addr) bool) *Cap {
	c.stranger = stranger
	return c
}

// Open is the number of open connections.
func (c *Cap) Open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// Refused is the number of connections closed at once because a limit was reached.
func (c *Cap) Refused() int64 { return c.refused.Load() }

// On returns l with the limits: connections beyond them are accepted and closed at once.
func (c *Cap) On(l net.Listener) net.Listener { return &capped{Listener: l, cap: c} }

func (c *Cap) enter(network string, free bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.total > 0 && c.open >= c.total || !free && c.each > 0 && c.by[network] >= c.each {
		c.refused.Add(1)
		return false
	}
	c.open++
	c.by[network]++
	return true
}

func (c *Cap) leave(network string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if c.by[network]--; c.by[network] == 0 {
		delete(c.by, network)
	}
}

type capped struct {
	net.Listener
	cap *Cap
}

// Accept implements net.Listener.
func (l *capped) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		network := l.cap.network(c.RemoteAddr().String())
		t, tcp := c.(*net.TCPConn)
		if l.cap.enter(network, within(c.RemoteAddr(), l.cap.free)) {
			if tcp {
				_ = t.SetWriteBuffer(writeBuffer)
			}
			return &counted{Conn: c, done: func() { l.cap.leave(network) }}, nil
		}
		if tcp {
			_ = t.SetLinger(0) // a flood must not leave sockets in TIME_WAIT
		}
		_ = c.Close()
	}
}

// network is what the limit per address counts an address as.
func (c *Cap) network(remote string) string {
	if c.stranger != nil {
		if a, err := netip.ParseAddrPort(remote); err != nil || c.stranger(a.Addr()) {
			return "strangers"
		}
	}
	return limit.Network(remote)
}

// counted is a connection that gives up its slot once, at its first Close.
type counted struct {
	net.Conn
	once sync.Once
	done func()
}

// Close implements net.Conn.
func (c *counted) Close() error {
	err := c.Conn.Close()
	c.once.Do(c.done)
	return err
}

func within(peer net.Addr, list []netip.Prefix) bool {
	if len(list) == 0 {
		return false
	}
	ap, err := netip.ParseAddrPort(peer.String())
	ip := ap.Addr().Unmap().WithZone("")
	return err == nil && slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// Prefixes parses addresses and CIDR prefixes. The error names the first that is neither.
func Prefixes(list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range list {
		if a, err := netip.ParseAddr(s); err == nil {
			out = append(out, netip.PrefixFrom(a, a.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an address nor a CIDR prefix", s)
		}
		out = append(out, p)
	}
	return out, nil
}

// Shares is how the descriptors of a process are divided among its listeners.
type Shares struct {
	Public  int // connections of the public API
	Control int // of the control API
	Broker  int // of boards
	Greet   int // of boards that haven't identified themselves
}

// most bounds the shares if the process has no limit of its own.
const most = 1 << 16

// Share divides n descriptors: half to the broker and three eighths to the API, so that neither can take the other's;
// the rest is for the database and the process's own files.
func Share(n int) Shares {
	n = min(max(n, 64), 2*most)
	return Shares{Public: 3 * n / 8, Control: min(n/32, 128), Broker: n / 2, Greet: n / 8}
}
