package store

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/id"
	"github.com/doorlab/doorlab/internal/world"
	"github.com/doorlab/doorlab/server/auth"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/store/db"
)

// ErrOtherWorld: the data directory was seeded from another world or seed.
var ErrOtherWorld = errors.New("store: the data directory holds another world")

// Meta reads a remembered value, "" when there is none.
func (s *Store) Meta(name string) (value string, err error) {
	return none(s.q.Meta(ctx, name))
}

// SetMeta remembers a value.
func SetMeta(tx *sql.Tx, name, value string) error {
	return wrap(db.New(tx).SetMeta(ctx, name, value))
}

// Seed writes a resolved world into an empty database, in one transaction.
// Seeding the same world again changes nothing. ErrOtherWorld.
func (s *Store) Seed(w *world.World) error {
	b, err := json.Marshal(w)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(b)
	print := hex.EncodeToString(sum[:])
	return s.Write(func(tx *sql.Tx) error {
		have, err := db.New(tx).Meta(ctx, "world")
		if err == nil && have == print {
			return nil
		}
		if err == nil {
			return ErrOtherWorld
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		for _, p := range w.Places {
			if err := s.seedPlace(tx, p); err != nil {
				return err
			}
		}
		return SetMeta(tx, "world", print)
	})
}

func (s *Store) seedPlace(tx *sql.Tx, wp world.Place) error {
	p := place.Place{ID: wp.ID, Name: wp.Name, Kind: wp.Kind, Timezone: wp.Timezone, EntryPhone: wp.EntryPhone,
		PhoneEnabled: true, PermitMaxHours: place.MaxPermitHours, Week: wp.Hours, Closures: wp.Closures, Holidays: wp.Holidays}
	if p.Timezone == "" {
		p.Timezone = place.DefaultZone
	}
	if p.Week == nil {
		p.Week = access.Week{}
	}
	q := db.New(tx)
	if err := q.InsertPlace(ctx, db.InsertPlaceParams{ID: p.ID, Name: p.Name, Kind: p.Kind, Timezone: p.Timezone, EntryPhone: text(p.EntryPhone),
		PhoneEnabled: p.PhoneEnabled, PermitMaxHours: int64(p.PermitMaxHours),
		Week: jsonText(p.Week), Closures: jsonText(p.Closures), Holidays: jsonText(p.Holidays)}); err != nil {
		return err
	}
	rev, err := RaiseRevision(tx, p.ID)
	if err != nil {
		return err
	}
	if err := seedBoards(q, wp); err != nil {
		return err
	}
	if err := q.SetAllRevs(ctx, rev, p.ID); err != nil {
		return err
	}
	doors, err := readDoors(q, p.ID)
	if err != nil {
		return err
	}
	for _, c := range doorConfigs(doors) {
		if err := toggle(tx, p.ID, "door", c); err != nil {
			return err
		}
	}
	if err := toggle(tx, p.ID, "hours", p.Hours()); err != nil {
		return err
	}
	for _, k := range wp.Keys {
		if err := insertKey(tx, auth.Key{ID: k.ID, PlaceID: p.ID, Name: k.Name, Scopes: k.Scopes, Sim: k.Sim, CreatedAt: Now(tx)},
			auth.HashKey(s.Secret("api keys"), k.Secret), true); err != nil {
			return err
		}
	}
	return seedMemberships(tx, wp, doors)
}

func seedBoards(q *db.Queries, wp world.Place) error {
	n := int64(0)
	for _, b := range wp.Boards {
		if err := q.InsertBoard(ctx, db.InsertBoardParams{ID: b.ID, PlaceID: wp.ID, Name: b.Name, Password: b.Password}); err != nil {
			return err
		}
		for _, d := range b.Doors {
			hours := d.EntryPermitMaxHours
			if hours == 0 {
				hours = place.MaxPermitHours
			}
			if err := q.InsertDoor(ctx, db.InsertDoorParams{ID: d.ID, PlaceID: wp.ID, BoardID: b.ID, Name: d.Name, Channel: int64(d.Channel),
				Entry: d.Entry == nil || *d.Entry, PermitMaxHours: int64(hours), Position: n}); err != nil {
				return err
			}
			n++
		}
	}
	return nil
}

func seedMemberships(tx *sql.Tx, wp world.Place, doors []place.Door) error {
	now := Now(tx)
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
		if err := putGrant(tx, &g, nil); err != nil {
			return err
		}
	}
	return nil
}
