package store

import (
	"database/sql"
	"errors"
	"time"

	"github.com/doorlab/doorlab/internal/clock"
)

// ErrCorrupt: the database is damaged, or may be. After the first such error nothing more is written, because a damaged
// database may lose it.
var ErrCorrupt = errors.New("store: the database is corrupt")

// How long to wait between checks of a file that may be damaged; the pause doubles.
const (
	lookFirst = time.Second
	lookMost  = 5 * time.Minute
)

// found stops all writing at the first sign of damage. SQLite also reports a failed read (EIO) as damage, so the file
// is checked: if it is intact, writing resumes.
func (s *Store) found(err error) {
	if err == nil || !corrupt(err) || s.health.corrupt.Swap(true) {
		return
	}
	s.log.Error("the database may be damaged: no writes until its file has been checked", "error", err)
	go s.lookThrough()
}

// lookThrough ends when the file was found intact, or the store is closed.
func (s *Store) lookThrough() {
	for pause := lookFirst; ; pause = min(2*pause, lookMost) {
		err := s.quickCheck()
		if err == nil {
			s.log.Warn("the database is intact, only a read failed; it accepts writes again")
			s.health.corrupt.Store(false)
			return
		}
		s.log.Error("the database accepts no writes", "error", err)
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

// quickCheck checks the file on its own connection, which has nothing of it in memory.
func (s *Store) quickCheck() (err error) {
	conn, err := sql.Open(driver, dsn(s.path, "mode", "ro", "_query_only", "1"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return quickCheck(conn)
}
