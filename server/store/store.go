// Package store keeps everything durable in SQLite: places, grants, keys,
// records, the command ledger. Every write goes through one goroutine with
// group commit and is answered after the batch is on disk; reads have a pool of
// their own. It imports the rules' types (server/auth, server/place,
// server/grant, server/record), internal/access and internal/wire; only it touches SQL.
package store

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/mattn/go-sqlite3"
	"github.com/pressly/goose/v3"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/server/rule"
	"github.com/doorlab/doorlab/server/store/db"
)

// Errors of the store.
var (
	// ErrUnavailable: the write did not become durable, or the database cannot be read now.
	ErrUnavailable = errors.New("store: storage unavailable")
	// ErrNewer: the data directory belongs to a newer version of the program.
	ErrNewer = errors.New("store: database is newer than this program")
	// ErrNotFound: no such row. The rules know it as rule.ErrNotFound.
	ErrNotFound = rule.ErrNotFound
)

//go:generate env CGO_ENABLED=0 go tool -C ../../tools/sqlc sqlc generate -f ../../server/store/sqlc.yaml

//go:embed migrations/*.sql
var migrations embed.FS

// Options of a Store. The zero value works.
type Options struct {
	Clock    clock.Clock // nil = clock.Real
	MaxBatch int         // writes a commit at most; 0 = 512
	Readers  int         // read connections; 0 = 8
}

// Store is an open database. Close ends it.
type Store struct {
	clk    clock.Clock
	write  *sql.DB // one connection
	read   *sql.DB
	q      *db.Queries // on read
	master []byte
	max    int

	jobs   chan *job
	stop   chan struct{} // closed by Close
	ended  chan struct{} // closed when the writer has ended
	closed sync.Once

	visits visits

	mu         sync.Mutex
	onRevision []func(placeID string, rev int64)
	history    func(history.Event)
}

// Open opens or creates the database in dir. Errors: ErrNewer; whatever the
// file system says otherwise.
func Open(dir string, o Options) (*Store, error) {
	if o.Clock == nil {
		o.Clock = clock.Real{}
	}
	if o.MaxBatch <= 0 {
		o.MaxBatch = 512
	}
	if o.Readers <= 0 {
		o.Readers = 8
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	master, err := masterSecret(filepath.Join(dir, "server.secret"))
	if err != nil {
		return nil, err
	}
	s := &Store{
		clk: o.Clock, master: master, max: o.MaxBatch,
		jobs: make(chan *job, 2*o.MaxBatch), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	if err := s.open(filepath.Join(dir, "doorlab.db"), o.Readers); err != nil {
		_ = s.closeDBs()
		return nil, err
	}
	go s.writer()
	return s, nil
}

func (s *Store) open(path string, readers int) error {
	var err error
	if s.write, err = sql.Open("sqlite3", dsn(path, "_journal_mode", "WAL", "_txlock", "immediate")); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	s.write.SetMaxOpenConns(1)
	var sync int
	// go-sqlite3's default in WAL mode is NORMAL, which loses acknowledged commits at a power loss [CMD-6].
	if err := s.write.QueryRow("PRAGMA synchronous").Scan(&sync); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if sync != 2 {
		return fmt.Errorf("store: synchronous is %d, must be 2 (FULL)", sync)
	}
	if err := migrate(s.write); err != nil {
		return err
	}
	if s.read, err = sql.Open("sqlite3", dsn(path, "mode", "ro", "_query_only", "1", "_txlock", "deferred")); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	s.q = db.New(s.read)
	return nil
}

func dsn(path string, extra ...string) string {
	q := url.Values{}
	q.Set("_synchronous", "FULL")
	q.Set("_busy_timeout", "5000")
	q.Set("_foreign_keys", "1")
	for i := 0; i < len(extra); i += 2 {
		q.Set(extra[i], extra[i+1])
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

func migrate(conn *sql.DB) error {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, conn, sub)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	have, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	sources := p.ListSources()
	if newest := sources[len(sources)-1].Version; have > newest {
		return fmt.Errorf("%w: schema %d, this program knows %d", ErrNewer, have, newest)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// masterSecret reads the server's secret, or makes one.
func masterSecret(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err == nil && len(b) == 32 {
		return b, nil
	}
	if err == nil {
		return nil, fmt.Errorf("store: %s is damaged", filepath.Base(path))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("store: %w", err)
	}
	b = make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	tmp := path + ".new"
	if err := os.WriteFile(tmp, b, 0o600); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return b, nil
}

// Secret derives a 32-byte secret for one purpose from the server's own, which
// lives beside the database and survives restarts.
func (s *Store) Secret(purpose string) []byte {
	m := hmac.New(sha256.New, s.master)
	m.Write([]byte(purpose))
	return m.Sum(nil)
}

// Clock is the domain clock the store was opened with.
func (s *Store) Clock() clock.Clock { return s.clk }

// Read is the read-only pool.
func (s *Store) Read() *sql.DB { return s.read }

// Ping reports whether the store takes writes and reads; ErrUnavailable otherwise.
func (s *Store) Ping() error {
	if err := s.read.Ping(); err != nil {
		return wrap(err)
	}
	return s.Write(func(*sql.Tx) error { return nil })
}

// Close ends the writer after what it has begun, and closes the database.
// Writes from then on fail with ErrUnavailable.
func (s *Store) Close() error {
	s.closed.Do(func() { close(s.stop) })
	<-s.ended
	return s.closeDBs()
}

func (s *Store) closeDBs() error {
	var errs []error
	for _, conn := range []*sql.DB{s.read, s.write} {
		if conn != nil {
			errs = append(errs, conn.Close())
		}
	}
	return errors.Join(errs...)
}

// wrap turns an error of SQLite itself into ErrUnavailable, a missing row into
// ErrNotFound, and leaves everything else alone.
func wrap(err error) error {
	var se sqlite3.Error
	switch {
	case err == nil, errors.Is(err, ErrUnavailable):
		return err
	case errors.Is(err, sql.ErrNoRows):
		return ErrNotFound
	case errors.Is(err, sql.ErrConnDone), errors.Is(err, sql.ErrTxDone):
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	case errors.As(err, &se):
		switch se.Code {
		case sqlite3.ErrConstraint, sqlite3.ErrError, sqlite3.ErrMisuse, sqlite3.ErrMismatch, sqlite3.ErrRange:
			return err // ours: a fault of the program
		}
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}
