package store

import (
	"context"
	"database/sql"
	"strings"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/server/store/db"
)

// gathered is what the writes of a batch leave to be written together, a statement
// for many rows: before a write of the batch that may look for it or be undone, and
// at the latest before the commit.
type gathered struct {
	settled settled
	places  map[string]*placeState // as the writes so far have left them
	raised  []db.InsertRevisionParams
	written int // of raised
}

// batch is what the writes of one commit have made known.
type batch struct {
	raised  []revision
	events  []history.Event
	settled []settledRow // records that have no event yet: most commits tell nobody
	running int          // commands claimed, less those settled
}

// flush writes what was gathered. An error is the whole batch's.
func (g *gathered) flush(t *Tx) error {
	if g == nil {
		return nil
	}
	if err := g.settled.flush(t); err != nil {
		return err
	}
	return g.flushRevisions(t)
}

var insertRevisions = insertsOf("INSERT INTO place_revisions (place_id, rev, at, digest, aged_on)", 5)

// flushRevisions writes each revision, and where that has brought its place.
func (g *gathered) flushRevisions(t *Tx) error {
	rows := g.raised[g.written:]
	g.written = len(g.raised)
	err := insertRevisions.of(t, len(rows), func(to []any, i int) []any {
		r := &rows[i]
		return append(to, r.PlaceID, r.Rev, r.At, r.Digest, r.AgedOn)
	})
	if err != nil {
		return err
	}
	last := map[string]int{}
	for i, r := range rows {
		last[r.PlaceID] = i
	}
	for i, r := range rows {
		if last[r.PlaceID] == i {
			if err := t.q.SetRevision(ctx, db.SetRevisionParams{ID: r.PlaceID, Revision: r.Rev, Digest: r.Digest}); err != nil {
				return wrap(err)
			}
		}
	}
	return nil
}

// inserts are the statements of one table that are kept prepared, by their number of
// rows, the largest first.
type inserts []struct {
	rows  int
	query string
}

// insertsOf makes them of what a statement says before VALUES.
func insertsOf(into string, columns int) (in inserts) {
	row := "(?" + strings.Repeat(", ?", columns-1) + ")"
	for _, n := range []int{16, 4, 1} {
		in = append(in, struct {
			rows  int
			query string
		}{n, into + " VALUES " + row + strings.Repeat(", "+row, n-1)})
	}
	return in
}

// of writes n rows; args appends what the i-th has in its columns.
func (in inserts) of(t *Tx, n int, args func(to []any, i int) []any) error {
	var values []any
	for i := 0; i < n; {
		for _, s := range in {
			if n-i < s.rows {
				continue
			}
			values = values[:0]
			for range s.rows {
				values = args(values, i)
				i++
			}
			if _, err := t.Exec(s.query, values...); err != nil {
				return wrap(err)
			}
			break
		}
	}
	return nil
}

// statements is a transaction that counts what it was asked to write.
type statements struct {
	*sql.Tx
	writes int
}

func (s *statements) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s.writes++
	return s.Tx.ExecContext(ctx, query, args...)
}

func (s *statements) Exec(query string, args ...any) (sql.Result, error) {
	return s.ExecContext(ctx, query, args...)
}
