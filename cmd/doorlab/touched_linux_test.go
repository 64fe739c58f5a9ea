package main

import (
	"context"
	"encoding/binary"
	"os"
	"syscall"
	"testing"
)

// touched tells, until ctx ends, of each time that a file of a directory is opened, changed,
// made or removed.
func touched(ctx context.Context, t *testing.T, dir string) <-chan struct{} {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err == nil {
		_, err = syscall.InotifyAddWatch(fd, dir, syscall.IN_OPEN|syscall.IN_MODIFY|syscall.IN_CREATE|syscall.IN_DELETE)
	}
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "inotify")
	context.AfterFunc(ctx, func() { _ = f.Close() }) // which ends the read
	times := make(chan struct{})
	go func() {
		for buf := make([]byte, 1<<12); ; {
			n, err := f.Read(buf)
			if err != nil {
				return
			}
			for at := 0; at < n; at += syscall.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buf[at+12:])) {
				select {
				case times <- struct{}{}:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return times
}
