package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/must"
)

// fatten writes the i-th of a series of 256 KiB rows.
func fatten(s *Store, i int) error {
	return s.write(func(tx *Tx) error {
		return tx.setMeta(fmt.Sprint("n", i%40), strings.Repeat(fmt.Sprintf("%8d", i), 1<<15))
	})
}

// reading keeps a read transaction open until let is closed.
func reading(s *Store, begun chan<- struct{}, let <-chan struct{}) error {
	return s.moment(func(tx *Tx) error {
		var n int
		err := tx.QueryRow("SELECT COUNT(*) FROM meta").Scan(&n)
		close(begun)
		<-let
		return err
	})
}

// The log stays small even if readers overlap all the time.
func TestLogIsBoundedUnderReaders(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 { // so that nearly always one of them is reading
		begun := make(chan struct{})
		readers.Go(func() {
			for first := true; ; first = false {
				if err := s.moment(func(tx *Tx) error {
					var rows int
					err := tx.QueryRow("SELECT COUNT(*) FROM meta").Scan(&rows)
					if first {
						close(begun)
					}
					if err != nil {
						return err
					}
					// commits continue meanwhile
					return tx.QueryRow("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x < 30000) SELECT COUNT(*) FROM c").Scan(&rows)
				}); err != nil {
					t.Error(err)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
		<-begun
	}
	most := int64(0)
	for i := range 280 { // 70 MiB
		if err := fatten(s, i); err != nil && !errors.Is(err, ErrUnavailable) { // a slow machine; only the log matters here
			t.Error(err)
			break
		}
		most = max(most, s.wal.size())
	}
	close(stop)
	readers.Wait()
	t.Logf("log at most %d KiB", most>>10)
	if most > 3*walLimit {
		t.Errorf("the log grew to %d MiB under readers, want at most %d", most>>20, 3*walLimit>>20)
	}
}

// A long read makes the log grow and new reads wait, but no commit. When it ends, the log is restarted and the
// waiting reads proceed.
func TestLongReadHoldsNoCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := must.Get(Open(t.TempDir(), Options{}))(t)
		defer func() { _ = s.Close() }()
		begun, let := make(chan struct{}), make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			if err := reading(s, begun, let); err != nil {
				t.Error(err)
			}
		})
		<-begun
		began := time.Now()
		n := 0
		for ; s.wal.size() <= 2*walLimit; n++ {
			must.OK(t, fatten(s, n))
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("%d commits waited %s for a read, want 0", n, took)
		}

		var mu sync.Mutex
		var order []string
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, what)
		}
		all.Go(func() {
			if _, err := s.meta("probe"); err != nil {
				t.Error(err)
			}
			note("another read")
		})
		synctest.Wait()
		note("the long read's end")
		close(let)
		synctest.Wait()
		must.OK(t, fatten(s, n))
		all.Wait()
		if got, want := strings.Join(order, ", "), "the long read's end, another read"; got != want {
			t.Errorf("in the order %s; want %s", got, want)
		}
		if err := fatten(s, n+1); err != nil { // reuses the space
			t.Fatal(err)
		}
		if got := s.wal.size(); got > walLimit {
			t.Errorf("the log has %d MiB after the read, want at most %d", got>>20, walLimit>>20)
		}
	})
}

func (g *gate) isShut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut != nil
}

// Readers that are held back for a read that never ends get in eventually, and aren't held back again right away.
func TestGateOpensByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := must.Get(Open(t.TempDir(), Options{}))(t)
		defer func() { _ = s.Close() }()
		begun, let := make(chan struct{}), make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() { _ = reading(s, begun, let) })
		<-begun
		n := 0
		for ; s.wal.size() <= walCrowded; n++ {
			synctest.Wait()
			if s.reading.gate.isShut() { // a later commit may find a gap between reads
				t.Fatalf("reads are held up with a log of %d bytes, want them to be above %d only", s.wal.size(), walCrowded)
			}
			must.OK(t, fatten(s, n))
		}
		for _, want := range []time.Duration{walGate, 0} {
			must.OK(t, fatten(s, n))
			began := time.Now()
			if _, err := s.meta("probe"); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took != want {
				t.Errorf("a read waited %s, want %s", took, want)
			}
		}
		close(let)
		all.Wait()
	})
}

// An idle database has an empty log.
func TestLogIsEmptiedWhenIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := must.Get(Open(t.TempDir(), Options{}))(t)
		defer func() { _ = s.Close() }()
		if err := grow(s); err != nil || s.wal.size() == 0 {
			t.Fatalf("got %v, log of %d bytes, want a write that leaves a log", err, s.wal.size())
		}
		time.Sleep(idleAfter)
		synctest.Wait()
		if n := s.wal.size(); n != 0 {
			t.Errorf("the log has %d bytes after %s without writes, want 0", n, idleAfter)
		}
	})
}

// A commit doesn't copy anything into the database; the copier does, once there is enough.
func TestLogIsCopiedBesideCommits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := must.Get(Open(t.TempDir(), Options{}))(t)
		defer func() { _ = s.Close() }()
		size := func() int64 {
			synctest.Wait()
			return must.Get(os.Stat(s.path))(t).Size()
		}
		before := size()
		for i := range 30 {
			must.OK(t, fatten(s, i))
		}
		if got := size(); got != before {
			t.Errorf("the database has %d bytes after 30 commits, want %d: they copied the log", got, before)
		}
		must.OK(t, s.write(func(tx *Tx) error {
			for i := range copyAfter {
				if err := tx.setMeta("n", fmt.Sprint(i)); err != nil {
					return err
				}
			}
			return nil
		}))
		if got := size(); got < before+4<<20 {
			t.Errorf("the database has %d bytes after %d statements, want at least %d: nobody copied the log", got, copyAfter, before+4<<20)
		}
	})
}
