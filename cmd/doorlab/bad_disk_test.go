package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/doorlab/doorlab/internal/client/clienttest"
	"github.com/doorlab/doorlab/internal/must"
)

// patience is how long a test waits for what must come by itself; it judges no speed.
const patience = time.Minute

// strike sends n commands at once, each under a key of its own, and returns how
// they were answered by status. One without an answer is an error.
func (x *torture) strike(name string, n int) (answers map[string]int) {
	x.t.Helper()
	return x.strikeWhile(name, n, func(func() int) {})
}

// strikeWhile is strike; meanwhile is called once all are on their way, and can ask how many have been answered.
func (x *torture) strikeWhile(name string, n int, meanwhile func(answered func() int)) (answers map[string]int) {
	x.t.Helper()
	answers = map[string]int{}
	ctx, cancel := context.WithTimeout(x.t.Context(), patience)
	defer cancel()
	var mu sync.Mutex
	var over atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for i := range n {
		key, door := fmt.Sprintf("strike-%s-%d", strings.ReplaceAll(name, " ", "-"), i), x.keys.doors[i%len(x.keys.doors)]
		x.keys.mu.Lock()
		x.keys.keys, x.keys.door[key] = append(x.keys.keys, key), door
		x.keys.mu.Unlock()
		all.Go(func() {
			got, err := x.keys.send(ctx, door, key)
			over.Add(1)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, errTryAgain):
				answers["503"]++
			case err != nil:
				x.t.Errorf("%s: a caller got no answer: %v", name, err)
			default:
				answers[got[:3]]++
				x.keys.mu.Lock()
				x.keys.first[key] = got
				x.keys.mu.Unlock()
			}
		})
	}
	meanwhile(func() int { return int(over.Load()) })
	all.Wait()
	x.t.Logf("%s: %d callers were answered within %s: %v", name, n, time.Since(began).Round(time.Millisecond), answers)
	return answers
}

// ready waits until /readyz answers with a status; the server must stay alive meanwhile.
func (x *torture) ready(when string, want int) {
	x.t.Helper()
	got := 0
	for until := time.Now().Add(patience); time.Now().Before(until); pause(x.t.Context()) {
		if got = x.status("/readyz"); got == want {
			return
		}
		if live := x.status("/livez"); live != http.StatusOK {
			x.t.Fatalf("%s: /livez is %d, want %d", when, live, http.StatusOK)
		}
	}
	x.t.Fatalf("%s: /readyz is %d, want %d\n%s", when, got, want, x.server.stderr)
}

func (x *torture) status(path string) int {
	x.t.Helper()
	status, _ := clienttest.Get(x.t, x.keys.api.Base+path)
	return status
}

// only reports statuses that the answers must not have.
func only(t *testing.T, name string, answers map[string]int, want ...string) {
	t.Helper()
	for status, n := range answers {
		if !strings.Contains(strings.Join(want, " "), status) {
			t.Errorf("%s: %d callers got %s, want %v", name, n, status, want)
		}
	}
}

// TestBadDisk: serve lives through a disk that is full, read-only or broken in
// any call. Callers are told 503 or 504, /readyz says so, nothing has to be
// restarted, and then it is as after a torture: every answer stands, every key
// was executed once, nothing acknowledged is lost.
func TestBadDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("breaks a server's disk eight times; run without -short")
	}
	t.Parallel()
	d := newBadDisk(t)
	x := newTorture(t, d.env(false))
	for _, bad := range []struct {
		name   string
		how, n int32
		writes bool     // some go through
		want   []string // what callers may get
	}{
		{"full", diskFull, 0, false, []string{"503", "504"}},
		{"write error", diskWriteError, 0, false, []string{"503", "504"}},
		{"sync error", diskSyncError, 0, false, []string{"503", "504"}},
		{"read-only", diskReadOnly, 0, false, []string{"503", "504"}},
		{"read error", diskReadError, 0, true, []string{"200", "503", "504"}},
		{"held", diskHeld, 0, false, []string{"503", "504"}},
		{"one call in 9 fails", diskSomeErrors, 9, true, []string{"200", "503", "504"}},
		{"one call in 50 fails", diskSomeErrors, 50, true, []string{"200", "503", "504"}},
	} {
		x.keys.waitFor(20)
		d.turn(bad.how, bad.n)
		if !bad.writes {
			x.ready(bad.name, http.StatusServiceUnavailable)
		}
		only(t, bad.name, x.strike(bad.name, 40), bad.want...)
		if !bad.writes {
			x.ready(bad.name, http.StatusServiceUnavailable)
		}
		d.turn(diskFine, 0)
		x.ready("after "+bad.name, http.StatusOK)
	}
	x.judge(1)
}

