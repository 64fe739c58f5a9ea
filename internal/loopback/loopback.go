// Package loopback spreads connections to this machine over the source addresses of 127.0.0.0/8: one address has only
// 28,000 ports, and a limit per address would count everyone as one.
package loopback

import (
	"net"
	"net/netip"
	"strings"
)

// Part is a range of source addresses; parts don't overlap.
type Part struct{ first, span int }

// The parts. Each block has room for 250 addresses.
var (
	Boards    = Part{1, 100}  // one per board: 25,000
	Load      = Part{101, 90} // one per place under load
	Exchanges = Part{191, 60} // a fresh one for every few token exchanges
)

// Source is the n-th address of a part; after the last one they repeat.
func (p Part) Source(n int) net.IP {
	n = max(n, -n)
	return net.IPv4(127, byte(p.first+n/250%p.span), byte(n%250), 1)
}

// Host reports whether a host, with or without a port, is this machine: localhost, 127.0.0.1, [::1].
func Host(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}

// Is reports whether a host, as in a URL, is this machine by IPv4.
func Is(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback() && ip.To4() != nil
}
