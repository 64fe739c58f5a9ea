package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/shard"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/record"
)

var epoch = time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)

var pepper = []byte("pepper")

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
	s := must.Get(Open(dir, Options{Clock: clock.NewVirtual(epoch, nil), Phones: []byte("phones")}))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func seeded(t *testing.T) *Store {
	t.Helper()
	s := openTest(t, t.TempDir())
	must.Get(s.Seed(testWorld(), pepper))(t)
	return s
}

func digestOf(t *testing.T, s *Store) string {
	t.Helper()
	y := must.Get(boardsync.Reader{Source: s}.SyncContent("plc_a", 0))(t)
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
	if got := sum.String(); got != y.Digest {
		t.Errorf("digest %s, but the content adds up to %s", y.Digest, got)
	}
	return y.Digest
}

func TestSeedIsRemembered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTest(t, dir)
	for range 2 {
		must.Get(s.Seed(testWorld(), pepper))(t)
	}
	digest := digestOf(t, s)
	must.OK(t, s.Close())
	s = openTest(t, dir)
	must.Get(s.Seed(testWorld(), pepper))(t)
	if got := digestOf(t, s); got != digest {
		t.Errorf("digest %s after a restart, want %s", got, digest)
	}
	for name, change := range map[string]func(*world.World){
		"another kind of place": func(w *world.World) { w.Places[0].Kind = world.Live },
		"a door that moved": func(w *world.World) {
			w.Places[0].Boards = append(w.Places[0].Boards, world.Board{ID: "brd_b", Name: "other", Password: "pw"})
			w.Places = append(w.Places, world.Place{ID: "plc_b", Kind: world.Test, Boards: []world.Board{{ID: "brd_a", Password: "pw"}}})
		},
		"another door on the same relay": func(w *world.World) { w.Places[0].Boards[0].Doors[0].ID = "dor_9" },
		"a new place with a door of another": func(w *world.World) {
			w.Places = append(w.Places, world.Place{ID: "plc_c", Kind: world.Test, Boards: []world.Board{{ID: "brd_c", Password: "pw", Doors: []world.Door{{ID: "dor_1", Channel: 1}}}}})
		},
		"a new place with a key of another": func(w *world.World) {
			w.Places = append(w.Places, world.Place{ID: "plc_c", Kind: world.Test, Keys: w.Places[0].Keys})
		},
		"a new place with the entry phone of another": func(w *world.World) {
			w.Places = append(w.Places, world.Place{ID: "plc_c", Kind: world.Test, EntryPhone: w.Places[0].EntryPhone})
		},
		"a place that another shard has by now": func(w *world.World) {
			w.Places = append([]world.Place{{ID: "plc_new", Name: "new", Kind: world.Live}}, w.Places...)
			*w = *w.Shard(shard.Shard{Index: 1, Of: 2})
		},
	} {
		other := testWorld()
		change(other)
		if _, err := s.Seed(other, pepper); !errors.Is(err, ErrOtherWorld) {
			t.Errorf("%s: got %v, want err to be ErrOtherWorld", name, err)
		}
	}
	if got := digestOf(t, s); got != digest {
		t.Errorf("digest %s after a refused world, want %s", got, digest)
	}
}

func TestOpenRefusesANewerDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openTest(t, dir)
	must.OK(t, s.write(func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
		return err
	}))
	_ = s.Close()
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrNewer) {
		t.Errorf("got %v, want %v", err, ErrNewer)
	}
}

func TestWriteFailsAlone(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	mine := errors.New("mine")
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			err := s.write(func(tx *Tx) error {
				if err := tx.setMeta(fmt.Sprint("n", i), "1"); err != nil {
					return err
				}
				if i%2 == 1 {
					if _, err := tx.raise("plc_a"); err != nil {
						return err
					}
					return mine
				}
				return nil
			})
			if want := i%2 == 1; errors.Is(err, mine) != want {
				t.Errorf("write %d: got %v, want it to fail: %t", i, err, want)
			}
		})
	}
	wg.Wait()
	var n int
	if err := s.reading.QueryRow("SELECT COUNT(*) FROM meta WHERE name LIKE 'n%'").Scan(&n); err != nil || n != 100 {
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
		_ = s.write(func(tx *Tx) error { _ = tx.setMeta("p", "1"); panic("boom") })
	}()
	if v, err := s.meta("p"); v != "" || err != nil {
		t.Errorf("left behind %q, %v, want nothing", v, err)
	}
}

