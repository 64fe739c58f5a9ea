package store

import (
	"errors"
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
)

// merge updates existing data to a world: it adds, renames, and notes what it can't change. Once a place exists, what
// the control API and partners can change (hours, closures, entry phones, memberships) is theirs.
type merge struct {
	*Tx
	pepper    []byte
	before    world.World // as last seeded; empty if unknown
	unchanged []string

	doorsBefore map[string]world.Door // by id
}

func (m *merge) note(format string, a ...any) {
	m.unchanged = append(m.unchanged, fmt.Sprintf(format, a...))
}

// other is ErrOtherWorld with a reason.
func other(format string, a ...any) error {
	return fmt.Errorf("%w: %s", ErrOtherWorld, fmt.Sprintf(format, a...))
}

func (m *merge) world(w *world.World) error {
	m.doorsBefore = map[string]world.Door{}
	for _, p := range m.before.Places {
		for _, b := range p.Boards {
			for _, d := range b.Doors {
				m.doorsBefore[d.ID] = d
			}
		}
	}
	for _, wp := range w.Places {
		have, err := placeOf(m.q.Place(ctx, wp.ID))
		switch {
		case errors.Is(err, fail.ErrNotFound):
			err = m.newPlace(wp)
		case err == nil:
			err = m.place(wp, have)
		}
		if err != nil {
			return err
		}
	}
	rows, err := m.q.Places(ctx)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if slices.ContainsFunc(w.Places, func(p world.Place) bool { return p.ID == r.ID }) {
			continue
		}
		if !w.Part.Whole() { // another shard has it by now: a place belongs to one server
			return other("the place %s (%s) isn't in shard %s of the world any more; places can be added at the end of a world file only, once it is sharded", r.ID, r.Name, w.Part)
		}
		m.note("the place %s (%s) is no longer in the world file, but stays in the data directory", r.ID, r.Name)
	}
	return nil
}

// newPlace seeds a new place; nothing of it may belong to another place.
func (m *merge) newPlace(wp world.Place) error {
	for _, b := range wp.Boards {
		if row, err := m.q.Board(ctx, b.ID); err == nil {
			return other("the board %s belongs to the place %s there", b.ID, row.PlaceID)
		}
		for _, d := range b.Doors {
			if row, err := m.q.Door(ctx, d.ID); err == nil {
				return other("the door %s belongs to the place %s there", d.ID, row.PlaceID)
			}
		}
	}
	for _, k := range wp.Keys {
		if row, err := m.q.Key(ctx, k.ID); err == nil {
			return other("the key %s belongs to the place %s there", k.ID, row.PlaceID)
		}
	}
	if row, err := m.q.PlaceByPhone(ctx, text(wp.EntryPhone)); err == nil && wp.EntryPhone != "" {
		return other("the entry phone %s belongs to the place %s there", wp.EntryPhone, row.ID)
	}
	return m.seedPlace(wp, m.pepper)
}

func (m *merge) place(wp world.Place, have place.Place) error {
	if wp.Kind != have.Kind {
		return other("the place %s is a %s place there", wp.ID, have.Kind)
	}
	if wp.Name != have.Name {
		m.doors.changed = true
		if err := m.q.RenamePlace(ctx, wp.Name, wp.ID); err != nil {
			return err
		}
	}
	if i := slices.IndexFunc(m.before.Places, func(p world.Place) bool { return p.ID == wp.ID }); i >= 0 {
		m.settings(wp, m.before.Places[i])
	}
	if err := m.boards(wp); err != nil {
		return err
	}
	return m.keys(wp)
}

// settings notes edits of the file that now belong to the APIs.
func (m *merge) settings(wp, before world.Place) {
	for _, s := range []struct {
		name     string
		now, was any
		use      string
	}{
		{"timezone", wp.Timezone, before.Timezone, "'doorlab place set'"}, {"entryPhone", wp.EntryPhone, before.EntryPhone, "'doorlab place set'"},
		{"closures", wp.Closures, before.Closures, "'doorlab place set'"}, {"holidays", wp.Holidays, before.Holidays, "'doorlab place set'"},
		{"hours", wp.Hours, before.Hours, "the API"}, {"memberships", wp.Memberships, before.Memberships, "the API"},
	} {
		if jsonText(s.now) != jsonText(s.was) {
			m.note("%s of the place %s can't be changed by the world file any more; use %s", s.name, wp.ID, s.use)
		}
	}
}

func (m *merge) boards(wp world.Place) error {
	had, err := readDoors(m.q, wp.ID)
	if err != nil {
		return err
	}
	doors := doorMerge{merge: m, placeID: wp.ID, had: had, next: int64(len(had))}
	for _, b := range wp.Boards {
		row, err := m.q.Board(ctx, b.ID)
		switch err := wrap(err); {
		case errors.Is(err, fail.ErrNotFound):
			if err := seedBoard(m.q, wp.ID, b, m.pepper); err != nil {
				return err
			}
		case err != nil:
			return err
		case row.PlaceID != wp.ID:
			return other("the board %s belongs to the place %s there", b.ID, row.PlaceID)
		case row.Name != b.Name:
			if err := m.q.RenameBoard(ctx, b.Name, b.ID); err != nil {
				return err
			}
		}
		for _, d := range b.Doors {
			if err := doors.door(b.ID, d); err != nil {
				return err
			}
		}
	}
	m.gone(wp, had)
	doors.order(wp)
	return doors.sync()
}

