package store

import (
	"maps"
	"slices"

	"github.com/doorlab/doorlab/internal/access"
	"github.com/doorlab/doorlab/internal/clock"
	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/history"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
)

// SetHistory registers f; nil unregisters. f is called with the content of every
// place now, and after each commit, before its callers are answered, with the
// place revisions (Committed, and Content for what they changed), the entry doors
// (Entries) and the entry records (RecordIn) that it holds. f must not block and must not write. Errors:
// the database's.
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
		doors, err := s.Doors(p.ID)
		if err != nil {
			return err
		}
		s.tell(f, append(list, entries(p.ID, doors)))
	}
	return nil
}

// entries reports a place's entry doors, in the order in which a caller gets them.
func entries(placeID string, doors []place.Door) history.Event {
	open := each.If(doors, func(d place.Door) bool { return d.Entry })
	ids := each.Of(open, func(d place.Door) string { return d.ID })
	return history.Event{Kind: history.Entries, PlaceID: placeID, Text: jsonText(ids)}
}

func (s *Store) tell(f func(history.Event), list []history.Event) {
	at, wall := s.clk.Now().UnixMilli(), clock.WallNow().UnixNano()
	for _, e := range list {
		e.At, e.WallNs = at, wall
		f(e)
	}
}

// contentEvents returns what a place's revisions after from have changed; from 0, everything plus the base.
func (s *Store) contentEvents(placeID string, from int64) (out []history.Event, err error) {
	err = s.moment(func(tx *Tx) error {
		out, err = tx.contentEvents(placeID, from)
		return err
	})
	return out, err
}

func (t *Tx) contentEvents(placeID string, from int64) (out []history.Event, err error) {
	parts, err := t.Parts(placeID)
	if err != nil {
		return nil, err
	}
	add := func(op, grantID string, rev int64, item any) {
		e := history.Event{Kind: history.Content, PlaceID: placeID, GrantID: grantID, Revision: rev, Op: op}
		if item != nil {
			e.Text = jsonText(item)
		}
		out = append(out, e)
	}
	grants, err := t.GrantsSince(placeID, from)
	if err != nil {
		return nil, err
	}
	for _, g := range grants {
		if g.LeftRev > 0 {
			add(history.ContentRemoved, g.ID, g.LeftRev, nil)
			continue
		}
		add(history.ContentGrant, g.ID, g.Rev, g.Content(t.PhoneKey(placeID)))
	}
	if parts.WindowsRev > from {
		ps, err := t.Policies(placeID, "")
		if err != nil {
			return nil, err
		}
		add(history.ContentWindows, "", parts.Revision, append([]access.Window{}, ps...))
	}
	if parts.HoursRev > from {
		p, err := t.Place(placeID)
		if err != nil {
			return nil, err
		}
		add(history.ContentHours, "", parts.Revision, p.Hours())
	}
	if from == 0 {
		add(history.ContentBase, "", parts.Revision, nil)
	}
	return out, nil
}

// addContent appends what the raised revisions changed to a commit's events. It reads in the commit's own transaction,
// so the writer waits for no reader. Errors: the database's.
func (s *Store) addContent(tx *Tx, b *batch) error {
	s.mu.Lock()
	wanted := s.history != nil
	s.mu.Unlock()
	if !wanted {
		return nil
	}
	first := map[string]int64{}
	for _, r := range b.raised {
		if have, ok := first[r.placeID]; !ok || r.rev < have {
			first[r.placeID] = r.rev
		}
	}
	for _, placeID := range slices.Sorted(maps.Keys(first)) {
		list, err := tx.contentEvents(placeID, first[placeID]-1)
		if err != nil {
			return err
		}
		b.events = append(b.events, list...)
	}
	return nil
}

// note remembers why the write raises a place's revision; grantID is "" unless it concerns one grant.
func (t *Tx) note(placeID, op, grantID string) {
	t.noted = append(t.noted, history.Event{Kind: history.Committed, PlaceID: placeID, Op: op, GrantID: grantID})
}

// noteRecord remembers a record that the write made.
func (t *Tx) noteRecord(r record.Record) { t.noted = append(t.noted, recordIn(&r)) }

func recordIn(r *record.Record) history.Event {
	return history.Event{Kind: history.RecordIn, RecordID: r.ID, PlaceID: r.PlaceID, DoorID: r.DoorID,
		CommandID: r.CommandID, Result: r.Result, Reason: r.Reason, GrantID: r.GrantID, Method: string(r.Method),
		BoardID: r.BoardID, RecordSeq: r.BoardSeq, Actor: r.Actor, Text: r.ActorLabel}
}

// stamp completes the write's notes on a revision that it raised; without a note, the revision is recorded without an
// op.
func (t *Tx) stamp(r revision, digest string) {
	found := false
	for i := range t.noted {
		if e := &t.noted[i]; e.Kind == history.Committed && e.PlaceID == r.placeID {
			e.Revision, e.Digest, found = r.rev, digest, true
		}
	}
	if !found {
		t.noted = append(t.noted, history.Event{Kind: history.Committed, PlaceID: r.placeID, Revision: r.rev, Digest: digest})
	}
}
