package store

import (
	"slices"
	"testing"
	"time"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
)

// Phone calls try the doors in the world file's order, whatever their ids.
func TestDoorsAreInTheWorldsOrder(t *testing.T) {
	t.Parallel()
	s, w := openTest(t, t.TempDir()), testWorld()
	w.Places[0].Boards = []world.Board{
		{ID: "brd_z", Password: "pw", Doors: []world.Door{{ID: "dor_m", Name: "First", Channel: 2}, {ID: "dor_b", Name: "Second", Channel: 1}}},
		{ID: "brd_a", Password: "pw", Doors: []world.Door{{ID: "dor_z", Name: "Third", Channel: 1}}},
	}
	must.Get(s.Seed(w, pepper))(t)
	list := must.Get(s.Doors("plc_a"))(t)
	var got []string
	for _, d := range list {
		got = append(got, d.ID)
	}
	if want := []string{"dor_m", "dor_b", "dor_z"}; !slices.Equal(got, want) {
		t.Errorf("doors %v, want %v", got, want)
	}
	must.OK(t, s.write(func(tx *Tx) error {
		mine, err := tx.Doors("plc_a")
		if !slices.EqualFunc(mine, list, func(a, b place.Door) bool { return a == b }) {
			t.Errorf("doors %+v within a write, want %+v", mine, list)
		}
		return err
	}))
}

// A membership of the world file has the term and the doors that the file gives it, or no end and the entry doors.
func TestSeededMemberships(t *testing.T) {
	t.Parallel()
	s, w, end := openTest(t, t.TempDir()), testWorld(), epoch.Add(24*time.Hour)
	inner := false
	w.Places[0].Boards[0].Doors[1].Entry = &inner
	w.Places[0].Memberships = append(w.Places[0].Memberships, world.Membership{Phone: "01022223333", StartsAt: epoch, EndsAt: &end, DoorIDs: []string{"dor_2"}})
	must.Get(s.Seed(w, pepper))(t)
	for phone, want := range map[string]grant.Grant{
		"01011112222": {StartsAt: epoch, Doors: []string{"dor_1"}},
		"01022223333": {StartsAt: epoch, EndsAt: end, Doors: []string{"dor_2"}},
	} {
		list := must.Get(s.GrantsOf("plc_a", phone))(t)
		if len(list) != 1 {
			t.Fatalf("%s: %d grants, want 1", phone, len(list))
		}
		g := list[0]
		if !g.StartsAt.Equal(want.StartsAt) || !g.EndsAt.Equal(want.EndsAt) || !slices.Equal(g.Doors, want.Doors) || g.Kind != grant.Membership {
			t.Errorf("%s: got %+v, want the term and doors of %+v", phone, g, want)
		}
	}
}
