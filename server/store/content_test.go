package store

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/grant"
)

// permit is a permit of plc_a.
func permit(id string, from, to time.Time) grant.Grant {
	return grant.Grant{ID: id, PlaceID: "plc_a", Kind: access.KindPermit, ExternalRef: id, Phone: "01012345678",
		StartsAt: from, EndsAt: to, Doors: []string{"dor_1"}, CreatedAt: epoch, UpdatedAt: epoch}
}

// The history has what boards receive, hashed with the same key, but never the key.
func TestHistoryHasWhatBoardsGet(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	var told []history.Event
	must.OK(t, s.SetHistory(func(e history.Event) { told = append(told, e) }))
	g := permit("pmt_1", epoch, epoch.Add(time.Hour))
	must.OK(t, s.write(func(tx *Tx) error { return tx.putGrant(&g, nil) }))
	y, err := boardsync.Reader{Source: s}.SyncContent("plc_a", 0)
	if err != nil || y.PhoneKey == "" {
		t.Fatalf("key %q, %v; want a key", y.PhoneKey, err)
	}
	hashes := map[string]string{}
	for _, e := range told {
		if raw, _ := json.Marshal(e); len(raw) == 0 || bytes.Contains(raw, []byte(y.PhoneKey)) {
			t.Errorf("the history has the place's phone key: %s", raw)
		}
		var item access.Grant
		if e.Op == history.ContentGrant && json.Unmarshal([]byte(e.Text), &item) == nil {
			hashes[item.ID] = item.PhoneHash
		}
	}
	for _, have := range y.Upsert {
		if hashes[have.ID] != have.PhoneHash || have.PhoneHash == "" {
			t.Errorf("%s: hash %q on boards, %q in the history", have.ID, have.PhoneHash, hashes[have.ID])
		}
	}
	if hashes["pmt_1"] != y.PhoneKey.Hash("01012345678") {
		t.Error("the permit's hash isn't the phone's under the place's key")
	}
	must.OK(t, s.write(func(tx *Tx) error {
		if tx.PhoneKey("plc_b") == y.PhoneKey {
			t.Error("another place has the same phone key, want one of its own")
		}
		return nil
	}))
}

// Two years of short permits don't pile up on the boards: what ended or was revoked long ago leaves content and
// digest, and boards are told to remove it.
func TestEndedGrantsLeaveTheContent(t *testing.T) {
	t.Parallel()
	clk := clock.NewVirtual(epoch, nil)
	clk.Freeze()
	s := must.Get(Open(t.TempDir(), Options{Clock: clk, Phones: []byte("phones")}))(t)
	t.Cleanup(func() { _ = s.Close() })
	must.Get(s.Seed(testWorld(), pepper))(t)
	put := func(g grant.Grant, old *grant.Grant) grant.Grant {
		t.Helper()
		must.OK(t, s.write(func(tx *Tx) error { return tx.putGrant(&g, old) }))
		return g
	}
	content := func(from int64) (wire.Sync, string) { return permitsFrom(t, s, from) }
	pass := func(d time.Duration) { leaveAfter(t, s, clk, d) }

	short := put(permit("short", epoch, epoch.Add(time.Hour)), nil)
	month := put(permit("month", epoch, epoch.Add(30*24*time.Hour)), nil)
	always := put(permit("always", epoch, time.Time{}), nil)
	old := put(permit("old", epoch.Add(-90*24*time.Hour), epoch.Add(-60*24*time.Hour)), nil)
	if _, ids := content(0); ids != "short month always " {
		t.Errorf("at first: %s, want no grant that ended long ago", ids)
	}
	for _, g := range []grant.Grant{month, always} {
		was := g
		g.RevokedAt = epoch
		put(g, &was)
	}
	before, _ := content(0)

	pass(grant.Stay)
	if _, ids := content(0); ids != "short month always " {
		t.Errorf("after 7 days: got %s; want short, month and always, because the reader must still say expired and revoked", ids)
	}
	pass(time.Hour)
	y, ids := content(before.To)
	if ids != "" || !slices.Equal(y.Remove, []string{"short"}) || y.Snapshot {
		t.Errorf("the delta carries %q and removes %v, want short removed", ids, y.Remove)
	}
	if _, ids := content(0); ids != "month always " {
		t.Errorf("a revoked permit stays until its period would have ended: got %s, want %s", ids, "month always ")
	}
	pass(31 * 24 * time.Hour)
	y, ids = content(before.To)
	if slices.Sort(y.Remove); ids != "" || !slices.Equal(y.Remove, []string{"always", "month", "short"}) {
		t.Errorf("the delta carries %q and removes %v; want nothing, and always, month and short", ids, y.Remove)
	}

	short.StartsAt, short.EndsAt = clk.Now(), clk.Now().Add(time.Hour) // registered again
	was := must.Get(s.Grant("short"))(t)
	put(short, &was)
	was = old
	old.StartsAt = old.StartsAt.Add(-time.Hour)
	put(old, &was)
	if y, ids := content(before.To); ids != "short " || slices.Contains(y.Remove, "short") {
		t.Errorf("registered again: the delta carries %q and removes %v; want short, and it not removed", ids, y.Remove)
	}
	if y, _ := content(0); len(y.Upsert) != 2 || len(y.Remove) != 0 { // plus the world's membership
		t.Errorf("the snapshot carries %d grants and removes %v, want 2 and none", len(y.Upsert), y.Remove)
	}
}

// permitsFrom returns the content from a revision on and the permits in it.
func permitsFrom(t *testing.T, s *Store, from int64) (y wire.Sync, ids string) {
	t.Helper()
	digestOf(t, s)
	y = must.Get(boardsync.Reader{Source: s}.SyncContent("plc_a", from))(t)
	for _, g := range y.Upsert {
		if g.Kind == access.KindPermit {
			ids += g.ID + " "
		}
	}
	return y, ids
}

// leaveAfter lets time pass and expired grants leave the content.
func leaveAfter(t *testing.T, s *Store, clk *clock.Virtual, d time.Duration) {
	t.Helper()
	must.OK(t, clk.Advance(clk.Now().Add(d)))
	for n := 1; n > 0; {
		n = must.Get(s.Leave(3))(t)
	}
}
