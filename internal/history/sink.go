package history

import (
	"bufio"
	"errors"
	"io"
	"os"
	"sync"
)

// Sink writes a log's events to a file as they come, in order, on a goroutine
// of its own: appenders never wait for the disk. Whatever was appended before a
// Flush is with the operating system after it.
type Sink struct {
	log  *Log
	out  io.WriteCloser
	kick chan struct{}
	done chan struct{}

	mu      sync.Mutex
	cond    *sync.Cond
	written int64
	err     error
	closed  bool
}

// ErrSink is returned when a log already has a sink.
var ErrSink = errors.New("history: log already has a sink")

// SinkFile starts writing the log to a file (created or appended to), events
// from before included.
func (l *Log) SinkFile(path string) (*Sink, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	s, err := l.SinkTo(f)
	if err != nil {
		_ = f.Close()
	}
	return s, err
}

// SinkTo is SinkFile for any writer. ErrSink.
func (l *Log) SinkTo(out io.WriteCloser) (*Sink, error) {
	s := &Sink{log: l, out: out, kick: make(chan struct{}, 1), done: make(chan struct{})}
	s.cond = sync.NewCond(&s.mu)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sink != nil {
		return nil, ErrSink
	}
	l.sink = s
	go s.run()
	s.wake()
	return s, nil
}

func (s *Sink) wake() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

func (s *Sink) run() {
	defer close(s.done)
	w := bufio.NewWriterSize(s.out, 1<<16)
	seq, closed := int64(0), false
	for !closed {
		<-s.kick
		s.mu.Lock()
		closed = s.closed
		s.mu.Unlock()
		for parts := s.log.parts(seq); parts != nil; parts = s.log.parts(seq) {
			var err error
			for _, p := range parts {
				seq += int64(len(p))
				err = errors.Join(err, write(w, p))
			}
			s.wrote(seq, errors.Join(err, w.Flush()))
		}
	}
}

func (s *Sink) wrote(seq int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written = seq
	if s.err == nil {
		s.err = err
	}
	s.cond.Broadcast()
}

// Flush waits until everything appended so far is written, and returns the
// first error of the file.
func (s *Sink) Flush() error {
	n := s.log.Len()
	s.wake()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.written < n && !s.closed {
		s.cond.Wait()
	}
	return s.err
}

// Close flushes, ends the goroutine and closes the file.
func (s *Sink) Close() error {
	err := s.Flush()
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return err
	}
	s.log.mu.Lock()
	s.log.sink = nil
	s.log.mu.Unlock()
	s.wake()
	<-s.done
	return errors.Join(err, s.out.Close())
}
