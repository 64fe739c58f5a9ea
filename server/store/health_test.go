package store

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
)

// fill limits the database to its present pages, like a full disk; the returned function makes room again.
func fill(t *testing.T, s *Store) (free func()) {
	t.Helper()
	limit := func(pages int) {
		must.OK(t, s.writeThrough(func(tx *Tx) error {
			var n int
			return tx.QueryRow(fmt.Sprint("PRAGMA max_page_count=", pages)).Scan(&n)
		}))
	}
	limit(1)             // SQLite takes the present size for anything smaller
	for grow(s) == nil { // uses up the free space within it
	}
	return func() { limit(1 << 30) }
}

// grow writes a row that needs a few new pages.
func grow(s *Store) error {
	return s.write(func(tx *Tx) error { return tx.setMeta("big "+rand.Text(), strings.Repeat("x", 20<<10)) })
}

// On a full disk, writes fail with that error, the store isn't ready, and one line per second is logged. Once there
// is room again, it becomes ready by itself.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := must.Get(Open(t.TempDir(), Options{Log: slog.New(slog.NewTextHandler(&log, nil))}))(t)
		defer func() { _ = s.Close() }()
		if err := s.Ping(); err != nil {
			t.Fatalf("at first: got %v, want the store ready", err)
		}
		free := fill(t, s)
		for range 100 {
			if err := grow(s); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "full") || strings.Contains(err.Error(), "savepoint") {
				t.Fatalf("a write to a full disk: got %v, want ErrUnavailable that says full", err)
			}
			if err := s.Ping(); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "full") {
				t.Fatalf("ready: got %v, want %v and %q in it", err, ErrUnavailable, "full")
			}
			time.Sleep(100 * time.Millisecond) // fake time, ten seconds in total
		}
		time.Sleep(time.Hour)
		if err := s.Ping(); !errors.Is(err, ErrUnavailable) {
			t.Errorf("an hour without writes: got %v, want ErrUnavailable", err)
		}
		if n := strings.Count(log.String(), "accepts no writes"); n > 12 || n < 5 {
			t.Errorf("%d lines in ten seconds, want one a second", n)
		}
		free()
		time.Sleep(pingFailed)
		if err := s.Ping(); err != nil {
			t.Errorf("with room again: got %v, want the store ready", err)
		}
		if err := grow(s); err != nil {
			t.Error(err)
		}
	})
}

// If the disk doesn't respond, callers are told in time. A write that was reported as failed doesn't happen later,
// unless it was already in the commit.
func TestWriteDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := must.Get(Open(t.TempDir(), Options{}))(t)
		defer func() { _ = s.Close() }()
		stall, stalled := make(chan struct{}), make(chan error)
		go func() { stalled <- s.writeThrough(func(*Tx) error { <-stall; return nil }) }()
		synctest.Wait()
		began := time.Now()
		if err := s.write(func(tx *Tx) error { return tx.setMeta("late", "1") }); !errors.Is(err, ErrUnavailable) {
			t.Errorf("got %v, want %v", err, ErrUnavailable)
		}
		if took := time.Since(began); took != writeWait {
			t.Errorf("answered after %s, want %s", took, writeWait)
		}
		began = time.Now()
		if err := s.Ping(); !errors.Is(err, ErrUnavailable) || time.Since(began) > pingWait {
			t.Errorf("ready after %s: %v, want at most %s and %v", time.Since(began), err, pingWait, ErrUnavailable)
		}
		close(stall)
		if err := <-stalled; err != nil {
			t.Errorf("the write that waited: got %v, want no error", err)
		}
		synctest.Wait()
		if v, err := s.meta("late"); v != "" || err != nil {
			t.Errorf("a failed write happened later: got %q, %v, want nothing", v, err)
		}
		if err := s.Ping(); err != nil {
			t.Errorf("afterwards: got %v, want the store ready", err)
		}
	})
}

// A commit doesn't wait for readers, however many there are, even with a history.
func TestWriterWaitsForNoReader(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	var told int
	must.OK(t, s.SetHistory(func(e history.Event) { told++ }))
	told = 0
	for range 8 { // the entire pool
		tx := must.Get(s.reading.BeginTx(ctx, nil))(t)
		defer func() { _ = tx.Rollback() }()
		must.Get(tx.Exec("SELECT * FROM meta"))(t)
	}
	must.OK(t, s.write(func(tx *Tx) error {
		rev, err := tx.raise("plc_a")
		if err != nil {
			return err
		}
		return tx.q.SetHoursRev(ctx, rev, "plc_a")
	}))
	if told != 2 { // the commit and the hours
		t.Errorf("the history got %d events of the commit, want 2", told)
	}
}
