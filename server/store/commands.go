package store

import (
	"database/sql"
	"errors"
	"time"

	"github.com/doorlab/doorlab/server/device"
)

// Commands is the idempotency ledger: device.Ledger over the store.
type Commands struct{ s *Store }

var _ device.Ledger = Commands{}

// Commands is the store's side of server/device.
func (s *Store) Commands() Commands { return Commands{s} }

// Door implements device.Ledger.
func (c Commands) Door(doorID string) (device.Door, error) {
	d, err := c.s.Door(doorID)
	if errors.Is(err, ErrNotFound) {
		return device.Door{}, device.ErrNoDoor
	}
	return device.Door{DoorID: d.ID, PlaceID: d.PlaceID, BoardID: d.BoardID, Channel: d.Channel}, err
}

// Claim implements device.Ledger: look-up and insert are one transaction, so
// one key has one command [CMD-5].
func (c Commands) Claim(in device.Intent, keptSince time.Time) (prior *device.Prior, err error) {
	err = c.s.Write(func(tx *sql.Tx) error {
		if in.Key != "" {
			old, err := priorOf(tx, in)
			switch {
			case errors.Is(err, ErrNotFound):
			case err != nil:
				return err
			case old.Intent.RequestedAt.After(keptSince):
				prior = old
				if old.Settled && old.Meaning == in.Meaning {
					return CountReplay(tx, old.Intent.CommandID)
				}
				return nil
			default: // kept long enough
				if _, err := tx.Exec("UPDATE commands SET key = NULL WHERE id = ?", old.Intent.CommandID); err != nil {
					return err
				}
			}
		}
		_, err := tx.Exec(`INSERT INTO commands (id, place_id, key, meaning, door_id, board_id, command, minutes, reason, method,
				actor, actor_label, grant_id, entry_reason, requested_at, status, body)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			in.CommandID, in.PlaceID, textOrNull(in.Key), in.Meaning, in.DoorID, in.BoardID, in.Command, in.Minutes, in.Reason, in.Method,
			in.ActorID, in.ActorLabel, textOrNull(in.GrantID), in.EntryReason, in.RequestedAt.UnixMilli(), in.Status, in.Body)
		return err
	})
	if err != nil {
		return nil, err
	}
	return prior, nil
}

const commandColumns = `id, place_id, COALESCE(key, ''), meaning, door_id, board_id, command, minutes, reason, method,
	actor, actor_label, COALESCE(grant_id, ''), entry_reason, requested_at, status, body,
	COALESCE(outcome, ''), COALESCE(device_code, ''), reported_at`

// scanCommand reads an intent and, when it is settled, its answer.
func scanCommand(row interface{ Scan(...any) error }) (p device.Prior, err error) {
	in := &p.Intent
	var requested int64
	var reported sql.NullInt64
	var outcome, code string
	err = row.Scan(&in.CommandID, &in.PlaceID, &in.Key, &in.Meaning, &in.DoorID, &in.BoardID, &in.Command, &in.Minutes, &in.Reason, &in.Method,
		&in.ActorID, &in.ActorLabel, &in.GrantID, &in.EntryReason, &requested, &in.Status, &in.Body, &outcome, &code, &reported)
	if err != nil {
		return p, wrap(err)
	}
	in.RequestedAt = msTime(requested)
	p.Meaning, p.Settled = in.Meaning, outcome != ""
	if p.Settled {
		p.Answer = device.Answer{Status: in.Status, Body: in.Body, Result: device.Result{CommandID: in.CommandID, DoorID: in.DoorID,
			Command: in.Command, Outcome: outcome, DeviceCode: code, RequestedAt: in.RequestedAt, ReportedAt: fromNull(reported)}}
	}
	return p, nil
}

func priorOf(tx *sql.Tx, in device.Intent) (*device.Prior, error) {
	p, err := scanCommand(tx.QueryRow("SELECT "+commandColumns+" FROM commands WHERE place_id = ? AND key = ?", in.PlaceID, in.Key))
	return &p, err
}

// Settle implements device.Ledger: outcome, answer and entry record are one
// transaction. Settling again, after a commit whose result was not known, does nothing.
func (c Commands) Settle(st device.Settlement) error {
	in := st.Intent
	return c.s.Write(func(tx *sql.Tx) error {
		res, err := tx.Exec("UPDATE commands SET outcome = ?, device_code = ?, reported_at = ?, status = ?, body = ? WHERE id = ? AND outcome IS NULL",
			st.Outcome, textOrNull(st.DeviceCode), toNull(st.ReportedAt), st.Status, st.Body, in.CommandID)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return err
		}
		_, err = InsertRecord(tx, Record{PlaceID: in.PlaceID, DoorID: in.DoorID, Result: device.RecordResult(in.Command, st.Outcome),
			Reason: in.EntryReason, Method: in.Method, Actor: in.ActorID, ActorLabel: in.ActorLabel, CommandID: in.CommandID,
			GrantID: in.GrantID, RequestedAt: in.RequestedAt, OccurredAt: st.ReportedAt})
		return err
	})
}

// Late implements device.Ledger. Only a 504 that is not settled yet costs a write.
func (c Commands) Late(r device.LateReport) (device.Late, error) {
	var board, command, outcome string
	err := c.s.read.QueryRow("SELECT board_id, command, COALESCE(outcome, '') FROM commands WHERE id = ?", r.CommandID).Scan(&board, &command, &outcome)
	switch err := wrap(err); {
	case errors.Is(err, ErrNotFound):
		return device.LateUnknown, nil
	case err != nil:
		return device.LateUnknown, err
	case board != r.BoardID:
		return device.LateForeign, nil
	case outcome == device.Offline || outcome == "": // never sent, or not sent yet
		return device.LateUnknown, nil
	case outcome != device.NoResponse:
		return device.LateKnown, nil
	}
	as := device.RecordResult(command, device.Reported)
	if r.Refused {
		as = Refused
	}
	fresh := false
	err = c.s.Write(func(tx *sql.Tx) error {
		var settled sql.NullString
		if err := tx.QueryRow("SELECT settled_as FROM entry_records WHERE command_id = ?", r.CommandID).Scan(&settled); err != nil {
			return err
		}
		if fresh = !settled.Valid; !fresh {
			return nil
		}
		return SettleRecord(tx, r.CommandID, as, r.ReportedAt)
	})
	if errors.Is(err, ErrNotFound) { // the record is gone already
		return device.LateKnown, nil
	}
	if fresh && err == nil {
		return device.LateSettled, nil
	}
	return device.LateKnown, err
}

// CountReplay implements device.Ledger.
func (c Commands) CountReplay(commandID string) error {
	return c.s.Write(func(tx *sql.Tx) error { return CountReplay(tx, commandID) })
}

// Unsettled implements device.Ledger.
func (c Commands) Unsettled() ([]device.Intent, error) {
	ps, err := collect(c.s.read, scanCommand, "SELECT "+commandColumns+" FROM commands WHERE outcome IS NULL ORDER BY id")
	out := make([]device.Intent, 0, len(ps))
	for _, p := range ps {
		out = append(out, p.Intent)
	}
	return out, err
}

// Forget implements device.Ledger. Ids sort by time, so it looks at the oldest only.
func (c Commands) Forget(before time.Time, limit int) (n int, err error) {
	err = c.s.Write(func(tx *sql.Tx) error {
		res, err := tx.Exec(`DELETE FROM commands WHERE id IN (SELECT id FROM commands ORDER BY id LIMIT ?) AND requested_at < ? AND outcome IS NOT NULL`,
			limit, before.UnixMilli())
		if err != nil {
			return err
		}
		gone, err := res.RowsAffected()
		n = int(gone)
		return err
	})
	return n, err
}