// gone notes doors that are no longer in the world.
func (m *merge) gone(wp world.Place, had []place.Door) {
	for _, h := range had {
		if !slices.ContainsFunc(wp.Boards, func(b world.Board) bool {
			return slices.ContainsFunc(b.Doors, func(d world.Door) bool { return d.ID == h.ID })
		}) {
			m.note("the door %s (%s) is no longer in the world file, but stays in the data directory", h.ID, h.Name)
		}
	}
}

// doorMerge adds and renames the doors of a place.
type doorMerge struct {
	*merge
	placeID string
	had     []place.Door
	added   []place.Door
	next    int64 // position
}

func (m *doorMerge) door(boardID string, d world.Door) error {
	i := slices.IndexFunc(m.had, func(h place.Door) bool { return h.ID == d.ID })
	if i < 0 {
		if _, err := m.q.Door(ctx, d.ID); err == nil {
			return other("the door %s belongs to another place there", d.ID)
		}
		for _, h := range slices.Concat(m.had, m.added) {
			if h.BoardID == boardID && h.Channel == d.Channel { // a command for one would open the other
				return other("channel %d of the board %s opens the door %s there; keep its id, or put %s on another channel", d.Channel, boardID, h.ID, d.ID)
			}
		}
		m.next++
		m.added = append(m.added, place.Door{ID: d.ID, PlaceID: m.placeID, BoardID: boardID, Channel: d.Channel})
		m.doors.changed = true
		return seedDoor(m.q, m.placeID, boardID, d, m.next-1)
	}
	have := m.had[i]
	m.rules(d)
	if have.BoardID != boardID || have.Channel != d.Channel {
		m.note("the door %s stays on channel %d of the board %s", d.ID, have.Channel, have.BoardID)
	}
	if have.Name == d.Name {
		return nil
	}
	m.doors.changed = true
	return m.q.RenameDoor(ctx, d.Name, d.ID)
}

// rules notes edits of a door in the file that now belong to the control API.
func (m *doorMerge) rules(d world.Door) {
	was, known := m.doorsBefore[d.ID]
	if known && was.IsEntry() != d.IsEntry() {
		m.note("entry of the door %s can't be changed by the world file any more; use 'doorlab place door'", d.ID)
	}
	if known && permitHours(was) != permitHours(d) {
		m.note("entryPermitMaxHours of the door %s can't be changed by the world file any more; use 'doorlab place door'", d.ID)
	}
}

// order notes doors that stay where they were, though the file has them in another order: calls try them in it.
func (m *doorMerge) order(wp world.Place) {
	var file, stays []string
	named := map[string]bool{}
	for _, b := range wp.Boards {
		for _, d := range b.Doors {
			file, named[d.ID] = append(file, d.ID), true
		}
	}
	for _, d := range slices.Concat(m.had, m.added) {
		if named[d.ID] {
			stays = append(stays, d.ID)
		}
	}
	if !slices.Equal(file, stays) {
		m.note("the doors of the place %s keep their order, in which calls try them; new ones come last", m.placeID)
	}
}

// sync tells the place's boards about new doors.
func (m *doorMerge) sync() error {
	if len(m.added) == 0 {
		return nil
	}
	rev, err := m.raise(m.placeID)
	if err != nil {
		return err
	}
	for _, c := range boardsync.DoorConfigs(m.added) {
		if err := m.toggle(m.placeID, "door", c); err != nil {
			return err
		}
	}
	return m.q.SetDoorsRev(ctx, rev, m.placeID)
}

func (m *merge) keys(wp world.Place) error {
	for _, k := range wp.Keys {
		row, err := keyOf(m.q.Key(ctx, k.ID))
		switch {
		case errors.Is(err, fail.ErrNotFound):
			if err := m.seedKey(wp.ID, k, m.pepper); err != nil {
				return err
			}
		case err != nil:
			return err
		case row.PlaceID != wp.ID:
			return other("the key %s belongs to the place %s there", k.ID, row.PlaceID)
		case row.Name != k.Name || row.Sim != k.Sim || !slices.Equal(slices.Sorted(slices.Values(row.Scopes)), slices.Sorted(slices.Values(k.Scopes))):
			m.note("the key %s keeps its name, scopes and sim; to change them, revoke it and create another", k.ID)
		}
	}
	return m.goneKeys(wp)
}

// goneKeys notes valid keys of an earlier world that are no longer in this one.
func (m *merge) goneKeys(wp world.Place) error {
	rows, err := m.q.KeysOfPlace(ctx, wp.ID)
	for _, r := range rows {
		if r.World && !r.RevokedAt.Valid && !slices.ContainsFunc(wp.Keys, func(k world.Key) bool { return k.ID == r.ID }) {
			m.note("the key %s (%s) is no longer in the world file, but stays valid until 'doorlab keys revoke %s'", r.ID, r.Name, r.ID)
		}
	}
	return err
}
