// Package doctor checks a machine before doorlab runs on it: descriptors, ports, clock, the disk's speed, and what
// fleet fits. cmd/doorlab prints what it finds.
package doctor

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/amount"
)

// State of a finding.
type State string

// Findings by severity: Warn slows down or limits doorlab, Bad keeps it from starting.
const (
	OK   State = "ok"
	Warn State = "warn"
	Bad  State = "bad"
)

// Finding is the result of one check. Do says what to change, "" for nothing.
type Finding struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Says  string `json:"says"`
	Do    string `json:"do,omitempty"`
}

// Machine is what was measured.
type Machine struct {
	Descriptors int
	Memory      int64 // bytes that a process may still take; 0 = unknown
	CPUs        int
}

// What one board takes in the process that simulates it, measured with 2,000 of them (111 KiB over the memory link, 118
// KiB over TCP), and what the server takes without any.
const (
	perBoard      = 128 << 10
	serverAlone   = 128 << 20
	boardsPerCPU  = 5000 // measured: 10,000 and the server on 2 processors
	tcpPerBoard   = 2    // descriptors: both ends are in the process
	ownDescriptor = 64
)

// fleet is how many simulated boards fit on a machine.
type fleet struct {
	Memory  int // boards that reach the broker in memory (up's default)
	TCP     int // over TCP in one process (--link tcp)
	Server  int // real boards, or boards of other processes, at one server
	Limited string
}

// fleetOf is the fleet for half of a machine's memory, its descriptors, and its processors.
func fleetOf(m Machine) fleet {
	f := fleet{Memory: boardsPerCPU * max(m.CPUs, 1), Limited: "processors"}
	if m.Memory > 0 {
		if n := int(max(m.Memory/2-serverAlone, 0) / perBoard); n < f.Memory {
			f.Memory, f.Limited = n, "memory"
		}
	}
	f.TCP = min(f.Memory, OverTCP(m.Descriptors, true))
	f.Server = m.Descriptors / 2 // the broker's share, as internal/listen divides them
	return f
}

// OverTCP is how many boards over TCP a process can have with that many descriptors, with or without their server in
// the same process.
func OverTCP(descriptors int, server bool) int {
	each := 1
	if server {
		each = tcpPerBoard
	}
	return max(descriptors-ownDescriptor, 0) / each
}

// Fit reports the fleet.
func Fit(m Machine) Finding {
	f := fleetOf(m)
	out := Finding{Name: "fleet", State: OK, Says: fmt.Sprintf("up to %s simulated boards here (limited by %s), %s of them over TCP; a server alone can serve %s boards that run elsewhere",
		amount.Number(f.Memory), f.Limited, amount.Number(f.TCP), amount.Number(f.Server))}
	if f.Memory < 200 {
		out.State, out.Do = Warn, fmt.Sprintf("start with --boards %d or fewer, or free some %s", max(f.Memory, 1), f.Limited)
	}
	return out
}

// Descriptors checks the limit on open files and sockets.
func Descriptors(n int) Finding {
	f := Finding{Name: "descriptors", State: OK, Says: amount.Number(n) + " files and sockets may be open"}
	if n < 4096 {
		f.State, f.Do = Warn, "raise it for fleets over TCP: ulimit -n 65536"
	}
	return f
}

// Port checks whether an address can be listened on.
func Port(name, addr string) Finding {
	f := Finding{Name: name, State: OK, Says: addr + " is free"}
	if strings.HasSuffix(addr, ":0") {
		f.Says = addr + ": any free port"
	}
	l, err := net.Listen("tcp", addr)
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		f.State, f.Says = Bad, "doorlab can't listen on "+addr+": "+reason(err)
		f.Do = "stop what listens there (another doorlab?), or pass --" + name + " 127.0.0.1:0"
	}
	return f
}

// reason is the last part of an error's text, without the context around it.
func reason(err error) string {
	parts := strings.Split(err.Error(), ": ")
	return parts[len(parts)-1]
}

