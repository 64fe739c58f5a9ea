package store

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/grant"
)

var epoch = time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)

func testWorld() *world.World {
	return &world.World{Seed: 1, Places: []world.Place{{
		ID: "plc_a", Name: "A", Kind: world.Test, EntryPhone: "05011112222", Hours: access.Week{"mon": {{"09:00", "22:00"}}, "sun": {}},
		Boards:      []world.Board{{ID: "brd_a", Password: "pw", Doors: []world.Door{{ID: "dor_1", Name: "Front", Channel: 1}, {ID: "dor_2", Name: "Back", Channel: 2}}}},
		Keys:        []world.Key{{ID: "key_a", Name: "partner", Scopes: []string{"space:partner"}, Secret: "sact_x"}},
		Memberships: []world.Membership{{Phone: "01011112222", StartsAt: epoch}},
	}}}
}

func openTest(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Options{Clock: clock.NewVirtual(epoch, nil)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func seeded(t *testing.T) *Store {
	t.Helper()
	s := openTest(t, t.TempDir())
	if err := s.Seed(testWorld()); err != nil {
		t.Fatal(err)
	}
	return s
}

func digestOf(t *testing.T, s *Store, placeID string) string {
	t.Helper()
	y, err := s.SyncContent(placeID, 0)
	if err != nil {
		t.Fatal(err)
	}
	var sum access.Sum
	for _, g := range y.Upsert {
		sum.Toggle("grant", g)
	}
	for _, w := range *y.Windows {
		sum.Toggle("window", w)
	}
	for _, d := range *y.Doors {
		sum.Toggle("door", d)
	}
	sum.Toggle("hours", *y.Hours)
	if sum.String() != y.Digest {
		t.Errorf("digest %s, content sums to %s", y.Digest, sum)
	}
	return y.Digest
}

func TestSeedIsRemembered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTest(t, dir)
	for range 2 {
		if err := s.Seed(testWorld()); err != nil {
			t.Fatal(err)
		}
	}
	digest := digestOf(t, s, "plc_a")
	secret := s.Secret("x")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, dir)
	if err := s.Seed(testWorld()); err != nil {
		t.Fatal(err)
	}
	if got := digestOf(t, s, "plc_a"); got != digest {
		t.Errorf("digest %s after a restart, was %s", got, digest)
	}
	if string(s.Secret("x")) != string(secret) {
		t.Error("the secret changed over a restart")
	}
	other := testWorld()
	other.Seed++
	if err := s.Seed(other); !errors.Is(err, ErrOtherWorld) {
		t.Errorf("another seed: %v", err)
	}
}

func TestOpenRefusesANewerDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTest(t, dir)
	if err := s.Write(func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrNewer) {
		t.Errorf("got %v", err)
	}
}

