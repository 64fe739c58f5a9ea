//go:build !cgo

package store

import (
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
)

// ErrNoDatabase: SQLite is written in C, and this program was built without cgo.
var ErrNoDatabase = errors.New("store: this build of doorlab has no database, so it runs no server: give --target, or use the Linux build")

const driver = "none"

func init() { sql.Register(driver, absent{}) }

// absent is a driver that opens nothing.
type absent struct{}

func (absent) Open(string) (sqldriver.Conn, error) { return nil, ErrNoDatabase }

func fault(error) (database, ours bool) { return false, false }

func corrupt(err error) bool { return errors.Is(err, ErrCorrupt) }

func ownError(err error) error { return err }
