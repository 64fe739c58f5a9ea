package store

import (
	"database/sql"
	"errors"
	"time"

	"github.com/doorlab/doorlab/server/device"
	"github.com/doorlab/doorlab/server/store/db"
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
		q := db.New(tx)
		if in.Key != "" {
			old, err := priorOf(q.CommandByKey(ctx, in.PlaceID, text(in.Key)))
			switch {
			case errors.Is(err, ErrNotFound):
			case err != nil:
				return err
			case old.Intent.RequestedAt.After(keptSince):
				prior = &old
				if old.Settled && old.Meaning == in.Meaning {
					return CountReplay(tx, old.Intent.CommandID)
				}
				return nil
			default: // kept long enough
				if err := q.ForgetKey(ctx, old.Intent.CommandID); err != nil {
					return err
				}
			}
		}
		return q.InsertCommand(ctx, db.InsertCommandParams{ID: in.CommandID, PlaceID: in.PlaceID, Key: text(in.Key), Meaning: in.Meaning,
			DoorID: in.DoorID, BoardID: in.BoardID, Command: in.Command, Minutes: int64(in.Minutes), Reason: in.Reason, Method: in.Method,
			Actor: in.ActorID, ActorLabel: in.ActorLabel, GrantID: text(in.GrantID), EntryReason: in.EntryReason,
			RequestedAt: in.RequestedAt.UnixMilli(), Status: int64(in.Status), Body: in.Body})
	})
	if err != nil {
		return nil, err
	}
	return prior, nil
}

// priorOf reads an intent and, when it is settled, its answer.
func priorOf(r db.Command, err error) (device.Prior, error) {
	if err != nil {
		return device.Prior{}, wrap(err)
	}
	in := device.Intent{CommandID: r.ID, PlaceID: r.PlaceID, Key: r.Key.String, Meaning: r.Meaning, DoorID: r.DoorID, BoardID: r.BoardID,
		Command: r.Command, Minutes: int(r.Minutes), Reason: r.Reason, Method: r.Method, ActorID: r.Actor, ActorLabel: r.ActorLabel,
		GrantID: r.GrantID.String, EntryReason: r.EntryReason, RequestedAt: msTime(r.RequestedAt), Status: int(r.Status), Body: r.Body}
	p := device.Prior{Meaning: in.Meaning, Settled: r.Outcome.Valid, Intent: in}
	if p.Settled {
		p.Answer = device.Answer{Status: in.Status, Body: in.Body, Result: device.Result{CommandID: in.CommandID, DoorID: in.DoorID, Command: in.Command,
			Outcome: r.Outcome.String, DeviceCode: r.DeviceCode.String, RequestedAt: in.RequestedAt, ReportedAt: fromNull(r.ReportedAt)}}
	}
	return p, nil
}

// Settle implements device.Ledger: outcome, answer and entry record are one
// transaction. Settling again, after a commit whose result was not known, does nothing.
func (c Commands) Settle(st device.Settlement) error {
	in := st.Intent
	return c.s.Write(func(tx *sql.Tx) error {
		n, err := db.New(tx).SettleCommand(ctx, db.SettleCommandParams{Outcome: sql.NullString{String: st.Outcome, Valid: true}, DeviceCode: text(st.DeviceCode),
			ReportedAt: toNull(st.ReportedAt), Status: int64(st.Status), Body: st.Body, ID: in.CommandID})
		if err != nil || n == 0 {
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
	was, err := c.s.q.CommandOutcome(ctx, r.CommandID)
	switch outcome, err := was.Outcome.String, wrap(err); {
	case errors.Is(err, ErrNotFound):
		return device.LateUnknown, nil
	case err != nil:
		return device.LateUnknown, err
	case was.BoardID != r.BoardID:
		return device.LateForeign, nil
	case outcome == device.Offline || outcome == "": // never sent, or not sent yet
		return device.LateUnknown, nil
	case outcome != device.NoResponse:
		return device.LateKnown, nil
	}
	as := device.RecordResult(was.Command, device.Reported)
	if r.Refused {
		as = Refused
	}
	fresh := false
	err = c.s.Write(func(tx *sql.Tx) error {
		settled, err := db.New(tx).RecordSettledAs(ctx, text(r.CommandID))
		if err != nil {
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
	rows, err := c.s.q.UnsettledCommands(ctx)
	ps, err := each(priorOf, rows, err)
	out := make([]device.Intent, 0, len(ps))
	for _, p := range ps {
		out = append(out, p.Intent)
	}
	return out, err
}

// Forget implements device.Ledger. Ids sort by time, so it looks at the oldest only.
func (c Commands) Forget(before time.Time, limit int) (n int, err error) {
	err = c.s.Write(func(tx *sql.Tx) error {
		gone, err := db.New(tx).ForgetCommands(ctx, int64(limit), before.UnixMilli())
		n = int(gone)
		return err
	})
	return n, err
}
