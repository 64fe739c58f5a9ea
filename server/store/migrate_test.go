package store

import (
	"database/sql"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/boardsync"
)

// Databases of every older version open with their data: permits are found by reference, person and link, and the
// content's digest is unchanged.
func TestOlderVersionsOpen(t *testing.T) {
	t.Parallel()
	for version := int64(1); version <= 12; version++ {
		dir := t.TempDir()
		conn, err := sql.Open(driver, dsn(filepath.Join(dir, "doorlab.db"), "_journal_mode", "WAL"))
		if err != nil {
			t.Fatal(err)
		}
		p := must.Get(provider(conn))(t)
		must.Get(p.UpTo(ctx, version))(t)
		var sum access.Sum
		g := permit("pmt_1", epoch, epoch.Add(time.Hour))
		g.Doors = []string{"dor_1"}
		sum.Toggle("grant", g.Content(access.NewPhoneKey([]byte("phones"), "plc_a")))
		for _, sql := range []string{
			"INSERT INTO places (id, name, kind, timezone, week, closures, holidays, revision, digest) VALUES ('plc_a', 'A', 'test', 'Asia/Seoul', '{}', '[]', '[]', 4, '" + sum.String() + "')",
			"INSERT INTO place_revisions (place_id, rev, at, digest) VALUES ('plc_a', 4, 1, '" + sum.String() + "')",
		} {
			must.Get(conn.Exec(sql))(t)
		}
		_, err = conn.Exec("INSERT INTO grants (id, place_id, kind, external_ref, phone, starts_at, ends_at, doors, link_hash, created_at, updated_at, rev) VALUES (?, 'plc_a', 'permit', 'r', ?, ?, ?, '[\"dor_1\"]', 'h', 1, 1, 4)",
			g.ID, g.Phone, g.StartsAt.UnixMilli(), g.EndsAt.UnixMilli())
		if err != nil {
			t.Fatal(err)
		}
		must.OK(t, conn.Close())

		s, err := Open(dir, Options{Clock: clock.NewVirtual(epoch, nil), Phones: []byte("phones")})
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		byLink, err := s.GrantByLink("h")
		if err != nil || byLink.ID != g.ID {
			t.Errorf("version %d: by its link %q, %v, want %s", version, byLink.ID, err, g.ID)
		}
		if list, err := s.GrantsOf("plc_a", g.Phone); err != nil || len(list) != 1 || list[0].Rev != 4 {
			t.Errorf("version %d: of its person %+v, %v, want one of revision 4", version, list, err)
		}
		if rev, err := s.Revision("plc_a"); err != nil || rev != 4 {
			t.Errorf("version %d: revision %d, %v, want 4", version, rev, err)
		}
		old := byLink
		byLink.RevokedAt = epoch
		if err := s.write(func(tx *Tx) error { return tx.putGrant(&byLink, &old) }); err != nil || byLink.Rev != 5 {
			t.Errorf("version %d: revoked at revision %d, %v, want 5", version, byLink.Rev, err)
		}
		var left access.Sum
		y, err := boardsync.Reader{Source: s}.SyncContent("plc_a", 4)
		for _, g := range y.Upsert {
			left.Toggle("grant", g)
		}
		if err != nil || len(y.Upsert) != 1 || !y.Upsert[0].Revoked || y.Digest != left.String() {
			t.Errorf("version %d: the change is %+v, %v, want the revoked permit and digest %s", version, y, err, left)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestMigrationsOnlyGoUp: a migration file is executed as a whole, so a "down" section in it would run immediately.
func TestMigrationsOnlyGoUp(t *testing.T) {
	t.Parallel()
	files := must.Get(fs.Glob(migrations, "migrations/*.sql"))(t)
	for _, name := range files {
		if text := string(must.Get(migrations.ReadFile(name))(t)); strings.Count(text, "+goose") != 1 || !strings.Contains(text, "-- +goose Up\n") {
			t.Errorf("%s: want one annotation, +goose Up", name)
		}
	}
	if len(files) == 0 {
		t.Error("there are no migrations")
	}
}

// TestNoRoomToBegin: what keeps a database from being set up is said in SQLite's words, without the migration's.
func TestNoRoomToBegin(t *testing.T) {
	t.Parallel()
	conn := must.Get(sql.Open(driver, dsn(filepath.Join(t.TempDir(), "doorlab.db"), "_journal_mode", "WAL")))(t)
	conn.SetMaxOpenConns(1) // the limit is the connection's
	must.Get(conn.Exec("PRAGMA max_page_count = 8"))(t)
	const want = "store: setting up the database: database or disk is full"
	if err := migrate(conn); err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
	must.OK(t, conn.Close())
}
