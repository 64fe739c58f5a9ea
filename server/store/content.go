package store

import (
	"context"
	"database/sql"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/grant"
)

// SyncContent is what takes a board from revision from to the place's current
// one: a snapshot for from 0 (or a from the place never had), else a delta
// [SYNC-1] [SYNC-2]. To is the current revision and Digest the digest of the
// whole content at it. ErrNotFound for an unknown place.
func (s *Store) SyncContent(placeID string, from int64) (wire.Sync, error) {
	tx, err := s.read.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true}) // one moment for all reads
	if err != nil {
		return wire.Sync{}, wrap(err)
	}
	defer func() { _ = tx.Rollback() }()
	return syncContent(tx, placeID, from)
}

func syncContent(tx *sql.Tx, placeID string, from int64) (y wire.Sync, err error) {
	var hoursRev, windowsRev, doorsRev int64
	err = tx.QueryRow("SELECT revision, digest, timezone, hours_rev, windows_rev, doors_rev FROM places WHERE id = ?", placeID).
		Scan(&y.To, &y.Digest, &y.Timezone, &hoursRev, &windowsRev, &doorsRev)
	if err != nil {
		return wire.Sync{}, wrap(err)
	}
	if from <= 0 || from > y.To {
		from, y.Snapshot = 0, true
	}
	y.From = from
	if y.Upsert, err = contentSince(tx, placeID, from); err != nil {
		return wire.Sync{}, err
	}
	if y.Snapshot || hoursRev > from {
		p, err := readPlace(tx, placeID)
		if err != nil {
			return wire.Sync{}, err
		}
		h := p.Hours()
		y.Hours = &h
	}
	if y.Snapshot || windowsRev > from {
		ps, err := readPolicies(tx, placeID, "")
		if err != nil {
			return wire.Sync{}, err
		}
		ws := windowsOf(ps)
		y.Windows = &ws
	}
	if y.Snapshot || doorsRev > from {
		ds, err := readDoors(tx, placeID)
		if err != nil {
			return wire.Sync{}, err
		}
		dc := doorConfigs(ds)
		y.Doors = &dc
	}
	return y, nil
}

func contentSince(q querier, placeID string, from int64) ([]access.Grant, error) {
	gs, err := collect(q, scanGrant, "SELECT "+grantColumns+" FROM grants WHERE place_id = ? AND rev > ? ORDER BY rev, id", placeID, from)
	return contents(gs), err
}

func contents(gs []grant.Grant) []access.Grant {
	out := make([]access.Grant, 0, len(gs))
	for _, g := range gs {
		out = append(out, g.Content())
	}
	return out
}
