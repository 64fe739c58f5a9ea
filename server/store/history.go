package store

import (
	"database/sql"
	"slices"

	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/server/store/db"
)

// SetHistory makes f be told the content of every place now, and after every
// commit, before its writes are answered, which place revisions (Committed, with
// what they changed: Content) and entry records (RecordIn) it holds. f must not
// block and must not call Write. nil = nobody. Errors: the database's.
func (s *Store) SetHistory(f func(history.Event)) error {
	s.mu.Lock()
	s.history = f
	s.mu.Unlock()
	if f == nil {
		return nil
	}
	places, err := s.Places()
	if err != nil {
		return err
	}
	for _, p := range places {
		list, err := s.contentEvents(p.ID, 0)
		if err != nil {
			return err
		}
		s.tell(f, list)
	}
	return nil
}

func (s *Store) tell(f func(history.Event), list []history.Event) {
	at, wall := s.clk.Now().UnixMilli(), clock.WallNow().UnixNano()
	for _, e := range list {
		e.At, e.WallNs = at, wall
		f(e)
	}
}

// contentEvents tells what a place's revisions after from have changed; from 0
// is everything, and the base.
func (s *Store) contentEvents(placeID string, from int64) ([]history.Event, error) {
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, wrap(err)
	}
	defer func() { _ = tx.Rollback() }()
	q := db.New(tx)
	y, err := syncContent(q, placeID, from)
	if err != nil {
		return nil, err
	}
	revs, err := q.GrantRevsSince(ctx, placeID, from)
	if err != nil {
		return nil, wrap(err)
	}
	var out []history.Event
	add := func(op string, rev int64, item any) {
		e := history.Event{Kind: history.Content, PlaceID: placeID, Revision: rev, Op: op}
		if item != nil {
			e.Text = jsonText(item)
		}
		out = append(out, e)
	}
	for i, g := range y.Upsert {
		add(history.ContentGrant, revs[i], g)
		out[len(out)-1].GrantID = g.ID
	}
	if y.Windows != nil {
		add(history.ContentWindows, y.To, *y.Windows)
	}
	if y.Hours != nil {
		add(history.ContentHours, y.To, *y.Hours)
	}
	if from == 0 {
		add(history.ContentBase, y.To, nil)
	}
	return out, nil
}

// withContent puts what the raised revisions changed behind a commit's events.
func (s *Store) withContent(told []history.Event, raised []raise) []history.Event {
	first := map[string]int64{}
	for _, r := range raised {
		if have, ok := first[r.placeID]; !ok || r.rev < have {
			first[r.placeID] = r.rev
		}
	}
	out := slices.Clone(told)
	for placeID, rev := range first {
		list, err := s.contentEvents(placeID, rev-1)
		if err != nil { // told without: the judge then skips what it cannot know
			continue
		}
		out = append(out, list...)
	}
	return out
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
		CommandID: r.CommandID, Result: r.Result, Reason: r.Reason, GrantID: r.GrantID, Method: r.Method,
		BoardID: r.BoardID, RecordSeq: r.BoardSeq, Actor: r.Actor, Text: r.ActorLabel})
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
