package store

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/server/store/db"
)

// How a write becomes durable. Callers wait; one goroutine, the writer, serves them all:
//
//	write, writeTogether ...   hand in a job: to s.jobs, or to s.bulk, which is served when s.jobs is empty or has had its share
//	collect                    takes a batch of jobs, and says whether to linger for more of them (linger.go)
//	run                        runs each job in the batch's one transaction (transaction.go, tx.go), those that came while it
//	                           lingered last:
//	    runApart                   in a savepoint, so that a failure undoes only this job's writes
//	    runTogether                without one; a failure after its first statement fails the whole batch
//	gathered.flush             writes what many jobs write alike, one statement for many rows (gathered.go, settled.go)
//	countReplays               adds what waits to be counted (replays.go)
//	Commit                     fails the whole batch, or makes all of it durable
//	announce                   tells the listeners which revisions and events there are now
//	close(job.done)            lets the callers go on
//
// Reads go past the writer. They wait only while the write-ahead log starts over (gate.go); reads of events until now wait
// for the commit in progress, too (pending.go).

// job is one write in progress.
type job struct {
	fn       func(*Tx) error
	together bool // needs no savepoint, see runTogether
	stage    atomic.Int32
	ran      chan struct{} // closed when fn has run
	err      error
	panicV   any
	done     chan struct{}
}

// bulkEvery is how often part of a bulk write gets its turn while other writes keep coming.
const bulkEvery = 50 * time.Millisecond

// Stages of a job. A caller may give up a job while it is queued, and may leave once it has run; in between, fn uses
// the caller's variables.
const (
	queued int32 = iota
	begun
	givenUp
)

// writeWait is how long a caller waits for a commit, shorter than a request may take.
const writeWait = 6 * time.Second

var errNoCommit = fmt.Errorf("%w: no commit within %s, or before the service stopped", ErrUnavailable, writeWait)

// write is writeThrough for callers who can't wait: after writeWait of wall time it fails with ErrUnavailable. By then
// the write has been dropped, or is in a commit whose result is unknown, so the caller must be able to repeat it.
func (s *Store) write(fn func(tx *Tx) error) error { return s.writeIn(s.jobs, apart(fn)) }

// writeBehind is write for part of a bulk write: every other write goes first.
func (s *Store) writeBehind(fn func(tx *Tx) error) error { return s.writeIn(s.bulk, apart(fn)) }

func (s *Store) writeIn(lane chan *job, j *job) error {
	over, end := s.patience.wait()
	defer end()
	return s.wait(lane, j, over)
}

// writeThrough runs fn in a transaction and returns when it is durable. Many writes share one commit; an fn that fails
// is rolled back alone. fn must use nothing but tx, must not block, and runs once. If a batch can't be committed, its
// writes fail with ErrUnavailable, as does every write after damage was found.
func (s *Store) writeThrough(fn func(tx *Tx) error) error { return s.wait(s.jobs, apart(fn), nil) }

// writeTogether is writeThrough for an fn that decides before it writes. It doesn't give up after writeWait: the ledger
// of commands has to know what became of each write, because "perhaps" would be no answer to whether a command was
// claimed. server/command limits how long its own callers wait.
func (s *Store) writeTogether(fn func(tx *Tx) error) error { return s.wait(s.jobs, together(fn), nil) }

// apart is a job whose failure undoes only its own writes.
func apart(fn func(*Tx) error) *job { return &job{fn: fn} }

// together is a job that decides before it writes. An error after its first statement is the disk's or the program's and
// fails the whole batch, which saves the two statements of a savepoint.
func together(fn func(*Tx) error) *job { return &job{fn: fn, together: true} }

func (s *Store) wait(lane chan *job, j *job, over <-chan struct{}) error {
	if s.health.corrupt.Load() {
		return fmt.Errorf("%w: %w", ErrUnavailable, ErrCorrupt)
	}
	j.ran, j.done = make(chan struct{}), make(chan struct{})
	select {
	case <-s.stop:
		return fmt.Errorf("%w: closed", ErrUnavailable)
	default:
	}
	select {
	case lane <- j:
		s.gather.came(len(s.jobs))
	case <-s.stop:
		return fmt.Errorf("%w: closed", ErrUnavailable)
	case <-over:
		return errNoCommit
	}
	select {
	case <-j.done:
	case <-over:
		if !j.stage.CompareAndSwap(queued, givenUp) {
			select {
			case <-j.ran:
			case <-j.done:
			}
			select {
			case <-j.done:
				return j.result()
			default:
			}
		}
		return errNoCommit
	case <-s.ended:
		select {
		case <-j.done:
		default:
			return fmt.Errorf("%w: closed", ErrUnavailable)
		}
	}
	return j.result()
}

func (j *job) result() error {
	if j.panicV != nil {
		panic(j.panicV) // on the caller's goroutine, where it belongs
	}
	return j.err
}

