//go:build !linux

package loadtest

import "syscall"

func lateBind(string, string, syscall.RawConn) error { return nil }
