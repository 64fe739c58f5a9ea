package store

import (
	"os"
	"strconv"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// Bounds of the write-ahead log. SQLite starts it over only when no reader needs
// it; under readers that overlap that never happens by itself.
const (
	walLimit   = 16 << 20               // bytes; above it the writer starts the log over
	walWait    = 50 * time.Millisecond  // how long it waits for readers then, per walLimit of size
	walWaitMax = time.Second            // ... at most
	walPause   = 100 * time.Millisecond // between two tries
	idleAfter  = 5 * time.Second        // without writes; then the log is emptied
	lockWait   = 5 * time.Second        // for a lock of another connection, otherwise
)

// wal is what the writer knows of the log; only its goroutine uses it.
type wal struct {
	path  string
	tried time.Duration // when the log was last to be started over
}

func (w *wal) size() int64 {
	info, err := os.Stat(w.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// boundWAL starts the log over when it has grown over its limit. Readers that hold
// it are waited for a moment only; the next commits try again.
func (s *Store) boundWAL() {
	size := s.wal.size()
	if size <= walLimit || clock.Mono()-s.wal.tried < walPause {
		return
	}
	s.checkpoint("RESTART", min(walWait*time.Duration(size/walLimit), walWaitMax))
	s.wal.tried = clock.Mono()
}

// checkpoint brings the log into the database. Its failure is not a commit's:
// the log stays, and is tried again.
func (s *Store) checkpoint(mode string, wait time.Duration) {
	set := func(d time.Duration) {
		_, _ = s.writing.Exec("PRAGMA busy_timeout=" + strconv.FormatInt(d.Milliseconds(), 10))
	}
	set(wait)
	defer set(lockWait)
	var busy, pages, done int
	s.found(s.writing.QueryRow("PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &done))
}
