// Package clocktest is a machine's clock that a test can set. The tests of server/command and testbed use it.
package clocktest

import (
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/doorlab/doorlab/internal/clock"
)

// Machine is clock.Real on a machine whose clock gets set. As on a real one, this changes the times it reports but not
// the durations between them, because Go's times carry a monotonic reading beside the wall clock's.
type Machine struct {
	clock.Real
	off atomic.Int64
}

// Set moves the machine's clock by d. Suspending a machine is a step forward, too: no monotonic time passes meanwhile.
func (m *Machine) Set(d time.Duration) { m.off.Add(int64(d)) }

// Now implements clock.Clock.
func (m *Machine) Now() time.Time {
	return read(m.Real.Now().Add(time.Duration(m.off.Load())), clock.Mono())
}

// read makes a time as time.Now would, from two clocks that needn't agree. There is no other way to make one;
// TestMachine compares the layout with the runtime's.
func read(wall time.Time, mono time.Duration) time.Time {
	const from = 1885 // the year that seconds count from when there is a monotonic reading
	sec := wall.Unix() - time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	t := wall
	raw := (*struct {
		wall uint64
		ext  int64
	})(unsafe.Pointer(&t))
	raw.wall = 1<<63 | uint64(sec)<<30 | uint64(wall.Nanosecond())
	raw.ext = int64(mono)
	return t
}
