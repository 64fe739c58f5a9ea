package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store/db"
)

// explained asks SQLite for its plan instead of running a query.
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

// Changes since a revision are found through two indexes: however many permits a place has, the unchanged ones aren't
// read.
func TestGrantsSinceLooksAtNoOthers(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	e := &explained{DBTX: &s.reading}
	if _, err := db.New(e).GrantsSince(ctx, "plc_a", 1); !errors.Is(err, errExplained) {
		t.Fatalf("got %v, want only the plan", err)
	}
	for _, want := range []string{"grants_live (place_id=? AND rev>?)", "grants_left (place_id=? AND left_rev>?)"} {
		if !strings.Contains(e.plan, want) {
			t.Errorf("the plan is\n%swant %s in it", e.plan, want)
		}
	}
}

// Permits are found by reference, person and link using every known condition.
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
	from, args := referredOf("plc_a", "permit", "r")
	e := &explained{DBTX: &s.reading}
	if _, err := e.QueryContext(ctx, newestFirst(from), args...); !errors.Is(err, errExplained) {
		t.Fatalf("got %v, want only the plan", err)
	}
	if !strings.Contains(e.plan, "grants_ref (external_ref=? AND place_id=?") {
		t.Errorf("a list of a reference's permits: the plan is\n%swant it to look at no others", e.plan)
	}
}

// An unfiltered list, or a page of it, is read in index order: a place's rows aren't sorted, and rows before the page
// aren't read. A filter finds its few rows by index before sorting them.
func TestListsWalkAnIndex(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	const page = " ORDER BY created_at DESC, id DESC LIMIT 100 OFFSET 100"
	type ask = func(e *explained) error
	query := func(query string, args []any) ask {
		return func(e *explained) error { _, err := e.QueryContext(ctx, query, args...); return err }
	}
	customers := func(q grant.ListQuery) ask {
		from, args := customersOf("plc_a", q)
		return query("SELECT id"+from+page, args)
	}
	events := func(q record.EventQuery, count bool) ask {
		find, from, args := eventsOf("plc_a", q)
		if count {
			find = "SELECT COUNT(*)" + from
		}
		return query(find, args)
	}
	ownEvents := record.EventQuery{Results: []string{"denied"}, DoorIDs: []string{"dor_1", "dor_2"}}
	for name, c := range map[string]struct {
		ask   ask
		want  string
		sorts bool
	}{
		"permits": {ask: query(grantsPage, []any{"plc_a", "permit", 100, 0}),
			want: "SEARCH grants USING INDEX grants_list (place_id=? AND kind=?)"},
		"their number": {ask: func(e *explained) error { _, err := db.New(e).CountGrants(ctx, "plc_a", "permit"); return err },
			want: "SEARCH grants USING COVERING INDEX grants_list (place_id=? AND kind=?)"},
		"records": {ask: query(recordsPage, []any{"plc_a", 0, 100, 0}),
			want: "SEARCH entry_records USING INDEX entry_records_place (place_id=? AND recorded_at>?)"},
		"the records' number": {ask: func(e *explained) error { _, err := db.New(e).CountRecords(ctx, "plc_a", 1); return err },
			want: "SEARCH entry_records USING COVERING INDEX entry_records_place (place_id=? AND recorded_at>?)"},
		"events":                    {ask: events(record.EventQuery{}, false), want: "SEARCH entry_records USING COVERING INDEX entry_records_place (place_id=? AND recorded_at>? AND recorded_at<?)"},
		"the events' number":        {ask: events(record.EventQuery{}, true), want: "SEARCH entry_records USING COVERING INDEX entry_records_place (place_id=? AND recorded_at>? AND recorded_at<?)"},
		"events that are no record": {ask: events(ownEvents, false), want: "SEARCH events USING INDEX events_place (place_id=? AND recorded_at>? AND recorded_at<?)"},
		"customers":                 {ask: customers(grant.ListQuery{}), want: "SEARCH customers USING COVERING INDEX customers_list (place_id=?)"},
		"the audit log":             {ask: func(e *explained) error { _, err := db.New(e).Audits(ctx, 100, 100); return err }, want: "SCAN audit"},
		"the audit log of a place": {ask: func(e *explained) error {
			_, err := db.New(e).AuditsOfPlace(ctx, db.AuditsOfPlaceParams{})
			return err
		}, want: "SEARCH audit USING INDEX audit_place (place_id=?)"},
		"its number": {ask: func(e *explained) error { _, err := db.New(e).CountAuditsOfPlace(ctx, "plc_a"); return err },
			want: "SEARCH audit USING COVERING INDEX audit_place (place_id=?)"},
		"revoked keys": {ask: func(e *explained) error { _, err := db.New(e).RevokedKeys(ctx); return err },
			want: "SEARCH keys USING INDEX keys_revoked (revoked_at>?)"},
		"customers of a reference": {ask: customers(grant.ListQuery{ExternalRef: "r"}), want: "SEARCH customers USING INDEX customers_ref (place_id=? AND external_ref=?)", sorts: true},
	} {
		e := &explained{DBTX: &s.reading}
		if err := c.ask(e); err == nil {
			t.Errorf("%s: asked instead of explained", name)
		}
		if !strings.Contains(e.plan, c.want) {
			t.Errorf("%s: the plan is\n%swant %s", name, e.plan, c.want)
		}
		if !c.sorts && (strings.Contains(e.plan, "TEMP B-TREE") || strings.Contains(e.plan, "SCAN e") || strings.Contains(e.plan, "SCAN g") || strings.Contains(e.plan, "SCAN c")) {
			t.Errorf("%s: the plan is\n%swant nothing sorted and no table read from end to end", name, e.plan)
		}
	}
}
