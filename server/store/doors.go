package store

import (
	"slices"
	"sync"

	"github.com/doorlab/doorlab/server/place"
)

// doors keeps what was read of the doors and their places in memory: they are asked for by every
// command, permit, record and list, and hardly ever change. A commit that changes any
// empties it before anybody learns of the commit.
type doors struct {
	mu      sync.RWMutex
	age     int64 // rises whenever it is emptied: what was read before isn't kept after
	byID    map[string]place.Door
	byPlace map[string][]place.Door
	places  map[string]place.Place
	changed bool // by the transaction in progress; the writer's
}

// committed empties the memory when the transaction changed a door or a place, even if it
// failed: a write of the same transaction may have read the change.
func (d *doors) committed() {
	if !d.changed {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed = false
	d.age++
	d.byID, d.byPlace, d.places = nil, nil, nil
}

// door is what is kept, or else what read finds.
func (d *doors) door(id string, read func() (place.Door, error)) (place.Door, error) {
	d.mu.RLock()
	kept, ok := d.byID[id]
	age := d.age
	d.mu.RUnlock()
	if ok {
		return kept, nil
	}
	found, err := read()
	if err != nil {
		return found, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.age == age {
		if d.byID == nil {
			d.byID = map[string]place.Door{}
		}
		d.byID[id] = found
	}
	return found, nil
}

// place is the same for a place, whose lists nobody may change.
func (d *doors) place(id string, read func() (place.Place, error)) (place.Place, error) {
	d.mu.RLock()
	kept, ok := d.places[id]
	age := d.age
	d.mu.RUnlock()
	if ok {
		return kept, nil
	}
	found, err := read()
	if err != nil {
		return found, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.age == age {
		if d.places == nil {
			d.places = map[string]place.Place{}
		}
		d.places[id] = found
	}
	return found, nil
}

// of is the same for the doors of a place. The list is the caller's own.
func (d *doors) of(placeID string, read func() ([]place.Door, error)) ([]place.Door, error) {
	d.mu.RLock()
	kept, ok := d.byPlace[placeID]
	age := d.age
	d.mu.RUnlock()
	if ok {
		return slices.Clone(kept), nil
	}
	found, err := read()
	if err != nil || len(found) == 0 { // an unknown place isn't worth keeping
		return found, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.age == age {
		if d.byPlace == nil {
			d.byPlace = map[string][]place.Door{}
		}
		d.byPlace[placeID] = slices.Clone(found)
	}
	return found, nil
}

// Door reads one door. ErrNotFound.
func (s *Store) Door(id string) (place.Door, error) {
	return s.doors.door(id, func() (place.Door, error) { return doorOf(s.q.Door(ctx, id)) })
}

// Doors lists a place's doors in the order of the world file.
func (s *Store) Doors(placeID string) ([]place.Door, error) {
	return s.doors.of(placeID, func() ([]place.Door, error) { return readDoors(s.q, placeID) })
}
