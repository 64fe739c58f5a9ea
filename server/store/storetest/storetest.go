// Package storetest opens real stores for the tests of the rules: a temporary database, a small world, and a virtual
// clock that stands at Epoch until it is moved. For tests only.
package storetest

import (
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/store"
)

// Epoch is when tests begin: a Sunday, noon in Seoul.
var Epoch = time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)

// House is a store with its clock.
type House struct {
	*store.Store
	Clock *clock.Virtual
	t     testing.TB
}

// World is two places. plc_a has the entry doors dor_1 (720 h) and dor_2
// (48 h) and the inner door dor_in (720 h) on two boards, and an entry phone;
// plc_b has the door dor_b.
func World() *world.World {
	no := false
	return &world.World{Seed: 1, Places: []world.Place{
		{ID: "plc_a", Name: "Gangnam", Kind: world.Live, EntryPhone: "05011112222",
			Hours: access.Week{"sun": {{"09:00", "22:00"}}, "mon": {}},
			Boards: []world.Board{
				{ID: "brd_1", Password: "pw", Doors: []world.Door{
					{ID: "dor_1", Name: "Front", Channel: 1},
					{ID: "dor_2", Name: "Back", Channel: 2, EntryPermitMaxHours: 48}}},
				{ID: "brd_2", Password: "pw", Doors: []world.Door{{ID: "dor_in", Name: "Storage", Channel: 1, Entry: &no}}}}},
		{ID: "plc_b", Name: "Busan", Kind: world.Live,
			Boards: []world.Board{{ID: "brd_b", Password: "pw", Doors: []world.Door{{ID: "dor_b", Name: "Door", Channel: 1}}}}},
		{ID: "plc_none", Name: "Nothing", Kind: world.Test},
	}}
}

// New opens a store on World.
func New(t testing.TB) *House {
	t.Helper()
	clk := clock.NewVirtual(Epoch.Add(-time.Hour), nil)
	clk.Freeze()
	h := &House{Clock: clk, t: t}
	h.Pass(time.Hour - clk.Now().Sub(Epoch.Add(-time.Hour)))
	s, err := store.Open(t.TempDir(), store.Options{Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Seed(World(), []byte("pepper")); err != nil {
		t.Fatal(err)
	}
	h.Store = s
	return h
}

// Pass moves the clock.
func (h *House) Pass(d time.Duration) {
	h.t.Helper()
	if err := h.Clock.Advance(h.Clock.Now().Add(d)); err != nil {
		h.t.Fatal(err)
	}
}

// Digest checks that a place's digest matches its content, and returns the revision.
func (h *House) Digest(placeID string) int64 {
	h.t.Helper()
	y, err := boardsync.Reader{Source: h.Store}.SyncContent(placeID, 0)
	if err != nil {
		h.t.Fatal(err)
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
	if got := sum.String(); got != y.Digest {
		h.t.Errorf("digest %s, content sums to %s", y.Digest, got)
	}
	return y.To
}
