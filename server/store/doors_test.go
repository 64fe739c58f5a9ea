package store

import (
	"testing"

	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/place"
)

// What was read before a change isn't cached after it, however long the read took.
func TestDoorsReadBeforeAChange(t *testing.T) {
	t.Parallel()
	var d doors
	old := func() (place.Door, error) {
		d.changed = true
		d.committed() // a commit while the old row is being read
		return place.Door{ID: "dor_1", Name: "old"}, nil
	}
	if got, err := d.door("dor_1", old); err != nil || got.Name != "old" {
		t.Errorf("the slow reader got %+v, %v, want the old door", got, err)
	}
	fresh := func() (place.Door, error) { return place.Door{ID: "dor_1", Name: "new"}, nil }
	if got, err := d.door("dor_1", fresh); err != nil || got.Name != "new" {
		t.Errorf("the next reader got %+v, %v, want the new door", got, err)
	}
	kept := func() (place.Door, error) {
		t.Error("read again, want the kept one")
		return place.Door{}, nil
	}
	if got, err := d.door("dor_1", kept); err != nil || got.Name != "new" {
		t.Errorf("the third reader got %+v, %v, want the new door", got, err)
	}
}

// Callers may change the list they get, and a change is visible to the next reader.
func TestDoorsAreSeenChanged(t *testing.T) {
	t.Parallel()
	s := seeded(t)
	list, err := s.Doors("plc_a")
	if err != nil || len(list) != 2 {
		t.Fatalf("%d doors, %v, want 2", len(list), err)
	}
	id := list[0].ID
	list[0].Name = "scribbled on"
	if list, err = s.Doors("plc_a"); err != nil || list[0].Name != "Front" {
		t.Errorf("doors %+v, %v, want Front as it was", list, err)
	}
	d := must.Get(s.Door(id))(t)
	d.PermitMaxHours = 48
	must.OK(t, s.write(func(tx *Tx) error {
		if err := (placeTx{tx}).SaveDoor(d); err != nil {
			return err
		}
		mine, err := tx.Doors("plc_a")
		if err == nil && mine[0].PermitMaxHours != 48 {
			t.Errorf("doors %+v within the write, want 48 hours in the first", mine)
		}
		return err
	}))
	if d, err = s.Door(id); err != nil || d.PermitMaxHours != 48 {
		t.Errorf("door %+v, %v, want 48 hours", d, err)
	}
	if list, err = s.Doors("plc_a"); err != nil || list[0].PermitMaxHours != 48 {
		t.Errorf("doors %+v, %v, want 48 hours in the first", list, err)
	}
	if _, err := s.Door("dor_none"); err == nil {
		t.Error("a door that isn't there was found")
	}
}
