package store

import (
	"errors"
	"slices"
	"sync"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/server/place"
)

// doors caches the doors and their places: every command, permit, record and list reads them, and they hardly ever
// change. A commit that changes any empties the cache before anyone learns of the commit.
type doors struct {
	mu      sync.RWMutex
	age     int64 // incremented when emptied: what was read before that isn't cached
	byID    map[string]place.Door
	byPlace map[string][]place.Door
	places  map[string]place.Place
	changed bool // by the transaction in progress; only the writer uses it
}

// committed empties the cache if the transaction changed a door or a place, even if it failed: a write of the same
// transaction may have read the change.
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

// door returns the cached door, or else what read finds.
func (d *doors) door(id string, read func() (place.Door, error)) (place.Door, error) {
	return remembered(d, &d.byID, id, read)
}

// place does the same for a place, whose lists are read only.
func (d *doors) place(id string, read func() (place.Place, error)) (place.Place, error) {
	return remembered(d, &d.places, id, read)
}

// of is the same for the doors of a place. Nobody may change the list.
func (d *doors) of(placeID string, read func() ([]place.Door, error)) ([]place.Door, error) {
	list, err := remembered(d, &d.byPlace, placeID, func() ([]place.Door, error) {
		found, err := read()
		if err == nil && len(found) == 0 {
			err = errNone
		}
		return found, err
	})
	if errors.Is(err, errNone) {
		return nil, nil
	}
	return list, err
}

// errNone keeps an unknown place out of the cache.
var errNone = errors.New("store: no doors")

// remembered returns what one of the maps has, or else what read finds, which is cached unless the cache was emptied
// meanwhile. Errors are never cached.
func remembered[T any](d *doors, in *map[string]T, id string, read func() (T, error)) (T, error) {
	d.mu.RLock()
	kept, ok := (*in)[id]
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
		each.Put(in, id, found)
	}
	return found, nil
}

// Door reads one door. Error: fail.ErrNotFound.
func (s *Store) Door(id string) (place.Door, error) {
	return s.doors.door(id, func() (place.Door, error) { return doorOf(s.q.Door(ctx, id)) })
}

// Doors lists a place's doors in the order of the world file. The list is the caller's own.
func (s *Store) Doors(placeID string) ([]place.Door, error) {
	list, err := s.doors.of(placeID, func() ([]place.Door, error) { return readDoors(s.q, placeID) })
	return slices.Clone(list), err
}
