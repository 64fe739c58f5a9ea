//go:build cgo

package store

import (
	"database/sql"
	"errors"
	"strconv"

	"github.com/mattn/go-sqlite3"
)

// driver is SQLite with settings that a data source name can't express: temporary tables and indexes stay in memory, so
// that a full or read-only disk doesn't break reads, the log shrinks when it starts over, and no commit copies it into
// the database: the copier does.
const driver = "doorlab-sqlite3"

func init() {
	sql.Register(driver, &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		_, err := c.Exec("PRAGMA temp_store=MEMORY; PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit="+strconv.Itoa(walLimit), nil)
		return err
	}})
}

// fault reports whether an error is the database's, and if so whether our program caused it.
func fault(err error) (database, ours bool) {
	var se sqlite3.Error
	if !errors.As(err, &se) {
		return false, false
	}
	switch se.Code {
	case sqlite3.ErrConstraint, sqlite3.ErrError, sqlite3.ErrMisuse, sqlite3.ErrMismatch, sqlite3.ErrRange:
		return true, true
	}
	return true, false
}

// corrupt reports whether an error says that the database file is damaged.
func corrupt(err error) bool {
	var se sqlite3.Error
	return errors.Is(err, ErrCorrupt) || errors.As(err, &se) && (se.Code == sqlite3.ErrCorrupt || se.Code == sqlite3.ErrNotADB)
}

// ownError is SQLite's own error in what goose says, which is what went wrong; without one, all that goose says.
func ownError(err error) error {
	if own, ok := errors.AsType[sqlite3.Error](err); ok {
		return own
	}
	return err
}
