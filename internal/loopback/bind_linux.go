package loopback

import (
	"net"
	"syscall"
)

// bindAddressNoPort is IP_BIND_ADDRESS_NO_PORT: the port is chosen at connect,
// by the whole four-tuple, not at bind.
const bindAddressNoPort = 24

// From makes a dialer use a source address without reserving one of its ports for all destinations. Only Linux owns all
// of 127.0.0.0/8; elsewhere it does nothing.
func From(d *net.Dialer, ip net.IP) {
	d.LocalAddr = &net.TCPAddr{IP: ip}
	d.Control = func(network, _ string, c syscall.RawConn) error {
		if network != "tcp4" {
			return nil
		}
		return c.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, bindAddressNoPort, 1) // an old kernel works without
		})
	}
}
