package store

import (
	"context"
	"database/sql"
)

// transaction is one on a connection that it has to itself. With sql.Tx a goroutine would
// watch its context, and another the rows of each of its queries, though no context of ours
// ever ends. Its rows have to be closed before it is over.
type transaction struct {
	*sql.Conn
	over bool
}

// begin waits for a connection and begins as how says.
func begin(from interface {
	Conn(ctx context.Context) (*sql.Conn, error)
}, how string) (*transaction, error) {
	conn, err := from.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, how); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &transaction{Conn: conn}, nil
}

// Commit ends the transaction; after an error nothing of it stands.
func (t *transaction) Commit() error {
	_, err := t.ExecContext(ctx, "COMMIT")
	if err != nil {
		t.Rollback()
		return err
	}
	t.end()
	return nil
}

// Rollback undoes what the transaction has done, unless it is over.
func (t *transaction) Rollback() {
	if t.over {
		return
	}
	_, _ = t.ExecContext(ctx, "ROLLBACK") // fails where SQLite has given the transaction up by itself
	t.end()
}

// end gives the connection back.
func (t *transaction) end() {
	t.over = true
	_ = t.Close()
}

// statements is a transaction that counts what it was asked to write.
type statements struct {
	*transaction
	writes int
}

func (s *statements) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s.writes++
	return s.transaction.ExecContext(ctx, query, args...)
}

func (s *statements) Exec(query string, args ...any) (sql.Result, error) {
	return s.ExecContext(ctx, query, args...)
}

func (s *statements) Query(query string, args ...any) (*sql.Rows, error) {
	return s.QueryContext(ctx, query, args...)
}

func (s *statements) QueryRow(query string, args ...any) *sql.Row {
	return s.QueryRowContext(ctx, query, args...)
}
