package history

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// Errors of a Spool: its recording lacks events, so it never gets a closing line.
var (
	ErrOverflow = errors.New("history: events came faster than the disk could take them; starting another recording replaces this one")
	ErrTooLong  = errors.New("history: the recording has reached its limit; starting another replaces it")
	// ErrReplaced: the recording that the run began or joined has ended, and another one has begun since.
	ErrReplaced = errors.New("history: the recording of this run has ended, and another one has begun since: " +
		"the process was started again, the recording became incomplete, or somebody else ended it")
)

const (
	spoolLimit   = 1 << 30 // bytes on disk, compressed: some 100 million events
	spoolPending = 1 << 16 // events in memory that aren't written yet
)

// Spool is the history of a process that runs forever: nothing is recorded
// until a recording is requested, and then on disk, compressed and bounded. While nothing
// is recorded it keeps what a recording has to begin with: which boards and
// doors there are, who is online and what it has applied, one event for each. All
// methods may be called at any time from any goroutine.
type Spool struct {
	dir   string
	wall  func() int64
	limit int64
	room  int // pending events, beside the standing ones

	on       atomic.Bool // file != nil
	mu       sync.Mutex
	moved    sync.Cond // written, err or file changed
	standing Standing
	file     *scratch // nil = nothing is recorded
	users    int      // runs that asked for the recording
	pending  []Event
	most     int // pending ones
	id       string
	since    int64 // Unix ns of its beginning, by wall; 0 = unknown
	n        int64 // the last Seq
	written  int64 // ... in the file
	size     int64 // of the file
	err      error // the recording is incomplete
}

// NewSpool is a spool that records into an unnamed file of dir and stamps events
// without a WallNs with wall.
func NewSpool(dir string, wall func() int64) *Spool {
	s := &Spool{dir: dir, wall: wall, limit: spoolLimit, room: spoolPending}
	s.moved.L = &s.mu
	return s
}

// Append adds an event without waiting for the disk.
func (s *Spool) Append(e Event) {
	if !s.on.Load() && !stands(e.Kind) { // most events, nearly always
		return
	}
	s.append(e)
}

func (s *Spool) append(e Event) {
	if e.WallNs == 0 && s.wall != nil {
		e.WallNs = s.wall()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Kind != Content { // the server sends content again when a recording begins
		s.standing.See(e)
	}
	if s.file != nil {
		s.add(e)
	}
}

// add queues an event for the file; s.mu is held.
func (s *Spool) add(e Event) {
	s.n++
	e.Seq = s.n
	switch {
	case s.err != nil:
	case len(s.pending) >= s.most:
		s.err = ErrOverflow
	default:
		s.pending = append(s.pending, e)
	}
	s.moved.Broadcast()
}

// Recording reports whether events are recorded.
func (s *Spool) Recording() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file != nil
}

// Start starts a recording, or joins the current one. fresh: a new one was started, and so far holds only the standing
// events. It replaces one that is incomplete; whoever needs the events of that one sees by the recording's id that they
// are missing. Errors: the file system's.
func (s *Spool) Start() (fresh bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil || s.err != nil {
		if err := s.begin(); err != nil {
			return false, err
		}
		fresh = true
	}
	s.users++
	return fresh, nil
}

// begin begins a recording with the standing events; s.mu is held.
func (s *Spool) begin() error {
	f, err := newScratch(s.dir)
	if err != nil {
		return err
	}
	s.pending = s.standing.Events()
	s.most = s.room + len(s.pending) // of a large fleet these alone are more
	s.file, s.id, s.n, s.written, s.size, s.err = f, rand.Text(), int64(len(s.pending)), 0, 0, nil
	if s.wall != nil {
		s.since = s.wall()
	}
	s.on.Store(true)
	s.moved.Broadcast() // the previous file's writer ends
	go s.write(f)
	return nil
}

// Read starts a recording for somebody who only reads it, unless there is one that is complete or that a run uses. It lasts
// until the next Stop of the last user. fresh and errors: as Start.
func (s *Spool) Read() (fresh bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil || s.err != nil && s.users == 0 {
		return true, s.begin()
	}
	return false, nil
}

