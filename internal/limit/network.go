package limit

import "net/netip"

// Network is what counts as one address: an IPv4 address or an IPv6 /64; addr may include a port. Anything that isn't
// an IP address is returned as is.
func Network(addr string) string {
	ip, err := netip.ParseAddr(addr)
	if err != nil {
		ap, err := netip.ParseAddrPort(addr)
		if err != nil {
			return addr
		}
		ip = ap.Addr()
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	p, _ := ip.Prefix(64) // never fails for IPv6
	return p.String()
}
