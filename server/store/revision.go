package store

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/server/store/db"
)

// raise is one place revision that a batch made.
type raise struct {
	placeID string
	rev     int64
}

// txState is what the store remembers beside an open transaction: the time, and
// the places that the running job has changed.
type txState struct {
	clk     clock.Clock
	places  map[string]*placeState // of the running job
	pending []raise                // of the running job
	noted   []history.Event        // of the running job
	raised  []raise                // of the jobs before
	told    []history.Event        // of the jobs before
}

// placeState is a place's revision and digest while a job changes it.
type placeState struct {
	rev int64
	sum access.Sum
	new bool // raised by this job
}

// open transactions; Write hands out plain *sql.Tx, so the state is found by it.
var open sync.Map // *sql.Tx -> *txState

func begin(tx *sql.Tx, clk clock.Clock) *txState {
	st := &txState{clk: clk, places: map[string]*placeState{}}
	open.Store(tx, st)
	return st
}

func end(tx *sql.Tx) { open.Delete(tx) }

func stateOf(tx *sql.Tx) *txState {
	st, ok := open.Load(tx)
	if !ok {
		panic("store: transaction is not of Store.Write")
	}
	return st.(*txState)
}

func (st *txState) drop() { clear(st.places); st.pending, st.noted = nil, nil }

func (st *txState) keep() {
	st.raised = append(st.raised, st.pending...)
	st.told = append(st.told, st.noted...)
	st.drop()
}

// Now is the domain time in a transaction of Write.
func Now(tx *sql.Tx) time.Time { return stateOf(tx).clk.Now().Truncate(time.Millisecond) }

func (st *txState) place(tx *sql.Tx, placeID string) (*placeState, error) {
	if p := st.places[placeID]; p != nil {
		return p, nil
	}
	row, err := db.New(tx).PlaceDigest(ctx, placeID)
	if err != nil {
		return nil, wrap(err)
	}
	p := &placeState{rev: row.Revision}
	b, err := hex.DecodeString(row.Digest)
	if err != nil || len(b) != len(p.sum) {
		return nil, fmt.Errorf("store: digest of %s is damaged", placeID)
	}
	copy(p.sum[:], b)
	st.places[placeID] = p
	return p, nil
}

// RaiseRevision moves a place's revision on by one, once a Write: further calls
// in the same Write return the same number. ErrNotFound for an unknown place.
func RaiseRevision(tx *sql.Tx, placeID string) (int64, error) {
	st := stateOf(tx)
	p, err := st.place(tx, placeID)
	if err != nil {
		return 0, err
	}
	if !p.new {
		p.new = true
		p.rev++
		st.pending = append(st.pending, raise{placeID, p.rev})
	}
	return p.rev, nil
}

// toggle changes the place's content digest; RaiseRevision must have been called.
func toggle(tx *sql.Tx, placeID, kind string, item any) error {
	p, err := stateOf(tx).place(tx, placeID)
	if err != nil {
		return err
	}
	p.sum.Toggle(kind, item)
	return nil
}

// flush writes the revisions and digests of the running job.
func (st *txState) flush(tx *sql.Tx) error {
	q := db.New(tx)
	for _, r := range st.pending {
		p := st.places[r.placeID]
		digest := p.sum.String()
		st.stamp(r, digest)
		if err := q.SetRevision(ctx, db.SetRevisionParams{ID: r.placeID, Revision: p.rev, Digest: digest}); err != nil {
			return err
		}
		if err := q.InsertRevision(ctx, db.InsertRevisionParams{PlaceID: r.placeID, Rev: p.rev, At: st.clk.Now().UnixMilli(), Digest: digest}); err != nil {
			return err
		}
	}
	return nil
}

// OnRevision registers f to be called after every commit that moved a place's
// revision, before the writes of that commit are answered. f must not block
// and must not call Write.
func (s *Store) OnRevision(f func(placeID string, rev int64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onRevision = append(s.onRevision, f)
}

func (s *Store) announce(st *txState) {
	s.mu.Lock()
	fs, tell := s.onRevision, s.history
	s.mu.Unlock()
	if tell != nil {
		s.tell(tell, s.withContent(st.told, st.raised))
	}
	for _, r := range st.raised {
		for _, f := range fs {
			f(r.placeID, r.rev)
		}
	}
}

// RevisionAt is when a place's revision was committed, and its digest. ErrNotFound.
func (s *Store) RevisionAt(placeID string, rev int64) (at time.Time, digest string, err error) {
	row, err := s.q.RevisionAt(ctx, placeID, rev)
	return msTime(row.At), row.Digest, wrap(err)
}

// Revision is a place's current revision. ErrNotFound.
func (s *Store) Revision(placeID string) (rev int64, err error) {
	rev, err = s.q.Revision(ctx, placeID)
	return rev, wrap(err)
}
