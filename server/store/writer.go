package store

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// job is one Write under way.
type job struct {
	fn     func(*sql.Tx) error
	err    error
	panicV any
	done   chan struct{}
}

// Group commit: nobody lingers while few wait; a crowd is worth up to a
// millisecond, it lifts throughput by half.
const (
	crowd      = 16
	lingerSome = 500 * time.Microsecond
	lingerMany = time.Millisecond
)

// Write runs fn in a transaction and returns when it is durable. Many Writes
// share one commit; an fn that fails is rolled back alone. fn must use nothing
// but tx, must not block, and runs once. A batch that cannot be committed
// fails with ErrUnavailable.
func (s *Store) Write(fn func(tx *sql.Tx) error) error {
	j := &job{fn: fn, done: make(chan struct{})}
	select {
	case <-s.stop:
		return fmt.Errorf("%w: closed", ErrUnavailable)
	default:
	}
	select {
	case s.jobs <- j:
	case <-s.stop:
		return fmt.Errorf("%w: closed", ErrUnavailable)
	}
	select {
	case <-j.done:
	case <-s.ended:
		select {
		case <-j.done:
		default:
			return fmt.Errorf("%w: closed", ErrUnavailable)
		}
	}
	if j.panicV != nil {
		panic(j.panicV) // on the caller's goroutine, where it belongs
	}
	return j.err
}

func (s *Store) writer() {
	defer close(s.ended)
	last := 0 // size of the batch before
	for {
		select {
		case j := <-s.jobs:
			batch := s.collect(j, last)
			last = len(batch)
			s.commit(batch)
		case <-s.stop:
			for { // what is already queued still counts
				select {
				case j := <-s.jobs:
					s.commit(s.collect(j, 0))
				default:
					return
				}
			}
		}
	}
}

// collect gathers a batch that begins with first.
func (s *Store) collect(first *job, last int) []*job {
	batch := []*job{first}
	drain := func() {
		for len(batch) < s.max {
			select {
			case j := <-s.jobs:
				batch = append(batch, j)
			default:
				return
			}
		}
	}
	drain()
	wait := time.Duration(0)
	if n := max(len(batch), last); n > 8*crowd {
		wait = lingerMany
	} else if n > crowd {
		wait = lingerSome
	}
	if wait == 0 || len(batch) >= s.max {
		return batch
	}
	over := make(chan struct{})
	t := clock.WallAfter(wait, func() { close(over) })
	defer t.Stop()
	for len(batch) < s.max {
		select {
		case j := <-s.jobs:
			batch = append(batch, j)
		case <-over:
			return batch
		}
	}
	return batch
}

// commit runs a batch in one transaction and answers every job of it.
func (s *Store) commit(batch []*job) {
	st, err := s.run(batch)
	if err != nil {
		for _, j := range batch {
			if j.panicV == nil {
				j.err = fmt.Errorf("%w: %w", ErrUnavailable, err)
			}
		}
	} else {
		s.announce(st)
	}
	for _, j := range batch {
		close(j.done)
	}
}

func (s *Store) run(batch []*job) (st *txState, err error) {
	tx, err := s.write.BeginTx(ctx, nil) // never a cancellable context
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback()
		}
	}()
	st = begin(tx, s.clk)
	defer end(tx)
	for _, j := range batch {
		if _, err := tx.Exec("SAVEPOINT job"); err != nil {
			return nil, err
		}
		s.call(j, tx, st)
		if j.err != nil || j.panicV != nil {
			st.drop()
			if _, err := tx.Exec("ROLLBACK TO job"); err != nil {
				return nil, err // SQLite gave the whole transaction up: disk full, I/O error
			}
		}
		if _, err := tx.Exec("RELEASE job"); err != nil {
			return nil, err
		}
		st.keep()
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	return st, nil
}

// call runs one job's function and then writes the digests it changed.
func (s *Store) call(j *job, tx *sql.Tx, st *txState) {
	defer func() {
		if v := recover(); v != nil {
			j.panicV = v
		}
	}()
	if j.err = wrap(j.fn(tx)); j.err == nil {
		j.err = wrap(st.flush(tx))
	}
}