func (s *Store) writer() {
	defer close(s.ended)
	last := 0                      // size of the previous batch
	bulkAt := time.Duration(0)     // Mono of the last bulk job
	idle := make(chan struct{}, 1) // no writes for a while
	timer := clock.WallAfter(idleAfter, func() { notify(idle) })
	defer func() { timer.Stop() }()
	wrote := func() {
		s.boundWAL()
		timer.Stop()
		timer = clock.WallAfter(idleAfter, func() { notify(idle) })
	}
	for {
		select {
		case j := <-s.jobs:
			last = s.commit(s.collect(j, last))
			if clock.Mono()-bulkAt > bulkEvery {
				select {
				case b := <-s.bulk:
					bulkAt = clock.Mono()
					s.commit([]*job{b}, nil)
				default:
				}
			}
			wrote()
		case b := <-s.bulk:
			bulkAt = clock.Mono()
			s.commit(append(s.waiting(nil), b), nil) // behind those that came meanwhile
			wrote()
		case <-s.replays.due:
			s.commitReplays()
			wrote()
		case <-idle:
			if s.wal.size() > 0 {
				s.checkpoint("TRUNCATE")
				timer = clock.WallAfter(idleAfter, func() { notify(idle) }) // a reader may have been using the log
			}
		case <-s.stop:
			for { // finish what is queued
				select {
				case j := <-s.jobs:
					s.commit(s.collect(j, 0))
				default:
					s.commitReplays()
					return
				}
			}
		}
	}
}

func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// commit runs a batch in one transaction, then the rest of it, and answers each of its jobs. size is how many there were.
func (s *Store) commit(jobs []*job, rest func() []*job) (size int) {
	now, b := s.pending.begin(s.clk), batch{jobs: jobs}
	replays := s.replays.take()
	err := s.run(&b, now, rest, replays)
	s.pending.end()
	if err != nil {
		b.early = nil
	}
	s.replays.written(replays, b.early, err)
	s.doors.committed()
	s.committed(b.jobs, err)
	if err != nil {
		for _, j := range b.jobs {
			if j.panicV == nil {
				j.err = fmt.Errorf("%w: %w", ErrUnavailable, err)
			}
		}
	} else {
		s.running = max(0, s.running+b.running)
		s.told(len(b.jobs), b.took)
		s.announce(&b)
	}
	for _, j := range b.jobs {
		close(j.done)
	}
	return len(b.jobs)
}

// run runs the jobs in one transaction, as of now, and the rest as of when it has come.
func (s *Store) run(b *batch, now time.Time, rest func() []*job, replays map[string]int64) error {
	began := clock.Mono()
	tx, err := begin(s.writing, "BEGIN IMMEDIATE")
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var left gathered
	of := &statements{transaction: tx}
	q := db.New(of)
	if err := s.runJobs(b, b.jobs, func() *Tx { return s.tx(of, q, now, &left) }); err != nil {
		return err
	}
	if rest != nil {
		b.took = clock.Mono() - began
		done := len(b.jobs)
		b.jobs = rest()
		began, now = clock.Mono(), later(now, s.clk)
		if err := s.runJobs(b, b.jobs[done:], func() *Tx { return s.tx(of, q, now, &left) }); err != nil {
			return err
		}
	}
	last := s.tx(of, q, now, &left)
	if err := left.flush(last); err != nil {
		return err
	}
	if b.early, err = last.countReplays(replays); err != nil {
		return err
	}
	b.settled = left.settled.rows
	if err := s.addContent(last, b); err != nil {
		return err
	}
	if err := s.durable(tx.Commit); err != nil {
		return err
	}
	s.wal.writes += of.writes
	b.took += clock.Mono() - began
	return nil
}

// runJobs runs jobs of a batch.
func (s *Store) runJobs(b *batch, jobs []*job, tx func() *Tx) error {
	for _, j := range jobs {
		if !j.stage.CompareAndSwap(queued, begun) {
			continue
		}
		t, how := tx(), j.runApart
		if j.together {
			how = j.runTogether
		}
		if err := how(t); err != nil {
			return err
		}
		if j.err == nil && j.panicV == nil {
			b.raised, b.events, b.running = append(b.raised, t.pending...), append(b.events, t.noted...), b.running+t.running
		}
	}
	return nil
}

// runApart runs the job in a savepoint. An error means that the whole transaction is lost.
func (j *job) runApart(t *Tx) error {
	if err := t.batch.flush(t); err != nil { // it may look for those rows, and must not undo them
		return err
	}
	if _, err := t.Exec("SAVEPOINT job"); err != nil {
		return err
	}
	if j.run(t); j.err != nil || j.panicV != nil {
		if _, err := t.Exec("ROLLBACK TO job"); err != nil {
			return cause(j.err, err) // SQLite rolled back the whole transaction: disk full, I/O error
		}
	}
	_, err := t.Exec("RELEASE job")
	return err
}

// runTogether runs the job without a savepoint. An error means that the whole transaction is lost, which is so as soon as
// the job has written something: there is nothing to undo just that with.
func (j *job) runTogether(t *Tx) error {
	before := t.writes
	j.run(t)
	wrote := t.writes > before
	switch {
	case j.panicV != nil && wrote:
		return errPanicked
	case wrote, errors.Is(j.err, ErrUnavailable): // SQLite may have rolled back the whole transaction
		return j.err
	}
	return nil
}

var errPanicked = errors.New("a write of the same commit panicked")

// cause is why a transaction was given up: the error of its last write rather than the failure to roll back.
func cause(met, then error) error {
	if errors.Is(met, ErrUnavailable) {
		return met
	}
	return then
}

// run runs the job's function.
func (j *job) run(t *Tx) {
	defer close(j.ran)
	defer func() {
		if v := recover(); v != nil {
			j.panicV = v
		}
	}()
	if j.err = wrap(j.fn(t)); j.err == nil {
		t.finish()
	}
}
