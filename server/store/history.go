package store

import (
	"database/sql"

	"github.com/doorlab/doorlab/internal/history"
)

// SetHistory makes f be told, after every commit and before its writes are
// answered, which place revisions (Committed) and entry records (RecordIn) it
// holds. f must not block and must not call Write. nil = nobody.
func (s *Store) SetHistory(f func(history.Event)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history = f
}

// note remembers why the running job raises a place's revision; grantID is ""
// unless it is about one grant.
func note(tx *sql.Tx, placeID, op, grantID string) {
	st := stateOf(tx)
	st.noted = append(st.noted, history.Event{Kind: history.Committed, PlaceID: placeID, Op: op, GrantID: grantID})
}

// noteRecord remembers a record of the running job.
func noteRecord(tx *sql.Tx, r Record) {
	st := stateOf(tx)
	st.noted = append(st.noted, history.Event{Kind: history.RecordIn, RecordID: r.ID, PlaceID: r.PlaceID, DoorID: r.DoorID,
		CommandID: r.CommandID, Result: r.Result, Reason: r.Reason, GrantID: r.GrantID, Method: r.Method})
}

// stamp completes the job's notes about a raised revision; one that nobody
// noted is told without an op.
func (st *txState) stamp(r raise, digest string) {
	found := false
	for i := range st.noted {
		if e := &st.noted[i]; e.Kind == history.Committed && e.PlaceID == r.placeID {
			e.Revision, e.Digest, found = r.rev, digest, true
		}
	}
	if !found {
		st.noted = append(st.noted, history.Event{Kind: history.Committed, PlaceID: r.placeID, Revision: r.rev, Digest: digest})
	}
}
