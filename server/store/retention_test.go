package store

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/record"
)

// What has been kept long enough (in domain time) is deleted in batches. Younger data stays, and a grant that boards
// still have is never deleted.
func TestRetention(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		s, clk := frozenStore(t)
		sweeper := record.NewSweeper(s, clk, nil, record.Retention{Audit: 60 * day})
		defer sweeper.Stop()
		fill := func(n int, prefix string) {
			t.Helper()
			must.OK(t, s.write(func(tx *Tx) error {
				for i := range n {
					if _, err := record.Keep(tx, record.Record{PlaceID: "plc_a", DoorID: "dor_1", Result: vocab.Opened, Reason: "api", Method: "api",
						CommandID: fmt.Sprint(prefix, i)}, tx.Now); err != nil {
						return err
					}
				}
				g := grant.Grant{ID: "pmt_" + prefix, PlaceID: "plc_a", Kind: access.KindPermit, ExternalRef: prefix, Phone: "01012345678",
					StartsAt: tx.Now, EndsAt: tx.Now.Add(time.Hour), Doors: []string{"dor_1"}, CreatedAt: tx.Now, UpdatedAt: tx.Now}
				return tx.putGrant(&g, nil)
			}))
			for range n {
				must.OK(t, s.AddAudit(record.Audit{PlaceID: "plc_a", Action: "read"}))
			}
		}
		pass := func(d time.Duration) {
			t.Helper()
			must.OK(t, clk.Advance(clk.Now().Add(d)))
			synctest.Wait()
		}
		want := func(when string, counts ...int) { rowCounts(t, s, when, counts) }

		fill(1201, "old") // three batches
		pass(59 * day)
		want("after 59 days", 1201, 1201, 1201, 1)
		pass(2 * day)
		want("after 61 days", 1201, 1201, 0, 1)
		pass(330 * day)
		fill(10, "new")
		pass(8 * day)
		want("after 399 days", 1211, 1211, 10, 2)
		pass(2 * day)
		want("after 401 days, the grant not yet out of the content", 10, 10, 10, 2)
		for n := 1; n > 0; {
			n = must.Get(s.Leave(100))(t)
		}
		pass(time.Hour)
		want("once the old one is out, 400 days after its end", 10, 10, 10, 1)
		pass(389 * day)
		want("399 days after the other's end", 10, 10, 0, 1)
		pass(2 * day)
		want("401 days after it", 0, 0, 0, 0)
		digestOf(t, s)
	})
}

// TestEarlierHolders: whom a permit was for is kept, masked, as long as the permit is.
func TestEarlierHolders(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, clk := frozenStore(t)
		g := grant.Grant{ID: "pmt_1", PlaceID: "plc_a", Kind: access.KindPermit, ExternalRef: "r", StartsAt: clk.Now(), EndsAt: clk.Now().Add(time.Hour),
			Doors: []string{"dor_1"}, CreatedAt: clk.Now(), UpdatedAt: clk.Now()}
		var old *grant.Grant
		for _, phone := range []string{"01000001111", "01000002222", "01000002222", "01000001111", "01000003333"} {
			g.Phone = phone
			must.OK(t, s.write(func(tx *Tx) error { return tx.putGrant(&g, old) }))
			was := g
			old = &was
			must.OK(t, clk.Advance(clk.Now().Add(time.Minute)))
		}
		earlier := func() (out []record.Holder) {
			must.OK(t, s.write(func(tx *Tx) (err error) { out, err = tx.EarlierHolders("pmt_1"); return err }))
			return out
		}
		var got []string
		for _, h := range earlier() {
			got = append(got, fmt.Sprint(h.Actor, " ", h.Label, " ", h.Until.Sub(g.StartsAt)))
			if key := access.NewPhoneKey(s.phones, "plc_a"); h.PhoneHash != key.Hash("0100000"+h.Label[len(h.Label)-4:]) {
				t.Errorf("%s is known by %q, want the hash that boards have", h.Label, h.PhoneHash)
			}
		}
		if want := "[guest:*1111 010-****-1111 4m0s guest:*2222 010-****-2222 3m0s]"; fmt.Sprint(got) != want {
			t.Errorf("held before by %v, want %s", got, want)
		}
		must.OK(t, clk.Advance(clk.Now().Add(401*24*time.Hour)))
		must.Get(s.Leave(10))(t)
		if n := must.Get(s.ForgetGrants(400*24*time.Hour, 10))(t); n != 1 || len(earlier()) != 0 {
			t.Errorf("%d permits forgotten, and %v stays, want 1 and nobody", n, earlier())
		}
	})
}

// TestForgottenUntold: a permit that left the content during a long jump is forgotten at once. A board that hasn't heard
// of it gets a snapshot, because no delta could tell it.
func TestForgottenUntold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, clk := frozenStore(t)
		must.OK(t, s.write(func(tx *Tx) error {
			return tx.putGrant(&grant.Grant{ID: "pmt_1", PlaceID: "plc_a", Kind: access.KindPermit, ExternalRef: "r", Phone: "01012345678",
				StartsAt: tx.Now, EndsAt: tx.Now.Add(time.Hour), Doors: []string{"dor_1"}, CreatedAt: tx.Now, UpdatedAt: tx.Now}, nil)
		}))
		had := must.Get(s.Revision("plc_a"))(t)
		forget := func(want int) {
			t.Helper()
			if n := must.Get(s.ForgetGrants(400*24*time.Hour, 10))(t); n != want {
				t.Errorf("%d permits forgotten, want %d", n, want)
			}
		}
		must.OK(t, clk.Advance(clk.Now().Add(401*24*time.Hour)))
		forget(0) // still in the content
		must.Get(s.Leave(10))(t)
		sync := func(from int64) wire.Sync { return must.Get(boardsync.Reader{Source: s}.SyncContent("plc_a", from))(t) }
		if y := sync(had); y.Snapshot || len(y.Remove) != 1 {
			t.Errorf("while it is remembered: %+v, want a delta that removes it", y)
		}
		forget(1)
		if y := sync(had); !y.Snapshot || len(y.Remove) != 0 || strings.Contains(fmt.Sprint(y.Upsert), "pmt_1") {
			t.Errorf("once it is forgotten: %+v, want a snapshot without it", y)
		}
		if y := sync(must.Get(s.Revision("plc_a"))(t)); y.Snapshot {
			t.Errorf("a board that knows: %+v, want a delta", y)
		}
	})
}

// frozenStore is a store with the test world on a virtual clock that stands still.
func frozenStore(t *testing.T) (*Store, *clock.Virtual) {
	t.Helper()
	clk := clock.NewVirtual(epoch, nil)
	clk.Freeze()
	s := must.Get(Open(t.TempDir(), Options{Clock: clk}))(t)
	t.Cleanup(func() { _ = s.Close() })
	must.Get(s.Seed(testWorld(), pepper))(t)
	return s, clk
}

func rowCounts(t *testing.T, s *Store, when string, counts []int) {
	t.Helper()
	for i, table := range []string{"entry_records", "events", "audit", "grants WHERE kind = 'permit'"} {
		var n int
		must.OK(t, s.reading.QueryRow("SELECT COUNT(*) FROM "+table).Scan(&n))
		if n != counts[i] {
			t.Errorf("%s: %d rows of %s, want %d", when, n, table, counts[i])
		}
	}
}
