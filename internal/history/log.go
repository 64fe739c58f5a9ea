package history

import (
	"context"
	"sync"
)

const chunkSize = 4096

// Log is the append-only history of one process. The zero value works; set the fields before the first Append. Safe for
// concurrent use.
type Log struct {
	// Wall stamps events that come without a WallNs (Unix ns); nil = they keep 0.
	Wall func() int64

	mu     sync.Mutex
	chunks [][]Event // all but the last are full; an event never moves once added
	n      int64
	grown  chan struct{} // closed by the next event; nil = no one waits
}

// NewLog is an empty log that stamps with wall (nil = none).
func NewLog(wall func() int64) *Log { return &Log{Wall: wall} }

// Append adds an event. It can be passed wherever a func(Event) is wanted.
func (l *Log) Append(e Event) {
	if e.WallNs == 0 && l.Wall != nil {
		e.WallNs = l.Wall()
	}
	l.mu.Lock()
	last := len(l.chunks) - 1
	if last < 0 || len(l.chunks[last]) == chunkSize {
		l.chunks = append(l.chunks, make([]Event, 0, chunkSize))
		last++
	}
	l.n++
	e.Seq = l.n
	l.chunks[last] = append(l.chunks[last], e)
	if l.grown != nil {
		close(l.grown)
		l.grown = nil
	}
	l.mu.Unlock()
}

// Len is the number of events, which is also the last Seq.
func (l *Log) Len() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.n
}

// parts are the events after seq, without copying.
func (l *Log) parts(seq int64) [][]Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq < 0 {
		seq = 0
	}
	if seq >= l.n {
		return nil
	}
	out := append([][]Event(nil), l.chunks[seq/chunkSize:]...)
	out[0] = out[0][seq%chunkSize:]
	return out
}

// since copies the events after seq.
func (l *Log) since(seq int64) []Event {
	parts := l.parts(seq)
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	out := make([]Event, 0, n)
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// Await returns the number of the first event after seq that matches, once there is one. The error is ctx's.
func (l *Log) Await(ctx context.Context, seq int64, match func(Event) bool) (int64, error) {
	for {
		for _, e := range l.since(seq) {
			if seq = e.Seq; match(e) {
				return seq, nil
			}
		}
		select {
		case <-l.after(seq):
		case <-ctx.Done():
			return seq, ctx.Err()
		}
	}
}

// after is closed once there are events after seq.
func (l *Log) after(seq int64) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.grown == nil {
		l.grown = make(chan struct{})
	}
	c := l.grown
	if l.n > seq {
		close(c)
		l.grown = nil
	}
	return c
}

// Snapshot copies all events.
func (l *Log) Snapshot() []Event { return l.since(0) }

// Chunks are all events in order, without copying. Read only.
func (l *Log) Chunks() [][]Event { return l.parts(0) }
