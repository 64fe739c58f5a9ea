package boardsync

import (
	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/place"
)

// Source is where places' content is kept. server/store implements it.
type Source interface {
	Revision(placeID string) (int64, error)
	// AtOnce runs fn on one consistent snapshot of everything.
	AtOnce(fn func(m Moment) error) error
}

// Moment reads from that snapshot. Errors: fail.ErrNotFound for an unknown place; the store's.
type Moment interface {
	Parts(placeID string) (Parts, error)
	// GrantsSince lists, by revision, the grants of any kind that changed or left the content after a revision,
	// including revoked ones; since 0, those in the content. Only what boards may know of a grant has to be filled in,
	// its revision, and whether it left.
	GrantsSince(placeID string, rev int64) ([]grant.Grant, error)
	PhoneKey(placeID string) access.PhoneKey
	Place(id string) (place.Place, error)
	Policies(placeID, doorID string) ([]access.Window, error)
	Doors(placeID string) ([]place.Door, error)
}

// Parts is a place's revision, the digest of its content at that revision, the revision at which each part last
// changed, and the latest at which a grant left that has been forgotten since.
type Parts struct {
	Revision                       int64
	Digest                         string
	Timezone                       string
	HoursRev, WindowsRev, DoorsRev int64
	ForgottenRev                   int64
}

// Reader is the Content of a Source.
type Reader struct{ Source }

// SyncContent implements Content.
func (r Reader) SyncContent(placeID string, from int64) (y wire.Sync, err error) {
	err = r.AtOnce(func(m Moment) error {
		y, err = contentOf(m, placeID, from)
		return err
	})
	return y, err
}

// contentOf is what takes a board from revision from to the place's current one: a delta, or a snapshot if the board
// has nothing, claims a revision that the place never had, or may have grants that nobody remembers.
func contentOf(m Moment, placeID string, from int64) (y wire.Sync, err error) {
	parts, err := m.Parts(placeID)
	if err != nil {
		return wire.Sync{}, err
	}
	y.To, y.Digest, y.Timezone = parts.Revision, parts.Digest, parts.Timezone
	if from <= 0 || from > y.To || from < parts.ForgottenRev {
		from, y.Snapshot = 0, true
	}
	y.From = from
	gs, err := m.GrantsSince(placeID, from) // [SYNC-1] [SYNC-2] what the board lacks, registered or revoked
	if err != nil {
		return wire.Sync{}, err
	}
	key := m.PhoneKey(placeID)
	for _, g := range gs {
		if g.LeftRev > 0 {
			y.Remove = append(y.Remove, g.ID)
		} else {
			y.Upsert = append(y.Upsert, g.Content(key))
		}
	}
	if y.Snapshot {
		y.PhoneKey = key
	}
	if y.Snapshot || parts.HoursRev > from {
		p, err := m.Place(placeID)
		if err != nil {
			return wire.Sync{}, err
		}
		h := p.Hours()
		y.Hours = &h
	}
	if y.Snapshot || parts.WindowsRev > from {
		ps, err := m.Policies(placeID, "")
		if err != nil {
			return wire.Sync{}, err
		}
		ws := append([]access.Window{}, ps...)
		y.Windows = &ws
	}
	if y.Snapshot || parts.DoorsRev > from {
		ds, err := m.Doors(placeID)
		if err != nil {
			return wire.Sync{}, err
		}
		dc := DoorConfigs(ds)
		y.Doors = &dc
	}
	return y, nil
}

// DoorConfigs are a place's doors as boards receive them.
func DoorConfigs(doors []place.Door) []wire.DoorConfig {
	return each.Of(doors, func(d place.Door) wire.DoorConfig {
		return wire.DoorConfig{BoardID: d.BoardID, DoorID: d.ID, Channel: d.Channel}
	})
}
