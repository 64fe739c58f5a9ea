// Package store keeps everything durable in SQLite: places, grants, keys, records, the command ledger. Every write goes
// through one goroutine with group commit and is answered after its batch is on disk; reads have their own pool. It
// decides nothing: it implements the Store and Tx interfaces that the rules declare. No other package uses SQL.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/recent"
	"github.com/doorlab/doorlab/server/age"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/store/db"
)

// Errors of the store.
var (
	// ErrUnavailable: the write did not become durable, or the database can't be read now.
	ErrUnavailable = errors.New("store: storage unavailable")
	// ErrNewer: the data directory belongs to a newer version of the program.
	ErrNewer = errors.New("store: database is newer than this program")
)

//go:generate env CGO_ENABLED=0 go tool -C ../../tools/sqlc sqlc generate -f ../../server/store/sqlc.yaml

//go:embed migrations/*.sql
var migrations embed.FS

// Options of a Store. The zero value works.
type Options struct {
	Clock    clock.Clock   // nil = clock.Real
	Log      *slog.Logger  // nil = discard
	Phones   []byte        // secret from which the places' phone keys derive; must never change. nil in tests only
	Patience time.Duration // 0 = age.Patience
	// With Unchecked, Open doesn't check the file for damage, which takes a second per gigabyte. For callers who have
	// had it open a moment ago.
	Unchecked bool
	// Committed is called after every commit, on the writer's goroutine, with how many writes shared it and how long it
	// took; nil = not called.
	Committed func(writes int, took time.Duration)
	// Commit makes a transaction of the writer durable by calling commit, or fails without having called it; nil = it
	// calls commit at once.
	Commit func(commit func() error) error
}

const (
	maxBatch = 512 // writes per commit
	readers  = 8   // read connections
)

// Store is an open database. Close ends it.
type Store struct {
	clk     clock.Clock
	ages    *age.Clock
	phones  []byte
	writing *sql.DB // one connection
	reading gated
	path    string      // of the database
	q       *db.Queries // on reading

	log     *slog.Logger
	told    func(writes int, took time.Duration) // see Options.Committed
	durable func(commit func() error) error      // see Options.Commit
	health  health
	wal     wal
	copier  copier
	changes int64 // rows changed so far; only the writer uses it
	running int   // roughly, commands claimed and not settled; only the writer uses it
	doors   doors
	totals  totals

	answered recent.Map[ledgerKey, answered] // commands settled or repeated recently
	replays  replays
	pending  pending
	patience patience

	gather gather
	jobs   chan *job
	bulk   chan *job     // jobs go first
	stop   chan struct{} // closed by Close
	ended  chan struct{} // closed when the writer has ended
	closed sync.Once

	mu         sync.Mutex
	onRevision []func(placeID string, rev int64)
	history    func(history.Event)
}

