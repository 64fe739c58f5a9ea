package pipe

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Driver reads a watched connection whenever it has data, one reader at a time, on goroutines that end when there is
// nothing left.
type Driver struct {
	try   func([]byte) (int, error)
	spawn func(func())
	got   func([]byte, error) (on bool)
	wakes atomic.Int64 // wake-ups since the last reader ended; above 0, one is running
}

// chunkSize is how much a Driver reads at once.
const chunkSize = 4 << 10

var readChunks = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// NewDriver returns a driver whose Wake should be passed to Watch. try is the connection's TryRead; spawn starts a
// goroutine without waiting for it. got is called with the result of every read except ErrEmpty; the bytes are valid
// during the call. If it returns false, reading ends until the connection has something new.
func NewDriver(try func([]byte) (int, error), spawn func(func()), got func([]byte, error) (on bool)) *Driver {
	return &Driver{try: try, spawn: spawn, got: got}
}

// Wake hands over to a reader unless one is running. It never waits.
func (d *Driver) Wake() {
	if d.wakes.Add(1) == 1 {
		d.spawn(d.run)
	}
}

func (d *Driver) run() {
	for {
		n := d.wakes.Load()
		d.drain()
		if d.wakes.CompareAndSwap(n, 0) {
			return
		}
	}
}

func (d *Driver) drain() {
	buf := readChunks.Get().(*[chunkSize]byte)
	defer readChunks.Put(buf)
	for {
		n, err := d.try(buf[:])
		if errors.Is(err, ErrEmpty) || !d.got(buf[:n], err) {
			return
		}
	}
}
