package place_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/must"
	"github.com/doorlab/doorlab/server/place"
)

// TestAudited: a change of hours, of a place's settings or of a door's is in the audit log, without values; what names
// nothing isn't. If the log can't be written, nothing changes.
func TestAudited(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	change := func(s *place.Service) []error {
		_, hours := s.SetHours(owner, place.Week{"tue": {}, "mon": {{"09:00", "10:00"}}})
		_, settings := s.PatchPlace("plc_a", place.PlacePatch{EntryPhone: new("05033334444"), Closures: &[]access.Closure{}})
		_, door := s.PatchDoor("dor_1", place.DoorPatch{Entry: new(false)})
		return []error{hours, settings, door}
	}
	full := errors.New("disk full")
	for i, err := range change(place.New(place.Config{Clock: h.Clock, Store: noAudit{h.Store, full}})) {
		if !errors.Is(err, full) {
			t.Errorf("change %d without a log: got %v, want %v", i, err, full)
		}
	}
	before := must.Get(h.Store.Place("plc_a"))(t)
	if door := must.Get(h.Store.Door("dor_1"))(t); before.EntryPhone == "05033334444" || len(before.Week["mon"]) > 0 || !door.Entry {
		t.Errorf("got %+v and %+v after changes that failed, want both as before", before, door)
	}
	for i, err := range change(h.Service) {
		if err != nil {
			t.Errorf("change %d: got %v, want no error", i, err)
		}
	}
	must.Get(h.SetHours(owner, place.Week{}))(t)
	must.Get(h.PatchPlace("plc_a", place.PlacePatch{}))(t)
	must.Get(h.PatchDoor("dor_1", place.DoorPatch{}))(t)
	list, _, err := h.Audits("plc_a", 10, 0)
	var got []string
	for _, a := range list {
		got = append(got, fmt.Sprintf("%s by %q: %s", a.Action, a.KeyID, a.Detail))
	}
	want := []string{`door.changed by "": dor_1: entry`, `place.changed by "": entryPhone, closures`, `hours.changed by "key_a": mon, tue`}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("audit log %q, %v, want %q", got, err, want)
	}
}
