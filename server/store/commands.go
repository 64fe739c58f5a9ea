package store

import (
	"database/sql"
	"errors"
	"time"

	"github.com/doorlab/doorlab/internal/each"
	"github.com/doorlab/doorlab/internal/vocab"
	"github.com/doorlab/doorlab/server/command"
	"github.com/doorlab/doorlab/server/fail"
	"github.com/doorlab/doorlab/server/place"
	"github.com/doorlab/doorlab/server/record"
	"github.com/doorlab/doorlab/server/store/db"
)

// Commands is the idempotency ledger: command.Ledger over the store.
type Commands struct{ s *Store }

// Commands is the store's side of server/command.
func (s *Store) Commands() Commands { return Commands{s} }

// Door implements command.Ledger.
func (c Commands) Door(doorID string) (command.Door, error) {
	d, err := c.s.Door(doorID)
	if errors.Is(err, fail.ErrNotFound) {
		return command.Door{}, command.ErrNoDoor
	}
	if err != nil {
		return command.Door{}, err
	}
	p, err := c.s.Place(d.PlaceID)
	return command.Door{DoorID: d.ID, PlaceID: d.PlaceID, BoardID: d.BoardID, Channel: d.Channel, Test: p.Kind == place.Test}, err
}

// Claim implements command.Ledger: the key is taken by the insert itself, so one
// key has one command, see CMD-5.
func (c Commands) Claim(in command.Intent, keptSince time.Time) (prior *command.Prior, err error) {
	claim := db.InsertCommandParams{ID: in.CommandID, PlaceID: in.PlaceID, Key: text(in.Key), Meaning: in.Meaning,
		DoorID: in.DoorID, BoardID: in.BoardID, Command: in.Command, Minutes: int64(in.Minutes), Reason: in.Reason, Method: string(in.Method),
		Actor: in.ActorID, ActorLabel: in.ActorLabel, GrantID: text(in.GrantID), EntryReason: string(in.EntryReason),
		RequestedAt: in.RequestedAt.UnixMilli(), AgedAt: in.AgedAt.UnixMilli(),
		Status: int64(in.Status), Body: in.Body}
	err = c.s.writeTogether(func(tx *Tx) error {
		n, err := tx.q.InsertCommand(ctx, claim) // [CMD-5]
		if err != nil {
			return err
		}
		if n == 1 {
			tx.running++
			return nil
		}
		old, err := priorOf(tx.q.CommandByKey(ctx, in.PlaceID, text(in.Key)))
		if err != nil {
			return err
		}
		if !old.Intent.AgedAt.After(keptSince) { // expired
			if err := tx.q.ForgetKey(ctx, old.Intent.CommandID); err != nil {
				return err
			}
			tx.running++
			_, err = tx.q.InsertCommand(ctx, claim)
			return err
		}
		prior = &old
		return nil
	})
	if err != nil {
		return nil, err
	}
	if prior != nil && prior.Settled {
		c.s.answered.Put(ledgerKey{in.PlaceID, in.Key}, answered{prior.Meaning, prior.Intent.AgedAt, prior.Answer})
	}
	return prior, nil
}

// ledgerKey is a command's key at one place.
type ledgerKey struct{ placeID, key string }

// answered is what is remembered of a settled command. Only committed answers are, and those never change, so they stay
// valid until the key expires.
type answered struct {
	meaning string
	agedAt  time.Time
	answer  command.Answer
}

// Answered implements command.Ledger.
func (c Commands) Answered(placeID, key string, keptSince time.Time) (meaning string, a command.Answer, ok bool) {
	was, ok := c.s.answered.Get(ledgerKey{placeID, key})
	if !ok || !was.agedAt.After(keptSince) { // [CMD-5]
		return "", command.Answer{}, false
	}
	return was.meaning, was.answer, true
}

// priorOf reads an intent and, if it is settled, its answer.
func priorOf(r db.Command, err error) (command.Prior, error) {
	if err != nil {
		return command.Prior{}, wrap(err)
	}
	in := command.Intent{CommandID: r.ID, Meaning: r.Meaning, BoardID: r.BoardID, RequestedAt: msTime(r.RequestedAt), AgedAt: msTime(r.AgedAt), Status: int(r.Status), Body: r.Body,
		Order: command.Order{PlaceID: r.PlaceID, Key: r.Key.String, DoorID: r.DoorID, Command: r.Command, Minutes: int(r.Minutes), Reason: r.Reason, Method: vocab.Method(r.Method),
			ActorID: r.Actor, ActorLabel: r.ActorLabel, GrantID: r.GrantID.String, EntryReason: vocab.Reason(r.EntryReason)}}
	p := command.Prior{Meaning: in.Meaning, Settled: r.Outcome.Valid, Intent: in}
	if p.Settled {
		p.Answer = answerOf(command.Settlement{Intent: in, Outcome: vocab.Outcome(r.Outcome.String), DeviceCode: r.DeviceCode.String,
			ReportedAt: fromNull(r.ReportedAt), Status: in.Status, Body: in.Body})
	}
	return p, nil
}

