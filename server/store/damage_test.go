package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/doorlab/doorlab/internal/must"
)

// errMisread is SQLite's error for damage, and for a read that failed on disk.
var errMisread = fmt.Errorf("of a commit: %w", sqlite3.Error{Code: sqlite3.ErrCorrupt})

// spoil damages a database's file.
func spoil(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "doorlab.db")
	b := must.Get(os.ReadFile(path))(t)
	for i := 3 * 4096; i < len(b); i += 512 {
		copy(b[i:], "this is not a page of a database")
	}
	must.OK(t, os.WriteFile(path, b, 0o600))
}

// If damage shows up while the database is open, all writing ends for good. A damaged file isn't opened.
func TestCorruption(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s := must.Get(Open(dir, Options{}))(t)
		must.Get(s.Seed(testWorld(), pepper))(t)
		time.Sleep(2 * idleAfter) // so that the log is empty
		synctest.Wait()
		spoil(t, dir)
		s.committed(nil, errMisread)
		for range 3 {
			if err := s.write(func(*Tx) error { return nil }); !errors.Is(err, ErrUnavailable) || !errors.Is(err, ErrCorrupt) {
				t.Errorf("a write after damage was found: got %v, want ErrUnavailable and ErrCorrupt", err)
			}
			if err := s.Ping(); !errors.Is(err, ErrCorrupt) {
				t.Errorf("ready after damage was found: got %v, want %v", err, ErrCorrupt)
			}
			time.Sleep(2 * lookMost)
			synctest.Wait()
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if s, err := Open(dir, Options{}); !errors.Is(err, ErrCorrupt) {
			if err == nil {
				_ = s.Close()
			}
			t.Errorf("a damaged file was opened: got %v, want %v", err, ErrCorrupt)
		}
		must.OK(t, os.WriteFile(filepath.Join(dir, "doorlab.db"), []byte(strings.Repeat("no database ", 1000)), 0o600))
		if _, err := Open(dir, Options{}); err == nil || strings.Count(err.Error(), "store: ") > 1 {
			t.Errorf("a file that is no database: got %v, want an error with the package's name at most once", err)
		}
	})
}

// A false alarm stops writes only until the file has been checked.
func TestFalseAlarm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := must.Get(Open(t.TempDir(), Options{}))(t)
		defer func() { _ = s.Close() }()
		if err := s.moment(func(*Tx) error { return errMisread }); !errors.Is(err, errMisread) {
			t.Errorf("the read that failed: got %v, want %v", err, errMisread)
		}
		synctest.Wait()
		if err := s.Ping(); err != nil {
			t.Errorf("on a sound file: got %v, want the store ready", err)
		}
		if err := grow(s); err != nil {
			t.Errorf("a write to a sound file: got %v, want no error", err)
		}
	})
}
