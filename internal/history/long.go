package history

import (
	"io"
	"slices"
	"sync"
)

// longInMemory is how many events a Long keeps in memory, about 65 MB.
const longInMemory = 32 * chunkSize

// Long is a Log of unlimited size: the newest events are in memory, older ones in an unnamed file. A slow, full or
// missing disk holds nothing up; events then stay in memory. Safe for concurrent use.
type Long struct {
	dir  string
	wall func() int64
	keep int64 // events in memory

	mu     sync.Mutex
	moved  sync.Cond // moving became false
	chunks [][]Event // those in memory; all but the last are full
	stored []page    // those before them, a chunk each
	n      int64
	file   *pages
	moving bool // a goroutine moves chunks
	stay   bool // the disk failed
}

// NewLong is an empty Long that writes into dir ("" = the system's directory for temporary files) and stamps events
// without a WallNs with wall (nil = none).
func NewLong(dir string, wall func() int64) *Long {
	l := &Long{dir: dir, wall: wall, keep: longInMemory}
	l.moved.L = &l.mu
	return l
}

// Append adds an event without waiting for the disk.
func (l *Long) Append(e Event) {
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
func (l *Long) tooMany() bool { return !l.stay && l.n-int64(len(l.stored))*chunkSize > l.keep }

// move writes chunks to disk until few enough are in memory.
func (l *Long) move() {
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
		l.file, l.stored, l.chunks = file, append(l.stored, at), l.chunks[1:]
	}
	l.moving = false
	l.moved.Broadcast()
}

// Len is the number of events, which is also the last Seq.
func (l *Long) Len() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

// Each calls f with the events after seq, in order; f must keep no pointer to one. Errors: f's, and those of a disk
// that can't return what was written.
func (l *Long) Each(seq int64, f func(*Event) error) error {
	l.mu.Lock()
	stored, file := slices.Clip(l.stored), l.file
	chunks := append([][]Event(nil), l.chunks...)
	l.mu.Unlock()
	give := func(events []Event) error {
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

// WriteSince writes the events after seq as a whole history of their own. Errors: as Each,
// and w's; then the closing line is missing.
func (l *Long) WriteSince(w io.Writer, seq int64) error {
	out := NewWriter(w)
	if err := l.Each(seq, out.One); err != nil {
		return err
	}
	_, err := out.Close()
	return err
}

// Close waits until nothing moves any more and gives the space on disk back. What is
// appended afterwards stays in memory; nothing may be read any more.
func (l *Long) Close() error {
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