// Clock checks the machine's clock. It takes the time, how long the same wait was by the wall clock and by the
// monotonic clock, and when this program was built (zero = unknown).
func Clock(now time.Time, wall, monotonic time.Duration, built time.Time) Finding {
	f := Finding{Name: "clock", State: OK, Says: now.UTC().Format(time.RFC3339) + ", steady"}
	step := (wall - monotonic).Abs()
	switch {
	case !built.IsZero() && now.Before(built):
		f.State = Warn
		f.Says = fmt.Sprintf("%s, before this program was built (%s)", now.UTC().Format(time.RFC3339), built.UTC().Format(time.RFC3339))
		f.Do = "set the clock: tokens and certificates depend on it"
	case step > 50*time.Millisecond:
		f.State = Warn
		f.Says = fmt.Sprintf("it was moved by %s within %s", step.Round(time.Millisecond), monotonic.Round(time.Millisecond))
		f.Do = "look for two programs that set the time; --clock virtual doesn't depend on it"
	}
	return f
}

// Zones checks whether time zones can be loaded; every place has one.
func Zones(zone string) Finding {
	if _, err := time.LoadLocation(zone); err != nil {
		return Finding{Name: "time zones", State: Bad, Says: reason(err), Do: "install tzdata, or set ZONEINFO to a zoneinfo.zip"}
	}
	return Finding{Name: "time zones", State: OK, Says: zone + " is known"}
}

// syncs is how often Disk writes.
const syncs = 40

// Disk measures how long a small write takes to become durable, in dir or the nearest existing directory above it. now
// reads a clock.
func Disk(dir string, now func() time.Time) Finding {
	f := Finding{Name: "disk"}
	at := dir
	for {
		s, err := os.Stat(at)
		if err == nil && !s.IsDir() {
			f.State, f.Says, f.Do = Bad, at+" is not a directory", "choose another --data"
			return f
		}
		if err == nil || at == filepath.Dir(at) {
			break
		}
		at = filepath.Dir(at)
	}
	took, err := syncTimes(at, now)
	if err != nil {
		f.State, f.Says, f.Do = Bad, at+": "+reason(err), "choose another --data, or make it writable for this user"
		return f
	}
	return judgeDisk(at, took)
}

func judgeDisk(at string, took []time.Duration) Finding {
	slices.Sort(took)
	median, worst := took[len(took)/2], took[len(took)-1]
	f := Finding{Name: "disk", State: OK, Says: fmt.Sprintf("%s syncs a write in %s (slowest of %d: %s)", at, short(median), len(took), short(worst))}
	if median > 20*time.Millisecond {
		f.State, f.Do = Warn, "every answered command waits for such a write (they share it); expect answers to be slower, or put --data on a faster disk"
	}
	return f
}

func syncTimes(dir string, now func() time.Time) (took []time.Duration, err error) {
	file, err := os.CreateTemp(dir, ".doorlab-doctor-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	defer func() { _ = file.Close() }()
	page := make([]byte, 4096)
	for i := range syncs {
		begin := now()
		if _, err := file.WriteAt(page, int64(i)*int64(len(page))); err != nil {
			return nil, err
		}
		if err := file.Sync(); err != nil {
			return nil, err
		}
		took = append(took, now().Sub(begin))
	}
	return took, nil
}

// short writes a duration with three digits.
func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	}
	return fmt.Sprintf("%d µs", d.Microseconds())
}

// Memory is what a process may still take, of the machine or of its container. root is "/" outside tests. 0 = unknown.
func Memory(root fs.FS) int64 {
	var least int64
	take := func(n int64) {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	if b, err := fs.ReadFile(root, "proc/meminfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if words := strings.Fields(line); len(words) >= 2 && words[0] == "MemAvailable:" {
				kib, _ := strconv.ParseInt(words[1], 10, 64)
				take(kib << 10)
			}
		}
	}
	number := func(name string) int64 {
		b, _ := fs.ReadFile(root, name)
		n, _ := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64) // "max" is none
		return n
	}
	if bound := number("sys/fs/cgroup/memory.max"); bound > 0 {
		take(max(bound-number("sys/fs/cgroup/memory.current"), 1))
	}
	return least
}