// Fail makes the recording incomplete for a reason, so that the next Start replaces it.
func (s *Spool) Fail(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = cmp.Or(s.err, why)
	s.moved.Broadcast()
}

// Stop ends the recording once no one else who started it needs it, and frees its space. over: it has ended.
func (s *Spool) Stop() (over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return false
	}
	if s.users = max(0, s.users-1); s.users > 0 {
		return false
	}
	s.file, s.pending = nil, nil // write closes it
	s.on.Store(false)
	s.moved.Broadcast()
	return true
}

// Position is the end of the recording so far.
func (s *Spool) Position() Position {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Position{s.id, s.n}
}

// Len is the number of events, which is also the last Seq.
func (s *Spool) Len() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// Size is how many bytes the recording takes on disk.
func (s *Spool) Size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// write writes the events of one recording to its file until it ends.
func (s *Spool) write(f *scratch) {
	defer func() { _ = f.close() }()
	for {
		s.mu.Lock()
		for s.file == f && len(s.pending) == 0 {
			s.moved.Wait()
		}
		if s.file != f {
			s.mu.Unlock()
			return
		}
		batch := s.pending
		s.pending = nil
		at := s.size
		s.mu.Unlock()

		packed, err := pack(batch)
		if err == nil && at+int64(len(packed)) > s.limit {
			err = ErrTooLong
		}
		if err == nil {
			_, err = f.WriteAt(packed, at)
		}
		s.mu.Lock()
		if s.file == f {
			s.written += int64(len(batch))
			if err == nil {
				s.size = at + int64(len(packed))
			} else if s.err == nil {
				s.err = err
			}
			s.moved.Broadcast()
		}
		s.mu.Unlock()
	}
}

// pack encodes events as one member of a gzip file.
func pack(events []Event) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	enc := encoder(z)
	for i := range events {
		if err := enc.Encode(&events[i]); err != nil {
			return nil, err
		}
	}
	err = z.Close()
	return b.Bytes(), err
}

// Dated is a writer of a history whose reader should know when the recording began; it is told before the first event.
type Dated interface{ Began(unixNs int64) }

// WriteSince writes the recording's events after seq as a complete history of their own; without a recording, an empty
// one. If events are missing, it returns ErrOverflow, ErrTooLong or the disk's error, and the closing line is missing.
func (s *Spool) WriteSince(w io.Writer, seq int64) error {
	s.mu.Lock()
	since := s.since
	s.mu.Unlock()
	if dated, ok := w.(Dated); ok && since > 0 {
		dated.Began(since)
	}
	out := NewWriter(w)
	id, broken := s.lines(func(n int64, line []byte) error {
		if n <= seq {
			return nil
		}
		return out.line(line)
	})
	out.Recording = id
	if broken != nil {
		return errors.Join(broken, out.buf.Flush())
	}
	_, err := out.Close()
	return err
}

// Each calls f, in order, with the events whose line contains mark, such as an id. Errors: as WriteSince, after the
// events that exist.
func (s *Spool) Each(mark string, f func(*Event)) error {
	_, err := s.lines(func(_ int64, line []byte) error {
		if !bytes.Contains(line, []byte(mark)) {
			return nil
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		f(&e)
		return nil
	})
	return err
}

// lines calls f with the number and the text of each line recorded so far, once those are on disk. id is the recording's.
func (s *Spool) lines(f func(n int64, line []byte) error) (id string, err error) {
	s.mu.Lock()
	file, n := s.file, s.n
	if file != nil {
		id = s.id
	}
	for s.file == file && s.file != nil && s.written < n && s.err == nil {
		s.moved.Wait()
	}
	size, broken, replaced := s.size, s.err, s.file != file
	s.mu.Unlock()
	if replaced {
		return id, ErrReplaced
	}
	if file == nil || size == 0 {
		return id, broken
	}
	z, err := gzip.NewReader(io.NewSectionReader(file, 0, size))
	if err != nil {
		return id, err
	}
	lines := bufio.NewReaderSize(z, 1<<16)
	for i := range n {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return id, errors.Join(broken, err)
		}
		if err := f(i+1, line); err != nil {
			return id, err
		}
	}
	return id, broken
}
