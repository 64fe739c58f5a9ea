package store

import "github.com/doorlab/doorlab/server/record"

// settled collects the records of the commands that a batch settles. They are inserted together, one statement for
// many, before anything else in the batch can look for them and at the latest before the commit.
type settled struct {
	rows    []settledRow
	written int // of rows
}

type settledRow struct {
	record.Record
	isEvent bool // its entry.opened event is the row itself
}

var insertSettled = insertsOf("INSERT INTO entry_records (id, place_id, door_id, door_name, result, reason, method, actor, actor_label, command_id,"+
	" grant_id, source, dedupe, requested_at, occurred_at, recorded_at, note, is_event, aged_on)", 19)

// flush writes what was gathered. An error is the whole batch's.
func (s *settled) flush(t *Tx) error {
	rows := s.rows[s.written:]
	s.written = len(s.rows)
	return insertSettled.of(t, len(rows), func(to []any, i int) []any { return rows[i].args(to, t.day()) })
}

func (r *settledRow) args(to []any, aged int64) []any {
	return append(to, r.ID, r.PlaceID, orNull(r.DoorID), orNull(r.DoorName), string(r.Result), string(r.Reason), string(r.Method), r.Actor, r.ActorLabel,
		orNull(r.CommandID), orNull(r.GrantID), r.Source, orNull(r.Dedupe), r.RequestedAt.UnixMilli(), r.OccurredAt.UnixMilli(), r.RecordedAt.UnixMilli(),
		orNull(r.Note), r.isEvent, aged)
}

// orNull is text for a statement that is composed here.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// settling is the transaction that keeps the record of a command just settled. The record is always fresh: the same
// transaction wrote the outcome a moment ago, and a command gets only one.
type settling struct{ *Tx }

// InsertRecord implements record.Tx.
func (t settling) InsertRecord(r record.Record) (fresh bool, err error) {
	t.batch.settled.rows = append(t.batch.settled.rows, settledRow{Record: r})
	return true, nil
}

// InsertEvent implements record.Tx. The opening by a command that used no permit adds nothing to its record, so the
// record doubles as the event.
func (t settling) InsertEvent(e record.Event) error {
	if e.Kind != record.EntryOpened || e.PermitID != "" {
		return t.Tx.InsertEvent(e)
	}
	t.batch.settled.rows[len(t.batch.settled.rows)-1].isEvent = true
	return nil
}
