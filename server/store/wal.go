package store

import (
	"database/sql"
	"os"
	"strconv"
	"sync/atomic"
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
	copyAfter  = 2000                   // statements, each about a page, until the log is copied into the database
	copyQuick  = 10 * time.Millisecond  // what came in while a copy took less can be left to the writer
	copyMost   = 3                      // copies in a row
	lockWait   = 5 * time.Second        // for a lock of another process
)

// wal is what the writer knows of the log; only its goroutine uses it.
type wal struct {
	path   string
	again  time.Duration // when readers may be held up again; 0 = now
	writes int           // statements since the log was last copied
	large  bool          // the log exceeds its limit
}

// copier copies the log into the database beside the commits, on a connection of its own: SQLite would do it within a
// commit, and that one and those queued behind it would wait for a thousand pages to reach the disk.
type copier struct {
	conn   *sql.DB
	file   *os.File // the database. Closed after all connections: closing it takes away this process's locks on it
	due    chan struct{}
	ended  chan struct{} // closed when the copier has ended
	copied atomic.Bool   // since the log exceeded its limit
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
	large := size > walLimit
	if large && !s.wal.large {
		s.copier.copied.Store(false)
	}
	s.wal.large = large
	if large || s.wal.writes >= copyAfter {
		s.wal.writes = 0
		notify(s.copier.due)
	}
	if !large {
		return
	}
	// Once the log has been copied, little is left to copy here, while commits wait.
	if (s.copier.copied.Load() || size > walCrowded) && s.reading.Stats().InUse == 0 && s.checkpoint("RESTART") {
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

// copying copies the log whenever it is due, until the store is closed.
func (s *Store) copying() {
	defer close(s.copier.ended)
	for {
		select {
		case <-s.copier.due:
			s.copyLog()
		case <-s.stop:
			return
		}
	}
}

// copyLog copies as much of the log as readers allow, without waiting for anyone, and again what came in meanwhile if
// that took long. While commits go on, SQLite copies without telling the disk to keep the pages and leaves that to
// whoever starts the log over, the writer; so the disk is told here.
func (s *Store) copyLog() {
	for range copyMost {
		began := clock.Mono()
		var busy, pages, moved int
		err := s.copier.conn.QueryRow("PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &moved)
		s.found(err)
		if err == nil {
			err = s.copier.file.Sync()
		}
		if err != nil { // the log stays; whoever starts it over meets the same disk
			return
		}
		s.copier.copied.Store(true)
		if clock.Mono()-began < copyQuick {
			return
		}
	}
}
