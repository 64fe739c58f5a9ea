package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/server/grant"
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

// QueryRowContext returns a row that can't be read.
func (e *explained) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	_, _ = e.QueryContext(ctx, query, args...)
	over, cancel := context.WithCancel(ctx)
	cancel()
	return e.DBTX.QueryRowContext(over, query, args...)
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

// Permits are found by reference, person and link by all that is known of them.
func TestGrantsAreFoundByIndex(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	for want, find := range map[string]func(q *db.Queries) error{
		"grants_ref (external_ref=? AND place_id=? AND kind=? AND source=?)": func(q *db.Queries) error {
			_, err := q.GrantByRef(ctx, db.GrantByRefParams{PlaceID: "plc_a", Kind: "permit", ExternalRef: text("r")})
			return err
		},
		"grants_phone (phone=? AND place_id=?)": func(q *db.Queries) error {
			_, err := q.GrantsOf(ctx, "plc_a", "01012345678")
			return err
		},
		"grants_link (link_hash=?)": func(q *db.Queries) error {
			_, err := q.GrantByLink(ctx, text("h"))
			return err
		},
	} {
		e := &explained{DBTX: &s.reading}
		if err := find(db.New(e)); err == nil || !strings.Contains(e.plan, want) {
			t.Errorf("the plan is\n%swant %s in it", e.plan, want)
		}
	}
	for _, q := range []grant.ListQuery{{ExternalRef: "r"}, {Phone: "01012345678"}} {
		from, args := listOf("plc_a", "permit", q)
		e := &explained{DBTX: &s.reading}
		if _, err := e.QueryContext(ctx, "SELECT id"+from+" ORDER BY created_at DESC, id DESC", args...); !errors.Is(err, errExplained) {
			t.Fatal(err)
		}
		if !strings.Contains(e.plan, "grants_ref (external_ref=? AND place_id=?") && !strings.Contains(e.plan, "grants_phone (phone=? AND place_id=?)") {
			t.Errorf("a list of %+v: the plan is\n%swant it to look at no others", q, e.plan)
		}
	}
}
