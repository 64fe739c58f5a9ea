package store

import (
	"database/sql"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/wire"
	"github.com/doorlab/doorlab/server/grant"
	"github.com/doorlab/doorlab/server/store/db"
)

// SyncContent is what takes a board from revision from to the place's current
// one: a snapshot for from 0 (or a from the place never had), else a delta
// [SYNC-1] [SYNC-2]. To is the current revision and Digest the digest of the
// whole content at it. ErrNotFound for an unknown place.
func (s *Store) SyncContent(placeID string, from int64) (wire.Sync, error) {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // one moment for all reads
	if err != nil {
		return wire.Sync{}, wrap(err)
	}
	defer func() { _ = tx.Rollback() }()
	return syncContent(db.New(tx), placeID, from)
}

func syncContent(q *db.Queries, placeID string, from int64) (y wire.Sync, err error) {
	parts, err := q.PlaceParts(ctx, placeID)
	if err != nil {
		return wire.Sync{}, wrap(err)
	}
	y.To, y.Digest, y.Timezone = parts.Revision, parts.Digest, parts.Timezone
	if from <= 0 || from > y.To {
		from, y.Snapshot = 0, true
	}
	y.From = from
	if y.Upsert, err = contentSince(q, placeID, from); err != nil {
		return wire.Sync{}, err
	}
	if y.Snapshot || parts.HoursRev > from {
		p, err := placeOf(q.Place(ctx, placeID))
		if err != nil {
			return wire.Sync{}, err
		}
		h := p.Hours()
		y.Hours = &h
	}
	if y.Snapshot || parts.WindowsRev > from {
		ps, err := readPolicies(q, placeID, "")
		if err != nil {
			return wire.Sync{}, err
		}
		ws := windowsOf(ps)
		y.Windows = &ws
	}
	if y.Snapshot || parts.DoorsRev > from {
		ds, err := readDoors(q, placeID)
		if err != nil {
			return wire.Sync{}, err
		}
		dc := doorConfigs(ds)
		y.Doors = &dc
	}
	return y, nil
}

func contentSince(q *db.Queries, placeID string, from int64) ([]access.Grant, error) {
	rows, err := q.GrantsSince(ctx, placeID, from)
	gs, err := each(grantOf, rows, err)
	return contents(gs), err
}

func contents(gs []grant.Grant) []access.Grant {
	out := make([]access.Grant, 0, len(gs))
	for _, g := range gs {
		out = append(out, g.Content())
	}
	return out
}
