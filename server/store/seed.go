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
)

// ErrOtherWorld: the data directory was seeded from another world or seed.
var ErrOtherWorld = errors.New("store: the data directory holds another world")

// Meta reads a remembered value, "" when there is none.
func (s *Store) Meta(name string) (value string, err error) {
	err = s.read.QueryRow("SELECT value FROM meta WHERE name = ?", name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, wrap(err)
}

// SetMeta remembers a value.
func SetMeta(tx *sql.Tx, name, value string) error {
	_, err := tx.Exec("INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value)
	return wrap(err)
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
		var have string
		err := tx.QueryRow("SELECT value FROM meta WHERE name = 'world'").Scan(&have)
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
	if _, err := tx.Exec(`INSERT INTO places (id, name, kind, timezone, entry_phone, phone_enabled, permit_max_hours, week, closures, holidays)
			VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?, ?)`, p.ID, p.Name, p.Kind, p.Timezone, textOrNull(p.EntryPhone), p.PermitMaxHours,
		jsonText(p.Week), jsonText(p.Closures), jsonText(p.Holidays)); err != nil {
		return err
	}
	rev, err := RaiseRevision(tx, p.ID)
	if err != nil {
		return err
	}
	if err := seedBoards(tx, wp); err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE places SET hours_rev = ?1, windows_rev = ?1, doors_rev = ?1 WHERE id = ?2", rev, p.ID); err != nil {
		return err
	}
	doors, err := readDoors(tx, p.ID)
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

func seedBoards(tx *sql.Tx, wp world.Place) error {
	n := 0
	for _, b := range wp.Boards {
		if _, err := tx.Exec("INSERT INTO boards (id, place_id, name, password) VALUES (?, ?, ?, ?)", b.ID, wp.ID, b.Name, b.Password); err != nil {
			return err
		}
		for _, d := range b.Doors {
			hours := d.EntryPermitMaxHours
			if hours == 0 {
				hours = place.MaxPermitHours
			}
			if _, err := tx.Exec("INSERT INTO doors (id, place_id, board_id, name, channel, entry, permit_max_hours, position) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
				d.ID, wp.ID, b.ID, d.Name, d.Channel, d.Entry == nil || *d.Entry, hours, n); err != nil {
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
