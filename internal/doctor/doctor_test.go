package doctor

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

func check(t *testing.T, f Finding, want State, says string) {
	t.Helper()
	if f.State != want || !strings.Contains(f.Says+f.Do, says) {
		t.Errorf("got %+v, want %s and %q", f, want, says)
	}
	if f.State != OK && f.Do == "" {
		t.Errorf("%+v: want a word on what to do", f)
	}
}

func TestFleetThatFits(t *testing.T) {
	t.Parallel()
	const gib = 1 << 30
	for name, c := range map[string]struct {
		m    Machine
		want fleet
	}{
		"processors": {Machine{1 << 20, 64 * gib, 2}, fleet{10000, 10000, 524288, "processors"}},
		"memory":     {Machine{1 << 20, gib, 2}, fleet{3072, 3072, 524288, "memory"}},
		"no memory":  {Machine{1 << 20, 100 << 20, 2}, fleet{0, 0, 524288, "memory"}},
		"unknown":    {Machine{1024, 0, 2}, fleet{10000, 480, 512, "processors"}},
		"nothing":    {Machine{}, fleet{5000, 0, 0, "processors"}},
	} {
		if got := fleetOf(c.m); got != c.want {
			t.Errorf("%s: FleetOf(%+v) = %+v, want %+v", name, c.m, got, c.want)
		}
	}
	check(t, Fit(Machine{1 << 20, 64 * gib, 2}), OK, "up to 10,000 simulated boards")
	check(t, Fit(Machine{1 << 20, 270 << 20, 2}), Warn, "--boards 56 or fewer")
	check(t, Descriptors(1024), Warn, "ulimit -n")
	check(t, Descriptors(65536), OK, "65,536")
}

func TestPort(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	check(t, Port("http", l.Addr().String()), Bad, "address already in use")
	must.OK(t, l.Close())
	check(t, Port("http", "127.0.0.1:0"), OK, "127.0.0.1:0: any free port")
}

func TestClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	second := time.Second
	check(t, Clock(now, second, second, time.Time{}), OK, "2026-10-01T00:00:00Z")
	check(t, Clock(now, second, second, now.Add(time.Hour)), Warn, "before this program was built")
	check(t, Clock(now, second+90*time.Millisecond, second, now), Warn, "moved by 90ms")
	check(t, Clock(now, -second, second, now), Warn, "moved by 2s")
	check(t, Zones("Asia/Seoul"), OK, "Asia/Seoul")
	check(t, Zones("Mars/Crater"), Bad, "tzdata")
}

func TestDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var at time.Time
	slow := func() time.Time { at = at.Add(25 * time.Millisecond); return at }
	check(t, Disk(dir, slow), Warn, "syncs a write in 25.0 ms")
	fast := func() time.Time { at = at.Add(300 * time.Microsecond); return at }
	check(t, Disk(filepath.Join(dir, "not", "yet"), fast), OK, dir+" syncs a write in 300 µs")
	check(t, Disk("/proc/self", fast), Bad, "choose another --data")
	file := filepath.Join(dir, "file")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	check(t, Disk(file, fast), Bad, file+" is not a directory")
	check(t, Disk(filepath.Join(file, "below"), fast), Bad, file+" is not a directory")
	left, err := filepath.Glob(filepath.Join(dir, ".doorlab-doctor-*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v, want nothing", left, err)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	machine := file("MemTotal: 100 kB\nMemAvailable:    4096 kB\n")
	for name, c := range map[string]struct {
		root fstest.MapFS
		want int64
	}{
		"no Linux":       {fstest.MapFS{}, 0},
		"machine":        {fstest.MapFS{"proc/meminfo": machine}, 4 << 20},
		"unbounded":      {fstest.MapFS{"proc/meminfo": machine, "sys/fs/cgroup/memory.max": file("max\n")}, 4 << 20},
		"container":      {fstest.MapFS{"proc/meminfo": machine, "sys/fs/cgroup/memory.max": file("3145728\n"), "sys/fs/cgroup/memory.current": file("1048576\n")}, 2 << 20},
		"container full": {fstest.MapFS{"proc/meminfo": machine, "sys/fs/cgroup/memory.max": file("100\n"), "sys/fs/cgroup/memory.current": file("200\n")}, 1},
	} {
		if got := Memory(c.root); got != c.want {
			t.Errorf("%s: Memory() = %d, want %d", name, got, c.want)
		}
	}
}
