//go:build unix

package listen

import "syscall"

// Descriptors is how many files and sockets this process may have open.
func Descriptors() int {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil || r.Cur > 2*most {
		return 2 * most
	}
	return int(r.Cur)
}
