//go:build linux && cgo

package slack

import (
	"runtime"
	"syscall"
	"testing"
)

// TestSlack: the setting applies to all threads that the runtime started, not only to the first.
func TestSlack(t *testing.T) {
	t.Parallel()
	const threads, getTimerSlack = 4, 30
	got, all := make(chan uintptr, threads), make(chan struct{})
	for range threads {
		go func() {
			runtime.LockOSThread()
			ns, _, _ := syscall.RawSyscall(syscall.SYS_PRCTL, getTimerSlack, 0, 0)
			got <- ns
			<-all // holds its thread, so that each goroutine has one of its own
		}()
	}
	for range threads {
		if ns := <-got; ns != 200_000 {
			t.Errorf("a thread's slack is %d ns, want 200,000", ns)
		}
	}
	close(all)
}
