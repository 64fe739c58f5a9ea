package limit

import (
	"net/netip"
	"strings"
)

// IP is the address in "1.2.3.4", or, as some proxies also write them into X-Forwarded-For, "1.2.3.4:567" and
// "[2001:db8::1]"; the zero Addr if it is none of these.
func IP(addr string) netip.Addr {
	if ip, err := netip.ParseAddr(addr); err == nil {
		return ip
	}
	if strings.HasPrefix(addr, "[") && strings.HasSuffix(addr, "]") {
		addr += ":0"
	}
	ap, _ := netip.ParseAddrPort(addr)
	return ap.Addr()
}

// Network is what counts as one address: an IPv4 address or an IPv6 /64; addr may be anything that IP reads. Anything else
// is returned as is.
func Network(addr string) string {
	ip := IP(addr)
	if !ip.IsValid() {
		return addr
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	p, _ := ip.Prefix(64) // never fails for IPv6
	return p.String()
}