// Open opens or creates the database in dir. Errors: ErrNewer, ErrCorrupt; otherwise the file system's.
func Open(dir string, o Options) (*Store, error) {
	o.Clock = cmp.Or[clock.Clock](o.Clock, clock.Real{})
	if o.Committed == nil {
		o.Committed = func(int, time.Duration) {}
	}
	if o.Commit == nil {
		o.Commit = func(commit func() error) error { return commit() }
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	// SQLite creates files that others can read; the log gets the database's mode.
	file, err := os.OpenFile(filepath.Join(dir, "doorlab.db"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	s := &Store{
		clk: o.Clock, log: o.Log, told: o.Committed, durable: o.Commit, phones: o.Phones,
		jobs: make(chan *job, 2*maxBatch), bulk: make(chan *job), stop: make(chan struct{}), ended: make(chan struct{}),
		copier: copier{file: file, due: make(chan struct{}, 1), ended: make(chan struct{})},
		gather: gather{over: make(chan struct{}, 1)}, replays: replays{due: make(chan struct{}, 1)},
	}
	if err = s.open(filepath.Join(dir, "doorlab.db"), o); err == nil {
		err = s.readAges(o.Patience)
	}
	if err != nil {
		_ = s.closeDBs()
		if corrupt(err) && !errors.Is(err, ErrCorrupt) {
			err = fmt.Errorf("%w: %s; restore a backup", ErrCorrupt, strings.TrimPrefix(err.Error(), "store: "))
		}
		return nil, err
	}
	go s.writer()
	go s.copying()
	return s, nil
}

func (s *Store) open(path string, o Options) error {
	var err error
	s.path, s.wal.path = path, path+"-wal"
	if s.writing, err = sql.Open(driver, dsn(path, "_journal_mode", "WAL", "_txlock", "immediate", "_cache_size", "-16000")); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	s.writing.SetMaxOpenConns(1)
	var sync int
	// go-sqlite3's default in WAL mode is NORMAL, which loses acknowledged commits on a power failure, see CMD-6.
	if err := s.writing.QueryRow("PRAGMA synchronous").Scan(&sync); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if sync != 2 { // [CMD-6]
		return fmt.Errorf("store: synchronous is %d, must be 2 (FULL)", sync)
	}
	if !o.Unchecked {
		if err := quickCheck(s.writing); err != nil {
			return err
		}
	}
	if err := migrate(s.writing); err != nil {
		return err
	}
	if s.copier.conn, err = sql.Open(driver, dsn(path, "_busy_timeout", "0")); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	s.copier.conn.SetMaxOpenConns(1)
	if s.reading.DB, err = sql.Open(driver, dsn(path, "mode", "ro", "_query_only", "1", "_txlock", "deferred")); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	s.reading.SetMaxOpenConns(readers)
	s.reading.SetMaxIdleConns(readers)
	s.q = db.New(&s.reading)
	return nil
}

// quickCheck checks the whole file for damage. ErrCorrupt.
func quickCheck(conn *sql.DB) error {
	var found string
	err := conn.QueryRow("PRAGMA quick_check(1)").Scan(&found)
	switch {
	case err == nil && found != "ok":
		return fmt.Errorf("%w: %s; restore a backup", ErrCorrupt, found)
	case err != nil:
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

func dsn(path string, extra ...string) string {
	q := url.Values{}
	q.Set("_synchronous", "FULL")
	q.Set("_busy_timeout", strconv.FormatInt(lockWait.Milliseconds(), 10))
	q.Set("_foreign_keys", "1")
	q.Set("_stmt_cache_size", "128") // more than there are statements: each is prepared once per connection
	for i := 0; i < len(extra); i += 2 {
		q.Set(extra[i], extra[i+1])
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// provider knows the migrations. SQLite takes a file as a whole, so it must have no way down: goose's own parser clears 4 MiB for
// each statement.
func provider(conn *sql.DB) (*goose.Provider, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var known []*goose.Migration
	for _, name := range files {
		version, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		up := func(ctx context.Context, tx *sql.Tx) error {
			text, err := migrations.ReadFile(name)
			if err == nil {
				_, err = tx.ExecContext(ctx, string(text))
			}
			return err
		}
		known = append(known, goose.NewGoMigration(version, &goose.GoFunc{RunTx: up}, nil))
	}
	return goose.NewProvider(goose.DialectSQLite3, conn, nil, goose.WithGoMigrations(known...), goose.WithDisableGlobalRegistry(true))
}

func migrate(conn *sql.DB) error {
	p, err := provider(conn)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	have, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	sources := p.ListSources()
	if newest := sources[len(sources)-1].Version; have > newest {
		return fmt.Errorf("%w: it has schema %d, but this program knows only up to %d; use the version that wrote it", ErrNewer, have, newest)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("store: setting up the database: %w", ownError(err))
	}
	return nil
}

// Close stops the writer after the batch in progress and closes the database. Later writes fail with ErrUnavailable.
func (s *Store) Close() error {
	s.closed.Do(func() { close(s.stop) })
	<-s.ended
	<-s.copier.ended
	return s.closeDBs()
}

func (s *Store) closeDBs() error {
	var errs []error
	for _, conn := range []*sql.DB{s.reading.DB, s.copier.conn, s.writing} {
		if conn != nil {
			errs = append(errs, conn.Close())
		}
	}
	return errors.Join(append(errs, s.copier.file.Close())...)
}

// wrap turns SQLite's own errors into ErrUnavailable and a missing row into fail.ErrNotFound; others stay as they are.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	switch {
	case errors.Is(err, ErrUnavailable):
		return err
	case errors.Is(err, sql.ErrNoRows):
		return fail.ErrNotFound
	case errors.Is(err, sql.ErrConnDone), errors.Is(err, sql.ErrTxDone), err.Error() == "sql: database is closed": // database/sql doesn't export that one
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if database, ours := fault(err); database && !ours {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}
