package store

import (
	"database/sql"
	"errors"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// ErrCorrupt: the database is damaged, or may be. From the first such error on
// nothing is written: what a damaged database takes may not be there later.
var ErrCorrupt = errors.New("store: the database is corrupt")

// Pauses between two looks through a file that may be damaged; they double.
const (
	lookFirst = time.Second
	lookMost  = 5 * time.Minute
)

// found stops all writing at the first sign of damage. SQLite reports a read that
// the disk failed (EIO) as damage, too, so the file is looked through: if it is
// whole, writing goes on.
func (s *Store) found(err error) {
	if err == nil || !corrupt(err) || s.health.corrupt.Swap(true) {
		return
	}
	s.log.Error("the database may be damaged: nothing is written until its file has been looked through", "error", err)
	go s.lookThrough()
}

// lookThrough ends when the file was found whole, or the store is closed.
func (s *Store) lookThrough() {
	for pause := lookFirst; ; pause = min(2*pause, lookMost) {
		err := s.quickCheck()
		if err == nil {
			s.log.Warn("the database isn't damaged, a read had failed; it takes writes again")
			s.health.corrupt.Store(false)
			return
		}
		s.log.Error("the database takes no writes", "error", err)
		over := make(chan struct{})
		timer := clock.WallAfter(pause, func() { close(over) })
		select {
		case <-over:
		case <-s.stop:
			timer.Stop()
			return
		}
	}
}

// quickCheck looks through the file on a connection of its own, which has nothing of it in memory.
func (s *Store) quickCheck() (err error) {
	conn, err := sql.Open(driver, dsn(s.path, "mode", "ro", "_query_only", "1"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return quickCheck(conn)
}
