package store

import (
	"os"
	"strconv"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// Limits on the write-ahead log. SQLite starts it over only when no reader needs it, which never happens by itself
// while readers overlap.
const (
	walLimit   = 16 << 20               // bytes; above it the log is started over once nobody reads
	walCrowded = walLimit * 3 / 2       // above it new reads are held up for that: they leave no gap
	walGate    = 50 * time.Millisecond  // how long new reads wait for that, per walLimit of size
	walGateMax = 5 * time.Second        // ... at most
	walPause   = 100 * time.Millisecond // pause for readers between two tries
	idleAfter  = 5 * time.Second        // without writes; then the log is emptied
	lockWait   = 5 * time.Second        // for a lock of another process
)

// wal is what the writer knows of the log; only its goroutine uses it.
type wal struct {
	path  string
	again time.Duration // when readers may be held up again; 0 = now
}

func (w *wal) size() int64 {
	info, err := os.Stat(w.path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// boundWAL starts the log over if it exceeds its limit and nobody reads from it. Otherwise the next commits try again.
// If none of them finds a gap between reads, new ones wait for those in progress; a commit never waits for a read.
func (s *Store) boundWAL() {
	size := s.wal.size()
	if size <= walLimit {
		return
	}
	if s.reading.Stats().InUse == 0 && s.checkpoint("RESTART") {
		s.reading.gate.open()
		return
	}
	if size <= walCrowded {
		return
	}
	if now := clock.Mono(); s.wal.again == 0 || now > s.wal.again {
		shut := min(walGate*time.Duration(size/walLimit), walGateMax)
		s.reading.gate.close(shut)
		s.wal.again = now + shut + walPause
	}
}

// checkpoint copies the log into the database without waiting for anyone. Its failure is not a commit's failure: the
// log stays, and the next one tries again.
func (s *Store) checkpoint(mode string) (done bool) {
	set := func(d time.Duration) {
		_, _ = s.writing.Exec("PRAGMA busy_timeout=" + strconv.FormatInt(d.Milliseconds(), 10))
	}
	set(0)
	defer set(lockWait)
	var busy, pages, moved int
	err := s.writing.QueryRow("PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &moved)
	s.found(err)
	return err == nil && busy == 0
}