func TestWriteAfterClose(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	_ = s.Close()
	if err := s.write(func(*Tx) error { return nil }); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v, want %v", err, ErrUnavailable)
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
		must.OK(t, s.write(func(tx *Tx) error { return tx.putGrant(&g, nil) }))
		old := g
		g.RevokedAt = epoch
		if i == 4 {
			must.OK(t, s.write(func(tx *Tx) error { return tx.putGrant(&g, &old) }))
		}
		digestOf(t, s)
	}
	y, err := boardsync.Reader{Source: s}.SyncContent("plc_a", 5)
	if err != nil || len(y.Upsert) != 1 || !y.Upsert[0].Revoked || y.To != 7 || y.Hours != nil || y.Windows != nil || y.Doors != nil || y.Snapshot {
		t.Errorf("got delta %+v, %v, want one revoked grant up to revision 7", y, err)
	}
	if _, err := (boardsync.Reader{Source: s}).SyncContent("plc_x", 0); !errors.Is(err, fail.ErrNotFound) {
		t.Errorf("unknown place: got %v, want %v", err, fail.ErrNotFound)
	}
	mu.Lock()
	defer mu.Unlock()
	if fmt.Sprint(seen) != "[2 3 4 5 6 7]" {
		t.Errorf("revisions announced: got %v, want [2 3 4 5 6 7]", seen)
	}
}

func TestRecordOnce(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	must.OK(t, s.write(func(tx *Tx) error {
		g := grant.Grant{ID: "pmt_1", PlaceID: "plc_a", Kind: access.KindPermit, ExternalRef: "r", Phone: "01012345678",
			StartsAt: epoch, EndsAt: epoch.Add(time.Hour), Doors: []string{"dor_1"}, CreatedAt: epoch, UpdatedAt: epoch}
		return tx.putGrant(&g, nil)
	}))
	insert := func(r record.Record) (fresh bool) {
		r.PlaceID, r.DoorID, r.Method, r.Reason, r.GrantID = "plc_a", "dor_1", "onsite", "onsite", "pmt_1"
		must.OK(t, s.write(func(tx *Tx) (err error) { fresh, err = record.Keep(tx, r, tx.Now); return err }))
		return fresh
	}
	if !insert(record.Record{Result: vocab.Opened, Dedupe: "b/1", Source: record.FromBoard}) || insert(record.Record{Result: vocab.Opened, Dedupe: "b/1", Source: record.FromBoard}) {
		t.Error("a board's record counts once")
	}
	if !insert(record.Record{Result: vocab.NoResponse, CommandID: "cmd_1"}) {
		t.Error("second record")
	}
	if g, err := s.Grant("pmt_1"); err != nil || g.UseCount != 1 || g.FirstUsedAt.IsZero() {
		t.Errorf("after one use: got %+v, %v, want a use count of 1 and the time", g, err)
	}
	for range 2 {
		must.OK(t, s.write(func(tx *Tx) error { _, err := record.Settle(tx, "cmd_1", vocab.Opened, epoch, tx.Now); return err }))
	}
	if g, err := s.Grant("pmt_1"); err != nil || g.UseCount != 2 {
		t.Errorf("after the late report: got %+v, %v, want UseCount 2 and no error", g, err)
	}
	list, total, err := s.Records("plc_a", epoch.Add(-time.Hour), 10, 0)
	if err != nil || total != 2 || list[0].SettledAs != vocab.Opened || list[0].Result != vocab.NoResponse || list[0].DoorName != "Front" {
		t.Errorf("%d records %+v, %v; want 2, the first noResponse settled as opened at Front", total, list, err)
	}
}

// TestClosed: whoever still reads while the server stops learns that the storage is gone, which isn't a bug of ours.
func TestClosed(t *testing.T) {
	t.Parallel()
	s := must.Get(Open(t.TempDir(), Options{Clock: clock.NewVirtual(epoch, nil), Phones: []byte("phones")}))(t)
	must.OK(t, s.Close())
	if _, err := s.Place("plc_a"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a read after the end: %v, want %v", err, ErrUnavailable)
	}
}
