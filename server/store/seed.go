package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/board"
	"github.com/doorlab/doorlab/server/boardsync"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/store/db"
)

// Errors of Seed and Claim.
var (
	// ErrOtherWorld: the data was made from an incompatible world.
	ErrOtherWorld = errors.New("store: the data directory holds another world")
	// ErrForeign: the database was made with another secret.
	ErrForeign = errors.New("store: the database belongs to another secret")
)

// meta reads a stored value, "" if there is none.
func (s *Store) meta(name string) (value string, err error) {
	return none(s.q.Meta(ctx, name))
}

// setMeta stores a value.
func (t *Tx) setMeta(name, value string) error {
	return wrap(t.q.SetMeta(ctx, name, value))
}

// Claim stores the id of the secret that the database goes with. ErrForeign if it already goes with another one.
func (s *Store) Claim(secretID string) error {
	return s.write(func(tx *Tx) error {
		have, err := none(tx.q.Meta(ctx, "secret"))
		switch {
		case err != nil || have == secretID:
			return err
		case have != "":
			return ErrForeign
		}
		return tx.setMeta("secret", secretID)
	})
}

// Seed updates the database to a resolved world with its secrets, in one transaction: it adds what is new and takes
// over changed names. unchanged has a sentence on each thing that it can't change. Keys and passwords are hashed with
// pepper. ErrOtherWorld if a place, board or door is something else in the data.
func (s *Store) Seed(w *world.World, pepper []byte) (unchanged []string, err error) {
	b, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	err = s.write(func(tx *Tx) error {
		unchanged = nil
		if err := tx.hashPasswords(pepper); err != nil {
			return err
		}
		have, err := none(tx.q.Meta(ctx, "world"))
		if err != nil || have == string(b) {
			return err
		}
		m := merge{Tx: tx, pepper: pepper}
		_ = json.Unmarshal([]byte(have), &m.before) // older versions stored a digest: then only the rows are compared
		if err := m.world(w); err != nil {
			return err
		}
		unchanged = m.unchanged
		return tx.setMeta("world", string(b))
	})
	return unchanged, err
}

func (t *Tx) seedPlace(wp world.Place, pepper []byte) error {
	p := place.Place{ID: wp.ID, Name: wp.Name, Kind: wp.Kind, Timezone: wp.Timezone, EntryPhone: wp.EntryPhone,
		PhoneEnabled: true, PermitMaxHours: place.MaxPermitHours, Week: wp.Hours, Closures: wp.Closures, Holidays: wp.Holidays}
	p.Timezone = cmp.Or(p.Timezone, place.DefaultZone)
	if p.Week == nil {
		p.Week = access.Week{}
	}
	q := t.q
	if err := q.InsertPlace(ctx, db.InsertPlaceParams{ID: p.ID, Name: p.Name, Kind: p.Kind, Timezone: p.Timezone, EntryPhone: text(p.EntryPhone),
		PhoneEnabled: p.PhoneEnabled, PermitMaxHours: int64(p.PermitMaxHours),
		Week: jsonText(p.Week), Closures: jsonText(p.Closures), Holidays: jsonText(p.Holidays)}); err != nil {
		return err
	}
	rev, err := t.raise(p.ID)
	if err != nil {
		return err
	}
	if err := seedBoards(q, wp, pepper); err != nil {
		return err
	}
	if err := q.SetAllRevs(ctx, rev, p.ID); err != nil {
		return err
	}
	doors, err := readDoors(q, p.ID)
	if err != nil {
		return err
	}
	for _, c := range boardsync.DoorConfigs(doors) {
		if err := t.toggle(p.ID, "door", c); err != nil {
			return err
		}
	}
	if err := t.toggle(p.ID, "hours", p.Hours()); err != nil {
		return err
	}
	for _, k := range wp.Keys {
		if err := t.seedKey(p.ID, k, pepper); err != nil {
			return err
		}
	}
	return t.seedMemberships(wp, doors)
}

func (t *Tx) seedKey(placeID string, k world.Key, pepper []byte) error {
	if k.Secret == "" {
		return fmt.Errorf("store: the key %s has no secret", k.ID) // DeriveSecrets was not called
	}
	return t.insertKey(auth.Key{ID: k.ID, PlaceID: placeID, Name: k.Name, Scopes: k.Scopes, Sim: k.Sim, CreatedAt: t.Now},
		auth.HashKey(pepper, k.Secret), true)
}

func seedBoards(q *db.Queries, wp world.Place, pepper []byte) error {
	n := int64(0)
	for _, b := range wp.Boards {
		if err := seedBoard(q, wp.ID, b, pepper); err != nil {
			return err
		}
		for _, d := range b.Doors {
			if err := seedDoor(q, wp.ID, b.ID, d, n); err != nil {
				return err
			}
			n++
		}
	}
	return nil
}

func seedBoard(q *db.Queries, placeID string, b world.Board, pepper []byte) error {
	if b.Password == "" {
		return fmt.Errorf("store: the board %s has no password", b.ID) // DeriveSecrets was not called
	}
	return q.InsertBoard(ctx, db.InsertBoardParams{ID: b.ID, PlaceID: placeID, Name: b.Name, Hash: board.HashPassword(pepper, b.ID, b.Password)})
}

func seedDoor(q *db.Queries, placeID, boardID string, d world.Door, position int64) error {
	return q.InsertDoor(ctx, db.InsertDoorParams{ID: d.ID, PlaceID: placeID, BoardID: boardID, Name: d.Name, Channel: int64(d.Channel),
		Entry: d.IsEntry(), PermitMaxHours: int64(permitHours(d)), Position: position})
}

func permitHours(d world.Door) int { return cmp.Or(d.EntryPermitMaxHours, place.MaxPermitHours) }

func (t *Tx) seedMemberships(wp world.Place, doors []place.Door) error {
	now := t.Now
	for _, m := range wp.Memberships {
		g := grant.Grant{ID: id.New(id.Membership, now), PlaceID: wp.ID, Kind: access.KindMembership, Source: "world",
			Phone: m.Phone, Name: m.Name, StartsAt: m.StartsAt, Doors: slices.Clone(m.DoorIDs), CreatedAt: now, UpdatedAt: now}
		if m.EndsAt != nil {
			g.EndsAt = *m.EndsAt
		}
		if len(g.Doors) == 0 {
			g.Doors = place.EntryDoors(doors)
		}
		slices.Sort(g.Doors)
		if err := t.putGrant(&g, nil); err != nil {
			return err
		}
	}
	return nil
}
