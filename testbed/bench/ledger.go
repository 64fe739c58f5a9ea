package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver that the product uses

	"github.com/doorlab/doorlab/internal/clock"
)

// ledger is the floor of durability: one insert and one update per command in
// SQLite at synchronous FULL, prepared once, committed in groups.
type ledger struct {
	dir     string
	db      *sql.DB
	jobs    chan write
	ended   chan struct{}
	commits atomic.Int64
}

type write struct {
	id     string
	body   []byte
	settle bool
	done   chan error
}

// A crowd waits a millisecond for company, as guides and product do.
const (
	mostTogether = 512
	crowd        = 64
	linger       = time.Millisecond
)

func openLedger() (*ledger, error) {
	dir, err := os.MkdirTemp("", "doorlab-bench")
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "floor.db")+"?_journal_mode=WAL&_synchronous=FULL&_txlock=immediate&_stmt_cache_size=16")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE ledger (id TEXT PRIMARY KEY, request BLOB NOT NULL, answer BLOB) WITHOUT ROWID"); err != nil {
		return nil, err
	}
	l := &ledger{dir: dir, db: db, jobs: make(chan write, 2*mostTogether), ended: make(chan struct{})}
	go l.writer()
	return l, nil
}

func (l *ledger) write(w write) error {
	w.done = make(chan error, 1)
	l.jobs <- w
	return <-w.done
}

func (l *ledger) writer() {
	defer close(l.ended)
	last := 0
	for first := range l.jobs {
		batch := []write{first}
		var over chan struct{}
		if last >= crowd {
			over = make(chan struct{})
			clock.WallAfter(linger, func() { close(over) })
		}
	gather:
		for len(batch) < mostTogether {
			select {
			case w, ok := <-l.jobs:
				if !ok {
					break gather
				}
				batch = append(batch, w)
				continue
			default:
			}
			if over == nil {
				break
			}
			select {
			case w, ok := <-l.jobs:
				if !ok {
					break gather
				}
				batch = append(batch, w)
			case <-over:
				break gather
			}
		}
		last = len(batch)
		err := l.commit(batch)
		for _, w := range batch {
			w.done <- err
		}
	}
}

func (l *ledger) commit(batch []write) error {
	tx, err := l.db.Begin()
	if err != nil {
		return err
	}
	for _, w := range batch {
		q := "INSERT INTO ledger (id, request) VALUES (?, ?)"
		args := []any{w.id, w.body}
		if w.settle {
			q, args = "UPDATE ledger SET answer = ? WHERE id = ?", []any{w.body, w.id}
		}
		if _, err := tx.Exec(q, args...); err != nil {
			_ = tx.Rollback()
			return fmt.Errorf("floor: %w", err)
		}
	}
	l.commits.Add(1)
	return tx.Commit()
}

func (l *ledger) close() error {
	close(l.jobs)
	<-l.ended
	if err := l.db.Close(); err != nil {
		return err
	}
	return os.RemoveAll(l.dir)
}