// answerOf is what a settled command answers from then on.
func answerOf(st command.Settlement) command.Answer {
	return command.Answer{Status: st.Status, Body: st.Body, Result: command.Result{CommandID: st.Intent.CommandID, DoorID: st.Intent.DoorID, Command: st.Intent.Command,
		Outcome: st.Outcome, DeviceCode: st.DeviceCode, RequestedAt: st.Intent.RequestedAt, ReportedAt: st.ReportedAt}}
}

// PressOf is who pressed when a command without a key was given, see command.Order. Error: fail.ErrNotFound.
func (s *Store) PressOf(commandID string) (string, error) {
	m, err := s.q.CommandMeaning(ctx, commandID)
	return m, wrap(err)
}

// Withdraw implements command.Ledger.
func (c Commands) Withdraw(commandID string) error {
	return c.s.writeTogether(func(tx *Tx) error {
		tx.running--
		return tx.q.WithdrawCommand(ctx, commandID)
	})
}

// Settle implements command.Ledger: outcomes, answers and entry records are one transaction. Repeating it, after a
// commit whose result was unknown, does nothing.
func (c Commands) Settle(list ...command.Settlement) error {
	settled := list[:0:0]
	err := c.s.writeTogether(func(tx *Tx) error {
		for _, st := range list {
			fresh, err := tx.settle(st)
			if err != nil {
				return err
			}
			if fresh {
				settled = append(settled, st)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, st := range settled {
		if in := &st.Intent; in.Key != "" {
			c.s.answered.Put(ledgerKey{in.PlaceID, in.Key}, answered{in.Meaning, in.AgedAt, answerOf(st)})
		}
	}
	return nil
}

// settle writes the end of a command, unless it has one.
func (t *Tx) settle(st command.Settlement) (fresh bool, err error) {
	in := st.Intent
	n, err := t.q.SettleCommand(ctx, db.SettleCommandParams{Outcome: sql.NullString{String: string(st.Outcome), Valid: true}, DeviceCode: text(st.DeviceCode),
		ReportedAt: toNull(st.ReportedAt), Status: int64(st.Status), Body: st.Body, ID: in.CommandID})
	if err != nil || n == 0 {
		return false, err
	}
	t.running--
	return record.Keep(settling{t}, record.Record{PlaceID: in.PlaceID, DoorID: in.DoorID, Result: command.RecordResult(in.Command, st.Outcome),
		Reason: in.EntryReason, Method: in.Method, Actor: in.ActorID, ActorLabel: in.ActorLabel, CommandID: in.CommandID,
		GrantID: in.GrantID, RequestedAt: in.RequestedAt, OccurredAt: st.ReportedAt, Note: in.Reason}, t.Now)
}

// Late implements command.Ledger. It writes only if the command is a 504 that is not settled yet.
func (c Commands) Late(r command.LateReport) (command.Late, error) {
	was, err := none(c.s.q.CommandOutcome(ctx, r.CommandID))
	if err != nil {
		return command.LateUnknown, err
	}
	verdict, settleAs := r.Verdict(command.Past{BoardID: was.BoardID, DoorID: was.DoorID, Channel: int(was.Channel), Command: was.Command, Outcome: vocab.Outcome(was.Outcome.String)})
	if verdict != command.LateSettled {
		return verdict, nil
	}
	settled := false
	err = c.s.writeThrough(func(tx *Tx) (err error) {
		settled, err = record.Settle(tx, r.CommandID, settleAs, r.ReportedAt, tx.Now)
		return err
	})
	if err != nil || !settled { // settled before, or the record has been deleted
		return command.LateKnown, err
	}
	return command.LateSettled, nil
}

// CountReplay implements command.Ledger.
func (c Commands) CountReplay(commandID string) { c.s.replays.add(commandID) }

// Unsettled implements command.Ledger.
func (c Commands) Unsettled() ([]command.Intent, error) {
	ps, err := converted(priorOf)(c.s.q.UnsettledCommands(ctx))
	out := each.Of(ps, func(p command.Prior) command.Intent { return p.Intent })
	return out, err
}

// Forget implements command.Ledger.
func (c Commands) Forget(before time.Time, limit int) (n int, err error) {
	return c.s.forget(func(tx *Tx) (int64, error) { return tx.q.ForgetCommands(ctx, before.UnixMilli(), int64(limit)) })
}
