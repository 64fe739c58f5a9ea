package store

import (
	"strings"
	"time"

	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/server/store/db"
)

// gathered collects what the writes of a batch can write together, one statement for many rows. It is flushed before a
// write of the batch that may look for it or be undone, and at the latest before the commit.
type gathered struct {
	settled settled
	places  map[string]*placeState // as the writes so far have left them
	moved   map[string]bool        // of places: their revision isn't written yet
}

// batch is the writes of one commit and what they will tell others.
type batch struct {
	jobs    []*job
	took    time.Duration // without the wait for more of them
	raised  []revision
	events  []history.Event
	settled []settledRow // records that have no event yet: most commits tell nobody
	running int          // commands claimed, less those settled
	early   []string     // commands whose replays can't be counted yet
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

// flushRevisions writes where the writes have brought each place.
func (g *gathered) flushRevisions(t *Tx) error {
	for id := range g.moved {
		p := g.places[id]
		if err := t.q.SetRevision(ctx, db.SetRevisionParams{ID: id, Revision: p.rev, Digest: p.sum.String()}); err != nil {
			return wrap(err)
		}
	}
	clear(g.moved)
	return nil
}

// inserts are prepared statements for one table, by number of rows, the largest first.
type inserts []struct {
	rows  int
	query string
}

// insertsOf makes them from the part of a statement before VALUES.
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

// of writes n rows; args appends the values of the i-th.
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