// TestStalledDisk: while a sync doesn't end, every caller is answered; what they
// asked for doesn't happen later by itself, and happens once when they repeat it.
func TestStalledDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("callers wait 14 s for the disk; run without -short")
	}
	t.Parallel()
	d := newBadDisk(t)
	x := newTorture(t, d.env(false))
	x.keys.waitFor(20)
	x.stop()
	opened := x.pulses()
	d.turn(diskHeld, 0)
	only(t, "held", x.strike("held", 40), "503") // nothing was sent: the disk is held until all are answered
	x.ready("held", http.StatusServiceUnavailable)
	d.turn(diskFine, 0)
	x.ready("then", http.StatusOK)
	if now := x.pulses(); now != opened {
		t.Errorf("%d doors opened after the stall, without anybody asking for it then", now-opened)
	}
	x.conclude(1)
	if now := x.pulses(); now < opened+40 {
		t.Errorf("%d of 40 repeats opened a door", now-opened)
	}
}

// pulses counts what commands opened, in all journals.
func (x *torture) pulses() (n int) {
	x.t.Helper()
	for _, b := range listBoards(x.t, x.boards.Base, x.boards.Token) {
		for _, line := range journal(x.t, x.boards.Base, x.boards.Token, b) {
			if line.Cause == "command" && line.Action == "pulse" {
				n++
			}
		}
	}
	return n
}

// TestSIGTERMDuringAStall: everybody who waits for the disk is answered before
// the process ends.
func TestSIGTERMDuringAStall(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for a disk that stalls; run without -short")
	}
	t.Parallel()
	d := newBadDisk(t)
	x := newTorture(t, d.env(false))
	x.keys.waitFor(20)
	x.stop()
	d.turn(diskHeld, 0)
	only(t, "SIGTERM", x.strikeWhile("SIGTERM", 40, func(answered func() int) {
		x.ready("held", http.StatusServiceUnavailable)
		for answered()+int(metric(t, x.lab.Base, "doorlab_http_requests_in_flight")) < 40 { // net/http hangs up on a request that comes later
			pause(t.Context())
		}
		must.OK(t, x.server.cmd.Process.Signal(syscall.SIGTERM))
	}), "503", "504")
	d.turn(diskFine, 0)
	<-x.server.ended
	x.again()
	x.conclude(1)
}

// limitFiles sets how many descriptors a process may have, and returns the number before.
func limitFiles(t *testing.T, pid int, n uint64) (before uint64) {
	t.Helper()
	var old syscall.Rlimit
	call := func(to *syscall.Rlimit) {
		if _, _, errno := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_NOFILE, uintptr(unsafe.Pointer(to)), uintptr(unsafe.Pointer(&old)), 0, 0); errno != 0 {
			t.Fatal(errno)
		}
	}
	call(nil)
	call(&syscall.Rlimit{Cur: n, Max: old.Max})
	return old.Cur
}

// TestNoDescriptorsLeft: connections that stand go on working, listeners wait,
// and with descriptors again everybody gets in.
func TestNoDescriptorsLeft(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a server's descriptors away; run without -short")
	}
	t.Parallel()
	x := newTorture(t, nil)
	x.keys.waitFor(20)
	before := limitFiles(t, x.server.cmd.Process.Pid, 3) // what is open stays open
	x.keys.waitFor(100)                                  // on the connections that there are
	refused := 0
	for range 20 { // new ones wait in the queue of the kernel, or are cut
		c := http.Client{Timeout: 100 * time.Millisecond, Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := c.Get(x.keys.api.Base + "/livez")
		if err != nil {
			refused++
			continue
		}
		_ = resp.Body.Close()
	}
	if refused == 0 {
		t.Error("new connections were accepted without a descriptor: nothing was tested")
	}
	limitFiles(t, x.server.cmd.Process.Pid, before)
	x.ready("with descriptors again", http.StatusOK)
	x.judge(1)
}
