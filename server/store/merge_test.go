package store

import (
	"slices"
	"strings"
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/auth"
)

// TestSeedAddsAndRenames: a new version of the world file on existing data.
func TestSeedAddsAndRenames(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	rev := must.Get(s.Revision("plc_a"))(t)
	w := testWorld()
	a := &w.Places[0]
	a.Name, a.Boards[0].Name, a.Boards[0].Doors[0].Name = "New name", "Board", "Main"
	a.Boards[0].Doors = append(a.Boards[0].Doors, world.Door{ID: "dor_3", Name: "Side", Channel: 3})
	a.Boards = append(a.Boards, world.Board{ID: "brd_new", Password: "pw", Doors: []world.Door{{ID: "dor_4", Name: "Gate", Channel: 1}}})
	a.Keys = append(a.Keys, world.Key{ID: "key_new", Name: "second", Scopes: []string{"device:door"}, Secret: "sact_y"})
	a.Timezone = "Europe/Berlin"
	w.Places = append(w.Places, world.Place{ID: "plc_new", Name: "New", Kind: world.Live})
	unchanged := must.Get(s.Seed(w, pepper))(t)
	if len(unchanged) != 1 || !strings.Contains(unchanged[0], "timezone") {
		t.Errorf("it says it can't change %q, want the timezone alone", unchanged)
	}
	p, err := s.Place("plc_a")
	if err != nil || p.Name != "New name" || p.Timezone == "Europe/Berlin" {
		t.Errorf("got place %+v, %v, want the new name and the old timezone", p, err)
	}
	var doors []string
	list, err := s.Doors("plc_a")
	for _, d := range list {
		doors = append(doors, d.BoardID+" "+d.ID+" "+d.Name)
	}
	if want := []string{"brd_a dor_1 Main", "brd_a dor_2 Back", "brd_a dor_3 Side", "brd_new dor_4 Gate"}; err != nil || !slices.Equal(doors, want) {
		t.Errorf("doors %q, %v, want %q", doors, err, want)
	}
	digestOf(t, s) // the boards learn of the new doors
	if now, err := s.Revision("plc_a"); err != nil || now != rev+1 {
		t.Errorf("revision %d, %v, want one more than %d", now, err, rev)
	}
	if _, err := s.Place("plc_new"); err != nil {
		t.Error(err)
	}
	if _, err := s.KeyByHash(auth.HashKey(pepper, "sact_y")); err != nil {
		t.Errorf("the new key: got %v, want it found", err)
	}
	unchanged, err = s.Seed(testWorld(), pepper)
	if text := strings.Join(unchanged, "; "); err != nil || !strings.Contains(text, "dor_3") || !strings.Contains(text, "plc_new") {
		t.Errorf("what the file no longer has: got %q, %v, want dor_3 and plc_new named", unchanged, err)
	}
}

// TestSeedSaysWhatStays: each edit that a world file can't make any more has its sentence, and an edit that changes
// nothing has none.
func TestSeedSaysWhatStays(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	door := func(w *world.World) *world.Door { return &w.Places[0].Boards[0].Doors[0] }
	for name, c := range map[string]struct {
		change func(w *world.World)
		want   string
	}{
		"entry":             {func(w *world.World) { door(w).Entry = &no }, "entry of the door dor_1 "},
		"entry as before":   {func(w *world.World) { door(w).Entry = &yes }, ""},
		"longest permit":    {func(w *world.World) { door(w).EntryPermitMaxHours = 24 }, "entryPermitMaxHours of the door dor_1 "},
		"the same in words": {func(w *world.World) { door(w).EntryPermitMaxHours = 720 }, ""},
		"what a key may":    {func(w *world.World) { w.Places[0].Keys[0].Sim = true }, "the key key_a keeps"},
		"a key left out":    {func(w *world.World) { w.Places[0].Keys = nil }, "the key key_a (partner) is no longer in the world"},
		"the door's board":  {func(w *world.World) { w.Places[0].Boards[0].ID = "brd_b" }, "the door dor_1 stays on channel 1 of the board brd_a"},
		"a door before": {func(w *world.World) {
			w.Places[0].Boards[0].Doors = append([]world.Door{{ID: "dor_0", Channel: 9}}, w.Places[0].Boards[0].Doors...)
		}, "the doors of the place plc_a keep their order"},
		"another order": {func(w *world.World) { slices.Reverse(w.Places[0].Boards[0].Doors) }, "the doors of the place plc_a keep their order"},
		"a door after": {func(w *world.World) {
			w.Places[0].Boards[0].Doors = append(w.Places[0].Boards[0].Doors, world.Door{ID: "dor_9", Channel: 9})
		}, ""},
		"a membership's term": {func(w *world.World) { w.Places[0].Memberships[0].EndsAt = &epoch }, "memberships of the place plc_a"},
	} {
		s := seeded(t)
		w := testWorld()
		c.change(w)
		got := must.Get(s.Seed(w, pepper))(t)
		if found := slices.ContainsFunc(got, func(what string) bool { return strings.HasPrefix(what, c.want) }); c.want != "" && !found || c.want == "" && len(got) > 0 {
			t.Errorf("%s: it says %q, want a sentence that begins with %q", name, got, c.want)
		}
	}
}

// TestPasswordsAreHashed: both in new data and in data of an older version.
func TestPasswordsAreHashed(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	first, err := s.q.Board(ctx, "brd_a")
	if err != nil || first.Password != "" || len(first.Hash) != 64 {
		t.Fatalf("got row %+v, %v, want a hash and no password", first, err)
	}
	must.OK(t, s.write(func(tx *Tx) error {
		_, err := tx.Exec("UPDATE boards SET password = 'pw', hash = '', generation = 0")
		return err
	}))
	must.Get(s.Seed(testWorld(), pepper))(t)
	if again, err := s.q.Board(ctx, "brd_a"); err != nil || again != first {
		t.Errorf("of an older version: %+v, %v, want %+v", again, err, first)
	}
}
