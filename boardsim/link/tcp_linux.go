package link

import (
	"net"
	"syscall"
)

// bindAddressNoPort is IP_BIND_ADDRESS_NO_PORT: the port is chosen at connect,
// by the whole four-tuple, not at bind.
const bindAddressNoPort = 24

func spread(d *net.Dialer, n int) {
	d.LocalAddr = &net.TCPAddr{IP: source(n)}
	d.Control = func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, bindAddressNoPort, 1)
		})
	}
}
