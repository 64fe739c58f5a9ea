package history

import (
	"io"
	"slices"
	"sync"
)

const (
	chunkSize = 4096
	// longInMemory is how many events a log with a disk keeps in memory, about 65 MB.
	longInMemory = 32 * chunkSize
)

// Log is the append-only history of one process, in memory. Of a long one only the newest events are; older ones are in
// an unnamed file. A slow, full or missing disk holds nothing up; events then stay in memory. The zero value works and
// keeps everything in memory. Safe for concurrent use.
type Log struct {
	wall func() int64
	dir  string
	keep int64 // events in memory, 0 = all

	mu     sync.Mutex
	moved  sync.Cond // moving became false
	chunks [][]Event // those in memory; all but the last are full; an event never moves once added
	stored []page    // those before them, a chunk each
	n      int64
	file   *pages
	moving bool // a goroutine moves chunks
	stay   bool // the disk failed
}

// NewLog is an empty log in memory that stamps events without a WallNs (Unix ns) with wall (nil = none).
func NewLog(wall func() int64) *Log { return &Log{wall: wall} }

// NewLongLog is NewLog for any number of events; older ones are in dir ("" = the system's directory for temporary files).
func NewLongLog(dir string, wall func() int64) *Log {
	l := &Log{wall: wall, dir: dir, keep: longInMemory}
	l.moved.L = &l.mu
	return l
}

// Append adds an event without waiting for the disk. It can be passed wherever a func(Event) is wanted.
func (l *Log) Append(e Event) {
	if e.WallNs == 0 && l.wall != nil {
		e.WallNs = l.wall()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	last := len(l.chunks) - 1
	if last < 0 || len(l.chunks[last]) == chunkSize {
		l.chunks = append(l.chunks, make([]Event, 0, chunkSize))
		last++
	}
	l.n++
	e.Seq = l.n
	l.chunks[last] = append(l.chunks[last], e)
	if l.tooMany() && !l.moving {
		l.moving = true
		go l.move()
	}
}

// tooMany reports whether a chunk has to move; l.mu is held.
func (l *Log) tooMany() bool {
	return l.keep > 0 && !l.stay && l.n-int64(len(l.stored))*chunkSize > l.keep
}

// move writes chunks to disk until few enough are in memory.
func (l *Log) move() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.tooMany() {
		chunk, file := l.chunks[0], l.file
		l.mu.Unlock()
		var err error
		if file == nil {
			file, err = newPages(l.dir)
		}
		var at page
		if err == nil {
			at, err = file.put(chunk)
		}
		l.mu.Lock()
		if err != nil {
			l.stay = true
			break
		}
		l.chunks[0] = nil // its events are on disk
		l.file, l.stored, l.chunks = file, append(l.stored, at), l.chunks[1:]
	}
	l.moving = false
	l.moved.Broadcast()
}

// Len is the number of events, which is also the last Seq.
func (l *Log) Len() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

// Each calls f with the events after seq, in order; f must keep no pointer to one. Errors: f's, and those of a disk
// that can't return what was written.
func (l *Log) Each(seq int64, f func(*Event) error) error {
	l.mu.Lock()
	stored, file := slices.Clip(l.stored), l.file
	chunks := append([][]Event(nil), l.chunks...)
	l.mu.Unlock()
	give := func(events []Event) error {
		if events[len(events)-1].Seq <= seq {
			return nil
		}
		for i := range events {
			if events[i].Seq > seq {
				if err := f(&events[i]); err != nil {
					return err
				}
			}
		}
		return nil
	}
	for i, at := range stored {
		if int64(i+1)*chunkSize <= seq {
			continue
		}
		events, err := file.get(at)
		if err == nil {
			err = give(events)
		}
		if err != nil {
			return err
		}
	}
	for _, c := range chunks {
		if err := give(c); err != nil {
			return err
		}
	}
	return nil
}

// Snapshot copies all events of a log in memory; a long one's may be too many, and the disk may fail.
func (l *Log) Snapshot() []Event {
	out := make([]Event, 0, l.Len())
	_ = l.Each(0, func(e *Event) error { out = append(out, *e); return nil })
	return out
}

// WriteSince writes the events after seq as a whole history of their own. Errors: as Each,
// and w's; then the closing line is missing.
func (l *Log) WriteSince(w io.Writer, seq int64) error {
	out := NewWriter(w)
	if err := l.Each(seq, out.One); err != nil {
		return err
	}
	_, err := out.Close()
	return err
}

// Close waits until nothing moves any more and gives the space on disk back. What is
// appended afterwards stays in memory; nothing may be read any more.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stay = true
	for l.moving {
		l.moved.Wait()
	}
	if l.file == nil {
		return nil
	}
	return l.file.close()
}
