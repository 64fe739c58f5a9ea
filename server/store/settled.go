package store

import (
	"strings"

	"github.com/doorlab/doorlab/server/record"
)

// settled gathers the records of the commands that a batch settles: they go in
// together, a statement for many, before anything else of the batch can look for
// them and at the latest before the commit.
type settled struct {
	rows    []settledRow
	written int // of rows
}

type settledRow struct {
	record.Record
	isEvent bool // its entry.opened event is the row itself
}

const recordColumns = 19

// settledInsert is the statement for a number of rows.
func settledInsert(rows int) string {
	const row = "(?" + ", ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?" + ", ?)"
	return "INSERT INTO entry_records (id, place_id, door_id, door_name, result, reason, method, actor, actor_label, command_id," +
		" grant_id, source, dedupe, requested_at, occurred_at, recorded_at, note, is_event, aged_on) VALUES " + row + strings.Repeat(", "+row, rows-1)
}

// settledInserts are the statements that are kept prepared, by their number of rows, the largest first.
var settledInserts = []struct {
	rows  int
	query string
}{{16, settledInsert(16)}, {4, settledInsert(4)}, {1, settledInsert(1)}}

// flush writes what was gathered. An error is the whole batch's.
func (s *settled) flush(t *Tx) error {
	if s == nil || s.written == len(s.rows) {
		return nil
	}
	rows := s.rows[s.written:]
	s.written = len(s.rows)
	args := make([]any, 0, settledInserts[0].rows*recordColumns)
	for len(rows) > 0 {
		for _, in := range settledInserts {
			if len(rows) < in.rows {
				continue
			}
			args = args[:0]
			for i := range rows[:in.rows] {
				args = rows[i].args(args, t.day())
			}
			if _, err := t.Exec(in.query, args...); err != nil {
				return wrap(err)
			}
			rows = rows[in.rows:]
			break
		}
	}
	return nil
}

func (r *settledRow) args(to []any, aged int64) []any {
	return append(to, r.ID, r.PlaceID, orNull(r.DoorID), orNull(r.DoorName), string(r.Result), string(r.Reason), string(r.Method), r.Actor, r.ActorLabel,
		orNull(r.CommandID), orNull(r.GrantID), r.Source, orNull(r.Dedupe), r.RequestedAt.UnixMilli(), r.OccurredAt.UnixMilli(), r.RecordedAt.UnixMilli(),
		orNull(r.Note), r.isEvent, aged)
}

// orNull is text for a statement that is made here.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// settling is the transaction as the record of a command that has just been
// settled sees it. It is fresh: the outcome was written a moment ago, by the same
// transaction, and a command gets one only once.
type settling struct{ *Tx }

// InsertRecord implements record.Tx.
func (t settling) InsertRecord(r record.Record) (fresh bool, err error) {
	t.settled.rows = append(t.settled.rows, settledRow{Record: r})
	return true, nil
}

// InsertEvent implements record.Tx. The opening of a command that used no permit
// says nothing that its record doesn't.
func (t settling) InsertEvent(e record.Event) error {
	if e.Kind != record.EntryOpened || e.PermitID != "" {
		return t.Tx.InsertEvent(e)
	}
	t.settled.rows[len(t.settled.rows)-1].isEvent = true
	return nil
}
