package loadtest

import "syscall"

// lateBind lets a socket with a fixed source address take its port at connect,
// so that the 28,000 ports count per destination (IP_BIND_ADDRESS_NO_PORT).
func lateBind(network, _ string, c syscall.RawConn) error {
	const ipBindAddressNoPort = 24
	if network != "tcp4" {
		return nil
	}
	return c.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, ipBindAddressNoPort, 1) // an old kernel works without
	})
}
