package store

import (
	"encoding/hex"
	"fmt"
	"maps"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/server/age"
	"github.com/doorlab/doorlab/server/store/db"
)

// Tx is one write, or one moment of reading. Writes share a transaction with the others of their batch but are rolled
// back individually.
type Tx struct {
	*statements
	Now time.Time // domain time at which the transaction began, to the millisecond

	come    time.Time // see age.Clock.Come
	ran     time.Time // see age.Clock.Ran
	q       *db.Queries
	phones  []byte                 // see Options.Phones
	doors   *doors                 // the cache of doors; a write that changes one marks it
	places  map[string]*placeState // whose revision or digest this write has touched
	pending []revision             // that it raised
	noted   []history.Event        // that it made
	batch   *gathered              // collected writes of the batch; nil = a moment of reading
	running int                    // commands it has claimed, less those it has settled
}

// tx makes one of a transaction's writes. They share what they gather.
func (s *Store) tx(of *statements, q *db.Queries, now time.Time, batch *gathered) *Tx {
	return &Tx{statements: of, Now: now, batch: batch, q: q, phones: s.phones, doors: &s.doors,
		come: s.ages.Come(), ran: s.ages.Ran()}
}

// revision is one place revision that was raised.
type revision struct {
	placeID string
	rev     int64
}

// placeState is a place's revision and digest while a write changes it.
type placeState struct {
	rev int64
	sum access.Sum
	new bool // raised by this write
}

func (t *Tx) place(placeID string) (*placeState, error) {
	if p := t.places[placeID]; p != nil {
		return p, nil
	}
	p, err := t.placeBefore(placeID)
	if err != nil {
		return nil, err
	}
	each.Put(&t.places, placeID, p)
	return p, nil
}

// placeBefore is a place as the previous writes left it.
func (t *Tx) placeBefore(placeID string) (*placeState, error) {
	if p := t.batch.places[placeID]; p != nil {
		return &placeState{rev: p.rev, sum: p.sum}, nil
	}
	row, err := t.q.PlaceDigest(ctx, placeID)
	if err != nil {
		return nil, wrap(err)
	}
	p := &placeState{rev: row.Revision}
	b, err := hex.DecodeString(row.Digest)
	if err != nil || len(b) != len(p.sum) {
		return nil, fmt.Errorf("store: the digest of %s is damaged", placeID)
	}
	copy(p.sum[:], b)
	return p, nil
}

// day is the day of running time on which the write runs.
func (t *Tx) day() int64 { return age.Day(t.ran) }

// raise increments a place's revision, once per write: further calls in the same write return the same number.
// fail.ErrNotFound for an unknown place.
func (t *Tx) raise(placeID string) (int64, error) {
	p, err := t.place(placeID)
	if err != nil {
		return 0, err
	}
	if !p.new {
		p.new = true
		p.rev++
		t.pending = append(t.pending, revision{placeID, p.rev})
	}
	return p.rev, nil
}

// toggle changes the place's content digest; call raise first.
func (t *Tx) toggle(placeID, kind string, item any) error {
	p, err := t.place(placeID)
	if err != nil {
		return err
	}
	p.sum.Toggle(kind, item)
	return nil
}

// finish hands the revisions that the write raised, with their digests, to the batch. It can't fail: everything that
// can has happened before.
func (t *Tx) finish() {
	if t.batch.places == nil && len(t.places) > 0 {
		t.batch.places, t.batch.moved = map[string]*placeState{}, map[string]bool{}
	}
	for _, r := range t.pending {
		t.stamp(r, t.places[r.placeID].sum.String())
		t.batch.moved[r.placeID] = true
	}
	maps.Copy(t.batch.places, t.places)
}