func TestWriteFailsAlone(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	mine := errors.New("mine")
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			err := s.Write(func(tx *sql.Tx) error {
				if err := SetMeta(tx, fmt.Sprint("n", i), "1"); err != nil {
					return err
				}
				if i%2 == 1 {
					if _, err := RaiseRevision(tx, "plc_a"); err != nil {
						return err
					}
					return mine
				}
				return nil
			})
			if want := i%2 == 1; errors.Is(err, mine) != want {
				t.Errorf("write %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	var n int
	if err := s.Read().QueryRow("SELECT COUNT(*) FROM meta WHERE name LIKE 'n%'").Scan(&n); err != nil || n != 100 {
		t.Errorf("%d rows (%v), want the 100 that did not fail", n, err)
	}
	if rev, err := s.Revision("plc_a"); err != nil || rev != 1 {
		t.Errorf("revision %d (%v), want 1: failed writes raise nothing", rev, err)
	}
}

func TestWritePanicsOnTheCallersGoroutine(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_ = s.Write(func(tx *sql.Tx) error { _ = SetMeta(tx, "p", "1"); panic("boom") })
	}()
	if v, err := s.Meta("p"); v != "" || err != nil {
		t.Errorf("left behind %q, %v", v, err)
	}
}

func TestWriteAfterClose(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	_ = s.Close()
	if err := s.Write(func(*sql.Tx) error { return nil }); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestRevisionAndContent(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	var mu sync.Mutex
	var seen []int64
	s.OnRevision(func(_ string, rev int64) { mu.Lock(); seen = append(seen, rev); mu.Unlock() })
	for i := range 5 {
		g := grant.Grant{ID: fmt.Sprint("pmt_", i), PlaceID: "plc_a", Kind: access.KindPermit, ExternalRef: fmt.Sprint(i), Phone: "01012345678",
			StartsAt: epoch, EndsAt: epoch.Add(time.Hour), Doors: []string{"dor_1"}, CreatedAt: epoch, UpdatedAt: epoch}
		if err := s.Write(func(tx *sql.Tx) error { return putGrant(tx, &g, nil) }); err != nil {
			t.Fatal(err)
		}
		old := g
		g.RevokedAt = epoch
		if i == 4 {
			if err := s.Write(func(tx *sql.Tx) error { return putGrant(tx, &g, &old) }); err != nil {
				t.Fatal(err)
			}
		}
		digestOf(t, s, "plc_a")
	}
	y, err := s.SyncContent("plc_a", 5)
	if err != nil || len(y.Upsert) != 1 || !y.Upsert[0].Revoked || y.To != 7 || y.Hours != nil || y.Windows != nil || y.Doors != nil || y.Snapshot {
		t.Errorf("delta %+v, %v", y, err)
	}
	if at, digest, err := s.RevisionAt("plc_a", 7); err != nil || digest != y.Digest || at.IsZero() {
		t.Errorf("revision 7: %v %v %v", at, digest, err)
	}
	if _, err := s.SyncContent("plc_x", 0); !errors.Is(err, ErrNotFound) {
		t.Errorf("unknown place: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if fmt.Sprint(seen) != "[2 3 4 5 6 7]" {
		t.Errorf("revisions announced: %v", seen)
	}
}

func TestRecordOnce(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	if err := s.Write(func(tx *sql.Tx) error {
		g := grant.Grant{ID: "pmt_1", PlaceID: "plc_a", Kind: access.KindPermit, ExternalRef: "r", Phone: "01012345678",
			StartsAt: epoch, EndsAt: epoch.Add(time.Hour), Doors: []string{"dor_1"}, CreatedAt: epoch, UpdatedAt: epoch}
		return putGrant(tx, &g, nil)
	}); err != nil {
		t.Fatal(err)
	}
	insert := func(r Record) (fresh bool) {
		r.PlaceID, r.DoorID, r.Method, r.Reason, r.GrantID = "plc_a", "dor_1", "onsite", "onsite", "pmt_1"
		if err := s.Write(func(tx *sql.Tx) (err error) { fresh, err = InsertRecord(tx, r); return err }); err != nil {
			t.Fatal(err)
		}
		return fresh
	}
	if !insert(Record{Result: Opened, Dedupe: "b/1", Source: FromBoard}) || insert(Record{Result: Opened, Dedupe: "b/1", Source: FromBoard}) {
		t.Error("a board's record counts once")
	}
	if !insert(Record{Result: NoResponse, CommandID: "cmd_1"}) {
		t.Error("second record")
	}
	if g, err := s.Grant("pmt_1"); err != nil || g.UseCount != 1 || g.FirstUsedAt.IsZero() {
		t.Errorf("after one use: %+v, %v", g, err)
	}
	for range 2 {
		if err := s.Write(func(tx *sql.Tx) error { return SettleRecord(tx, "cmd_1", Opened, epoch) }); err != nil {
			t.Fatal(err)
		}
	}
	if g, err := s.Grant("pmt_1"); err != nil || g.UseCount != 2 {
		t.Errorf("after the late report: %+v, %v", g, err)
	}
	list, total, err := s.Records("plc_a", epoch.Add(-time.Hour), 10, 0)
	if err != nil || total != 2 || list[0].SettledAs != Opened || list[0].Result != NoResponse || list[0].DoorName != "Front" {
		t.Errorf("%d records %+v, %v", total, list, err)
	}
}
