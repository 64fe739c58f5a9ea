package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/server/store/db"
)

// explained asks SQLite how it would answer what a query asks.
type explained struct {
	db.DBTX
	plan string
}

var errExplained = errors.New("explained")

func (e *explained) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := e.DBTX.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return nil, err
		}
		e.plan += detail + "\n"
	}
	return nil, errors.Join(errExplained, rows.Err())
}

// What changed since a revision is found by two indexes: however many permits a place
// has, the others aren't looked at.
func TestGrantsSinceLooksAtNoOthers(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	e := &explained{DBTX: &s.reading}
	if _, err := db.New(e).GrantsSince(ctx, "plc_a", 1); !errors.Is(err, errExplained) {
		t.Fatal(err)
	}
	for _, want := range []string{"grants_live (place_id=? AND rev>?)", "grants_left (place_id=? AND left_rev>?)"} {
		if !strings.Contains(e.plan, want) {
			t.Errorf("the plan is\n%swant %s in it", e.plan, want)
		}
	}
}
